# SPDX-License-Identifier: BSD-3-Clause
"""The documented example of the board, as its text says, with a guest of which nothing is the harness's."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from analysis.attribute.records import read_records
from common.paths import REPOSITORY
from harness.build import ext2, kernel
from harness.build.ext2 import Entry
from harness.run.engines.gem5_binary import CONFIGS, find
from harness.spec.machine import load

pytestmark = pytest.mark.gem5

LINES = 1021
# Its pages are there before the checkpoint, its lines after it in no cache.
GUEST = r"""
#include <unistd.h>
#include "roi.h"

static volatile struct { _Alignas(64) unsigned char bytes[64]; } lines[LINES];

int main(void)
{
    for (unsigned i = 0; i < LINES; i++)
        lines[i].bytes[0] = 1;
    ROI_GEM5(ROI_GEM5_CHECKPOINT, 0ul, 0ul, 0ul);
    for (unsigned i = 0; i < LINES; i++)
        lines[i].bytes[1] = 1;
    ROI_GEM5(ROI_GEM5_EXIT, 0ul, 0ul, 0ul);
    for (;;)
        pause();
}
"""
_IDENTITY = ext2.Identity(1704067200, "6d6f7362-656e-4368-8000-000000000049", "example")


def disk(folder: Path) -> Path:
    """A file system with one program, which is its init."""
    source, program, image = folder / "guest.c", folder / "guest", folder / "root.ext2"
    source.write_text(GUEST)
    command: list[str | Path] = [
        "gcc",
        "-std=gnu17",
        "-O2",
        "-static",
        f"-DLINES={LINES}",
        "-I",
        REPOSITORY / "disk-images/guest",
        "-o",
        program,
        source,
    ]
    subprocess.run(command, check=True)
    tree = {
        PurePosixPath("dev"): Entry.folder(),
        PurePosixPath("dev/console"): Entry.character_device(5, 1),
        PurePosixPath("guest"): Entry.file(program, 0o755),
    }
    ext2.write(tree, image, _IDENTITY, slack_mib=1)
    return image


def test_each_line_that_the_guest_writes_is_missed_once(tmp_path: Path) -> None:
    machine = tmp_path / "machine.conf"
    machine.write_text(load("small-2x2", {"node_mib": "256"}, "gem5").flat("gem5"))
    vmlinux = kernel.build("linux-6.1", ()).vmlinux
    given: list[str | Path] = ["--machine", machine, "--kernel", vmlinux, "--disk", disk(tmp_path), "--init", "/guest"]
    for action, end in (("boot", "checkpoint"), ("measure", "m5_exit instruction encountered")):
        command: list[str | Path] = [
            find().binary,
            f"--outdir={tmp_path / action}",
            CONFIGS / "examples/own_script.py",
            *given,
            "--cores=1",
            action,
            tmp_path / "cpt",
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert f"guest time: {end}" in done.stdout
    lines = read_records(tmp_path / "measure/records.bin").tables["lines"]
    once = (lines["kernel"] == 0) & (lines["writers"] == 1) & (lines["l1_misses"] == 1)
    once &= lines["dram_local"] + lines["dram_remote"] == 1
    numbers = set((lines["vaddr"][once] // 64).tolist())
    # The array is as many lines that follow each other; program and stack have a few more.
    assert any(all(first + i in numbers for i in range(LINES)) for first in numbers)

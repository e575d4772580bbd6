# SPDX-License-Identifier: BSD-3-Clause
"""roi.h, the roi command and init, compiled as for the image and run on the host."""

import json
import subprocess
import zlib
from pathlib import Path

import pytest

from common.paths import REPOSITORY
from harness.build import guest_programs
from harness.run.console import parse_line

_GUEST = REPOSITORY / "disk-images/guest"


def _compile(source: Path, program: Path) -> Path:
    subprocess.run(guest_programs.compile_command(source, program), check=True)
    return program


@pytest.fixture(scope="module")
def roi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _compile(_GUEST / "roi.c", tmp_path_factory.mktemp("roi") / "roi")


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("identifier", [1, 2, 3])
def test_each_mark_is_there_once(roi: Path, identifier: int) -> None:
    assert roi.read_bytes().count(bytes([0x0F, 0x1F, 0x80, identifier, 0, 0xED, 0x5E])) == 1


@pytest.mark.parametrize("mark", ["warm", "begin", "end"])
def test_marks_are_harmless_and_silent(roi: Path, mark: str) -> None:
    done = _run(roi, mark)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_result_is_a_line_that_the_harness_reads(roi: Path) -> None:
    event = {"units": 23, "unit": "operations", "per_core": [11, 12], "checked": True, "detail": "fine"}
    done = _run(roi, "result", json.dumps(event))
    assert done.returncode == 0
    assert parse_line(done.stdout.strip("\n")) == {"event": "result", **event}


@pytest.mark.parametrize("arguments", [(), ("start",), ("result",), ("result", "[]"), ("result", "{\n}"), ("warm", "begin")])
def test_wrong_use(roi: Path, arguments: tuple[str, ...]) -> None:
    done = _run(roi, *arguments)
    assert done.returncode == 2
    assert "roi" in done.stderr
    assert done.stdout == ""


def test_results_and_checksums_from_c(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        r"""
#define _GNU_SOURCE
#include "roi.h"
int main(void)
{
    uint64_t units[] = {1, 2, 18446744073709551615ull}, cycles[] = {10, 20, 30};
    struct roi_result result = {.units = 3, .unit = "connections", .cores = 3, .per_core = units, .cycles_per_core = cycles,
                                    .checked = false, .detail = "said \"no\"\nand\\left"};

    printf("%08x\n", (unsigned)roi_crc32("123456789", 9));
    printf("%d\n", roi_cycles() < roi_cycles());
    return !roi_result(&result);
}
"""
    )
    done = _run(_compile(source, tmp_path / "program"))
    crc, ordered, _, line = done.stdout.splitlines()
    assert int(crc, 16) == zlib.crc32(b"123456789")
    assert ordered == "1"
    assert parse_line(line) == {
        "event": "result",
        "units": 3,
        "unit": "connections",
        "per_core": [1, 2, 2**64 - 1],
        "cycles_per_core": [10, 20, 30],
        "checked": False,
        "detail": "said  no  and left",
    }


def test_init_runs_as_process_1_only(tmp_path: Path) -> None:
    done = _run(_compile(_GUEST / "init.c", tmp_path / "init"))
    assert done.returncode == 2
    assert "process 1" in done.stderr

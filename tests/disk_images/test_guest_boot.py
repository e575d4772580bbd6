# SPDX-License-Identifier: BSD-3-Clause
"""The real kernel and image, booted: what init says for a job that works and for those that cannot."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.build import image, kernel
from harness.build.fast_engine import build as build_engine
from harness.run.console import parse_line
from harness.spec import workload
from harness.spec.kernel import load_recipe

pytestmark = pytest.mark.guest

Boot = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    """Boot 4 processors on 2 nodes with a job (or other words on the command line); returns the events that init reported."""
    built, disks, engine = kernel.build("linux-6.1"), image.build(workload.load("micro")), build_engine()
    folder = tmp_path_factory.mktemp("boot")

    def run(words: str, *, boot_disk_at: int = 0) -> list[dict[str, Any]]:
        console = folder / "console.log"
        console.unlink(missing_ok=True)
        command: list[str | Path] = [
            engine.binary, "-L", "/usr/share/qemu", "-L", "/usr/share/seabios", "-nodefaults", "-display", "none", "-no-reboot",
            "-machine", "pc", "-accel", "tcg,thread=single", "-cpu", "phenom", "-smp", "4,sockets=2,cores=2",
            "-m", "512", "-object", "memory-backend-ram,id=m0,size=256M", "-object", "memory-backend-ram,id=m1,size=256M",
            "-numa", "node,nodeid=0,memdev=m0,cpus=0-1", "-numa", "node,nodeid=1,memdev=m1,cpus=2-3",
            "-serial", f"file:{console}", "-kernel", built.bzimage,
            "-drive", f"file={disks.boot},format=raw,if=ide,index={boot_disk_at},snapshot=on",
            "-drive", f"file={disks.root},format=raw,if=ide,index={1 - boot_disk_at},snapshot=on",
            "-append",
            f"root={load_recipe('linux-6.1').root} ro rootfstype=ext2 console=ttyS0,115200 nokaslr tsc=reliable "
            "no_timer_check idle=halt panic=-1 "
            f"lpj=9600000 init=/mosbench/init {words}",
        ]  # fmt: skip
        subprocess.run(command, check=True, timeout=240)
        said = console.read_text()  # errors="strict": a byte that is no UTF-8 would be a torn console
        events = [event for line in said.splitlines() if (event := parse_line(line)) is not None]
        assert events, f"the guest reported nothing; its console ends with: {said[-2000:]}"
        return events

    return run


def test_a_job_that_works(boot: Boot) -> None:
    events = boot("mosbench.job=micro:open-close:between=0,iterations=23,warmup=3,fault=none")
    assert [event["event"] for event in events if event["event"] != "roi"] == ["boot", "start", "result", "exit"]
    first, start = events[:2]
    release = kernel.build("linux-6.1").release
    distances = [[10, 20], [20, 10]]  # what the firmware says without a table of distances
    assert first == {"event": "boot", "kernel": release, "cpus": 4, "nodes": 2, "distances": distances}
    assert start == {"event": "start", "workload": "micro", "variant": "open-close"}
    assert events[-1] == {"event": "exit", "status": 0}
    result = events[-2]
    assert result["units"] == sum(result["per_core"]) == 4 * 23


def test_the_boot_disk_is_known_by_its_identity(boot: Boot) -> None:
    """This kernel names disks in the order in which it finds them, which no place of theirs decides."""
    events = boot("mosbench.job=micro:open-close:between=0,iterations=7,warmup=3,fault=none", boot_disk_at=1)
    assert events[-1] == {"event": "exit", "status": 0}


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("mosbench.job=no-such:variant:", 127, "no workload no-such"),
        ("", 125, "no mosbench.job"),
        ("mosbench.job=micro", 125, "not of the form"),
        ("mosbench.job=../etc:x:", 125, "not of the form"),
        ("mosbench.job=micro:open-close:iterations", 125, "iterations is not of the form key=value"),
        ("mosbench.job=readfile", 125, "readfile"),
    ],
)
def test_a_job_that_cannot_run_ends_with_a_sentence(boot: Boot, words: str, status: int, said: str) -> None:
    *_, last = boot(words)
    assert last["event"] == "exit"
    assert last["status"] == status
    assert said in last["error"]


def test_a_job_that_fails(boot: Boot) -> None:
    *_, last = boot("mosbench.job=micro:open-close:between=0,iterations=1,warmup=1,fault=fail")
    assert last["status"] == 3
    assert "exited with status 3" in last["error"]

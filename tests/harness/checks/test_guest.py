# SPDX-License-Identifier: BSD-3-Clause
"""CPU seconds at events of a console, from a process that burns a known amount between them."""

import sys
from pathlib import Path

import pytest

from common.outcome import Failure, Outcome
from harness.checks.bench.guest import measure
from harness.run.console import format_line

RESULT = {
    "event": "result",
    "units": 10,
    "unit": "operations",
    "per_core": [10],
    "cycles_per_core": [1],
    "checked": True,
    "detail": "",
}


def guest(folder: Path, burn: float, last: str) -> list[str]:
    """A program that reports its marks around a loop of ``burn`` CPU seconds."""
    begin, end, result, exited = (
        format_line(event)
        for event in (
            {"event": "roi", "mark": "begin"},
            {"event": "roi", "mark": "end"},
            RESULT,
            {"event": "exit", "status": 0},
        )
    )
    program = f"""
import time
def say(*lines):
    with open({str(folder / "console.log")!r}, "a") as out:
        out.write("".join(line + "\\n" for line in lines))
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
say({begin!r})
burn({burn})
say({end!r})
burn(0.1)
say({result!r}, {exited!r})
{last}
"""
    return [sys.executable, "-c", program]


def test_cpu_seconds_of_a_region(tmp_path: Path) -> None:
    used = measure("test", guest(tmp_path, 0.4, ""), tmp_path)
    assert used.region == pytest.approx(0.4, abs=0.05)
    assert used.region_per_unit == pytest.approx(0.04, abs=0.005)
    assert used.cpu_total >= used.cpu["end"]
    assert used.peak_bytes > 1 << 20


def test_an_emulator_that_fails(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="ended with 3") as caught:
        measure("test", guest(tmp_path, 0.0, "raise SystemExit(3)"), tmp_path)
    assert caught.value.outcome is Outcome.ENGINE_CRASH


def test_an_emulator_that_does_not_end(tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        measure("test", guest(tmp_path, 0.0, "time.sleep(600)"), tmp_path, limit=1.0)
    assert caught.value.outcome is Outcome.TIMEOUT

# SPDX-License-Identifier: BSD-3-Clause
"""Watching an engine's process: every way in which a guest can end, provoked with a fake one."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_runs import HERE, LIMITS, gone

from common.outcome import Failure, Outcome
from common.progress import Step
from harness.run import guest_process
from harness.run.guest_process import Limits, supervise


def run(mode: str, folder: Path, limits: Limits = LIMITS) -> None:
    supervise([sys.executable, str(HERE / "fake_guest.py"), mode], folder, limits, Step("test"))


def test_a_good_guest(tmp_path: Path) -> None:
    result = supervise([sys.executable, str(HERE / "fake_guest.py"), "ok"], tmp_path, LIMITS, Step("test"))
    assert result.result["units"] == 2000
    assert result.event("boot")["cpus"] == 2


@pytest.mark.parametrize(
    ("mode", "outcome", "said"),
    [
        ("panic", Outcome.GUEST_PANIC, "Attempted to kill init"),
        ("torn", Outcome.APPLICATION_FAILED, "Line 4 of .* is a damaged report"),
        ("wrong", Outcome.WRONG_RESULT, "1999 of 2000"),
        ("failed", Outcome.APPLICATION_FAILED, "status 3"),
        ("no_result", Outcome.APPLICATION_FAILED, "0 results"),
        ("two_results", Outcome.APPLICATION_FAILED, "2 results"),
        ("odd_result", Outcome.APPLICATION_FAILED, "wrong type"),
        ("cut_off", Outcome.APPLICATION_FAILED, "ended before"),
        ("crash", Outcome.ENGINE_CRASH, "tag == line"),
        ("segv", Outcome.ENGINE_CRASH, "SIGSEGV"),
        ("no_memory", Outcome.OUT_OF_MEMORY, "Cannot allocate memory"),
        ("no_room", Outcome.DISK_FULL, "file system"),
    ],
)
def test_a_guest_that_ends_badly(mode: str, outcome: Outcome, said: str, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=said) as caught:
        run(mode, tmp_path)
    assert caught.value.outcome is outcome
    assert caught.value.cure


@pytest.mark.parametrize(
    ("mode", "limits", "outcome", "said"),
    [
        ("hang", replace(LIMITS, boot_silence=0.5), Outcome.BOOT_HANG, "Bringing up secondary CPUs"),
        ("slow", replace(LIMITS, boot_silence=0.5, run=1.5), Outcome.TIMEOUT, "still at it"),
        ("linger", replace(LIMITS, exit=0.5), Outcome.TIMEOUT, "did not end"),
    ],
)
def test_a_guest_that_does_not_end(mode: str, limits: Limits, outcome: Outcome, said: str, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=said) as caught:
        run(mode, tmp_path, limits)
    assert caught.value.outcome is outcome
    assert gone(int((tmp_path / "guest.pid").read_text()))


def test_a_guest_that_panics_and_stays_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_process, "_PANIC_SECONDS", 0.3)
    with pytest.raises(Failure, match="Attempted to kill init") as caught:
        run("panic_and_stay", tmp_path)
    assert caught.value.outcome is Outcome.GUEST_PANIC
    assert gone(int((tmp_path / "guest.pid").read_text()))


def test_a_disk_that_fills_up_is_noticed_while_the_guest_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = os.statvfs(tmp_path)
    monkeypatch.setattr(guest_process, "_DISK_RESERVE", room.f_bavail * room.f_frsize + (1 << 40))
    with pytest.raises(Failure) as caught:
        run("hang", tmp_path)
    assert caught.value.outcome is Outcome.DISK_FULL


def test_an_interrupt_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(folder: Path) -> None:
        if (folder / "guest.pid").exists() and (folder / "guest.pid").read_text():
            raise KeyboardInterrupt

    monkeypatch.setattr(guest_process, "_check_disk", interrupt)
    with pytest.raises(Failure) as caught:
        run("hang", tmp_path)
    assert caught.value.outcome is Outcome.INTERRUPTED
    assert gone(int((tmp_path / "guest.pid").read_text()))


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        supervise([str(tmp_path / "no-such-engine")], tmp_path, LIMITS, Step("test"))
    assert caught.value.outcome is Outcome.ENGINE_CRASH
    assert "no-such-engine" in caught.value.what


def test_the_tests_own_helper_works() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        assert not gone(process.pid, 0.1)
        process.kill()
        assert gone(process.pid)

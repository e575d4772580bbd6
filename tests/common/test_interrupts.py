# SPDX-License-Identifier: BSD-3-Clause
"""Signals that are held: no lock of a library is lost to one, and none is lost itself."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from common import interrupts


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    def terminate(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    yield
    signal.signal(signal.SIGTERM, before)


class Lock:
    """A lock of Popen where a signal arrives just after it was taken."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.armed = True

    def acquire(self, *arguments: Any) -> bool:
        taken = bool(self._lock.acquire(*arguments))
        if self.armed:
            self.armed = False
            os.kill(os.getpid(), signal.SIGTERM)
        return taken

    def release(self) -> None:
        self._lock.release()

    def locked(self) -> bool:
        return bool(self._lock.locked())


def polled(process: subprocess.Popen[bytes], check: Any = lambda: None) -> Lock:
    """Poll a process while a signal arrives at the worst place; returns the lock."""
    lock = Lock(process._waitpid_lock)  # type: ignore[attr-defined]
    process._waitpid_lock = lock  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        process.poll()
        check()
    return lock


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield made
    os.kill(made.pid, signal.SIGKILL)
    os.waitpid(made.pid, 0)


def test_a_handler_that_raises_loses_the_lock(process: subprocess.Popen[bytes]) -> None:
    """The race itself: from here on a wait for this process never ends, not even when it was killed."""
    assert polled(process).locked()


def test_a_signal_that_is_held_does_not(process: subprocess.Popen[bytes]) -> None:
    with interrupts.held() as check:
        assert not polled(process, check).locked()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_signal_is_lost(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    reached = False
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        os.kill(os.getpid(), number)
        reached = True
    assert reached
    assert signal.getsignal(number) is before


def test_without_one_nothing_happens() -> None:
    with interrupts.held() as check:
        check()


def test_a_process_ends_when_the_file_appears(tmp_path: Path) -> None:
    file = tmp_path / "cancelled"
    text = f"from common import interrupts; import time; from pathlib import Path; interrupts.stop_when(Path({str(file)!r})); "
    command = [sys.executable, "-c", text + "print('there', flush=True); time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"there\n"
        file.touch()
        assert process.wait(30) == -signal.SIGTERM
    with pytest.raises(KeyboardInterrupt):
        interrupts.stop_when(file)

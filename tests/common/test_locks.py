# SPDX-License-Identifier: BSD-3-Clause
"""Locks between processes (two open files of one process exclude each other just so)."""

import fcntl
import threading
from pathlib import Path

import pytest

from common.locks import is_held, locked, locked_now


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_second_waits_for_the_first_and_says_so(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path if kind == "folder" else tmp_path / "lock"
    held: list[str] = []

    def second() -> None:
        with locked(path, "kernels/stock"):
            held.append("second")

    waiting = threading.Thread(target=second)
    with locked(path, "kernels/stock"):
        waiting.start()
        waiting.join(2.5)  # progress speaks after two seconds
        assert waiting.is_alive()
        held.append("first")
    waiting.join()
    assert held == ["first", "second"]
    assert "Waiting for another process: kernels/stock [2 s]" in capsys.readouterr().err


def test_a_free_lock_is_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with locked(tmp_path / "lock", "kernels/stock"):
        pass
    with locked(tmp_path / "lock", "kernels/stock"):
        pass
    assert capsys.readouterr().err == ""


def test_who_does_not_wait_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path / "lock", "kernels/stock"), pytest.raises(BlockingIOError), locked_now(tmp_path / "lock"):
        pass
    with locked_now(tmp_path / "lock"):
        assert is_held(tmp_path / "lock")
    assert not is_held(tmp_path / "lock")
    assert not is_held(tmp_path / "none") and not (tmp_path / "none").exists()


def test_a_lock_that_was_removed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"

    def remove(handle: int, operation: int) -> None:
        flock(handle, operation)
        path.unlink(missing_ok=True)  # as who held it does at his end, just before it is ours

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", remove)
    with pytest.raises(BlockingIOError), locked_now(path):
        pass

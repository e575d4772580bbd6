# SPDX-License-Identifier: BSD-3-Clause
"""Commands of builds: how they end, and that nothing of them is left at work when the build is ended."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_runs import gone

from common.outcome import Failure
from common.paths import REPOSITORY
from common.progress import run_logged

# A process that has started another, as make does, of which the file "child" has the number.
MAKE = "sleep 600 & echo $! > child.new; mv child.new child; wait"
GENTLE = "trap 'sleep 0.2; echo done > ended; exit 1' TERM; touch child; while :; do sleep 0.05; done"


def builder(folder: Path, command: str) -> subprocess.Popen[bytes]:
    """A process that builds, once its command runs."""
    lines = [
        "import signal",
        "from pathlib import Path",
        "from common.progress import run_logged",
        "signal.signal(signal.SIGINT, signal.default_int_handler)",  # who runs the tests may ignore it
        f"run_logged('Building', ['sh', '-c', {command!r}], Path('log'), cwd=Path({str(folder)!r}))",
    ]
    words = [sys.executable, "-c", "\n".join(lines)]
    process = subprocess.Popen(
        words, cwd=folder, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, stderr=subprocess.PIPE, start_new_session=True
    )
    wait_for(folder / "child")
    return process


def wait_for(file: Path) -> None:
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_ended_leaves_nothing_at_work(number: signal.Signals, tmp_path: Path) -> None:
    with builder(tmp_path, MAKE) as process:
        process.send_signal(number)  # to this one alone
        assert process.stderr is not None and b"KeyboardInterrupt" in process.stderr.read()
    assert gone(int((tmp_path / "child").read_text()), 0.5)


def test_a_build_that_is_killed_ends_its_command(tmp_path: Path) -> None:
    with builder(tmp_path, f"trap 'kill $(cat child); exit 1' TERM; {MAKE}") as process:
        process.kill()
    assert gone(int((tmp_path / "child").read_text()))


def interrupted(folder: Path, gently: bool) -> None:
    """Run a command that takes its time to end, and interrupt it."""
    text = "for i in $(seq 1000); do [ ! -e child ] || { kill -INT $1; exit; }; sleep 0.02; done"
    with subprocess.Popen(["sh", "-c", text, "sh", str(os.getpid())], cwd=folder), pytest.raises(KeyboardInterrupt):
        run_logged("Installing", ["sh", "-c", GENTLE], folder / "log", cwd=folder, gently=gently)


@pytest.mark.parametrize("gently", [True, False])
def test_what_changes_the_host_ends_by_itself(gently: bool, tmp_path: Path) -> None:
    interrupted(tmp_path, gently)
    assert (tmp_path / "ended").exists() == gently


def test_what_may_not_be_ended_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def terminate(process: subprocess.Popen[bytes]) -> None:
        os.kill(process.pid, signal.SIGTERM)  # so that the test comes to its end
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(subprocess.Popen, "terminate", terminate)
    interrupted(tmp_path, gently=True)
    assert (tmp_path / "ended").exists()


def test_a_command_that_fails_or_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"Building: sh exited with status 3 \(no such header\)"):
        run_logged("Building", ["sh", "-c", "echo no such header; exit 3"], tmp_path / "log")
    with pytest.raises(Failure, match="no-such-program: No such file"):
        run_logged("Building", ["no-such-program"], tmp_path / "log")
    assert (tmp_path / "log").read_text().startswith("$ sh -c")

# SPDX-License-Identifier: BSD-3-Clause
"""Progress on the terminal: every step longer than two seconds says what it is doing and for how long.

On a terminal the running step is one live line; elsewhere (CI, a file) it is one line at the start, one every 30 seconds and one
at the end.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from common import interrupts
from common.columns import say, say_live
from common.outcome import Failure, Outcome

_HEARTBEAT_SECONDS = 30.0
_DISK_RESERVE = 16 << 20  # bytes; a command that failed with less left failed for lack of room


class Step:
    """A running step; ``note`` sets what it is busy with right now (shown on the live line)."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.note = ""
        self._start = time.monotonic()
        self._done = threading.Event()
        self._live = sys.stderr.isatty()
        self._thread = threading.Thread(target=self._show, daemon=True)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def _line(self) -> str:
        return f"{self.title} [{self.seconds:.0f} s]" + (f" {self.note}" if self.note else "")

    def _show(self) -> None:
        if self._done.wait(2.0):
            return
        while True:
            if self._live:
                say_live(self._line())
            else:
                say(self._line())
            if self._done.wait(0.5 if self._live else _HEARTBEAT_SECONDS):
                return

    def _finish(self, word: str) -> None:
        self._done.set()
        self._thread.join()
        if self.seconds >= 2.0 or word != "done":
            say(f"{self.title}: {word} in {self.seconds:.1f} s")


@contextmanager
def step(title: str) -> Iterator[Step]:
    """Show ``title`` and the elapsed time while the body runs; steps shorter than two seconds stay silent."""
    current = Step(title)
    current._thread.start()
    try:
        yield current
    except BaseException:
        current._finish("failed")
        raise
    current._finish("done")


def run_logged(
    title: str,
    command: Sequence[str | Path],
    log: Path,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    cure: str = "",
    gently: bool = False,
) -> None:
    """Run ``command`` as a step with its output appended to ``log``: `logged_status`.

    Raises:
        Failure: it exited non-zero (outcome bad-input: the host's tools or packages are not what the build needs; disk-full);
            the sentence names the log and quotes its last line.
    """
    with step(title) as current:
        status = logged_status(current, command, log, cwd=cwd, environment=environment, gently=gently)
        if status:
            if shutil.disk_usage(log.parent).free < _DISK_RESERVE:
                raise Failure(Outcome.DISK_FULL, f"{title}: the disk of {log.parent} is full.", "Free some room, then repeat.")
            raise Failure(
                Outcome.BAD_INPUT,
                f"{title}: {Path(str(command[0])).name} exited with status {status} ({last_line(log)}).",
                cure or f"See {log}.",
            )


def logged_status(
    current: Step,
    command: Sequence[str | Path],
    log: Path,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    gently: bool = False,
) -> int:
    """The exit status of ``command``, which runs in the step ``current`` with its output appended to ``log``.

    When this process is to end (ctrl-C, SIGTERM), the command and all that it has started are killed first; when it is killed,
    the command gets SIGTERM. One that runs ``gently``, as what changes the host has to, is asked to end and waited for.
    """
    words = list(map(str, command))
    # In a session of its own all can be killed at once, and neither a ctrl-C nor the end of the terminal reaches it. sudo stays
    # in ours, because it knows by the terminal that the password was given before.
    own = [] if gently else ["setpriv", "--pdeathsig", "TERM"]
    with open(log, "ab") as output, interrupts.held() as check:
        output.write(f"$ {' '.join(words)}\n".encode())
        output.flush()
        process = subprocess.Popen(
            [*own, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env=environment,
            start_new_session=not gently,
        )
        try:
            while process.poll() is None:
                check()
                time.sleep(0.1)
                current.note = last_line(log)[:70]
            check()
        except BaseException:
            _end(process, gently)
            raise
    return process.returncode


def _end(process: subprocess.Popen[bytes], gently: bool) -> None:
    with suppress(ProcessLookupError, PermissionError):  # sudo belongs to root, and ends when what it runs does
        if gently:
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_line(path: Path) -> str:
    """Last non-empty line of a text file, from its last 4 KiB."""
    with open(path, "rb") as handle:
        handle.seek(0, 2)
        handle.seek(max(0, handle.tell() - 4096))
        lines = [line for line in handle.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""

# SPDX-License-Identifier: BSD-3-Clause
"""Points on this host, a fixed number of processes at a time."""

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from common.paths import REPOSITORY
from harness.run.executors.base import Command, Seen, State, Task

_STOP_SECONDS = 15.0


class LocalExecutor:
    """Runs ``jobs`` points at a time. A worker gets SIGTERM when this process dies, and its engine is killed with it."""

    poll_seconds = 0.1

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._waiting: deque[tuple[Task, Command]] = deque()
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def submit(self, tasks: Sequence[Task], command: Command) -> None:
        """See `harness.run.executors.base.Executor`."""
        self._waiting.extend((task, command) for task in tasks)
        self._start()

    def poll(self) -> Mapping[int, Seen]:
        """See `harness.run.executors.base.Executor`."""
        found = {}
        for number, process in list(self._running.items()):
            status = process.poll()
            found[number] = Seen(State.RUNNING if status is None else State.ENDED, status)
            if status is not None:
                del self._running[number]
        self._start()
        return found

    def cancel(self) -> None:
        """SIGTERM to all, so that each removes what it was writing; SIGKILL to what is still there later."""
        self._waiting.clear()
        _signal(self._running.values(), signal.SIGTERM)
        end = time.monotonic() + _STOP_SECONDS
        for process in self._running.values():
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal([process], signal.SIGKILL)
                process.wait()
        self._running.clear()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._jobs:
            task, command = self._waiting.popleft()
            with open(task.output, "wb") as output, open(task.errors, "wb") as errors:
                self._running[task.number] = subprocess.Popen(
                    ["setpriv", "--pdeathsig", "TERM", *command(task)],
                    cwd=REPOSITORY,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,  # ctrl-C reaches this process alone, which then stops the workers in order
                )


def _signal(processes: Iterable[subprocess.Popen[bytes]], number: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            pass

# SPDX-License-Identifier: BSD-3-Clause
"""Points on the workers of a HyperQueue server, a job for each."""

import json
import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.outcome import Failure, bad_input
from common.paths import REPOSITORY
from harness.run.executors.base import Command, Seen, State, Task

_ANSWER_SECONDS = 60.0
_SILENT_SECONDS = 300.0
"""A server that does not answer for so long has gone."""
_STOP_SECONDS = 90.0
_OURS = ("MOSBENCH_", "XDG_", "PYTHON")
"""Variables that say where settings, caches and code lie; a worker has the rest of its own host."""
_OWN_END = re.compile(r"Program terminated with exit code (-?\d+)\.(?: Received signal (\d+))?")


@dataclass(frozen=True)
class _Job:
    server: str
    number: int


class HyperQueueExecutor:
    """See `harness.run.executors.base.Executor`. ``folder`` is the server's (empty: the default); ``at_a_time`` 0: no limit."""

    poll_seconds = 2.0

    def __init__(self, folder: str = "", at_a_time: int = 0) -> None:
        self._folder = folder
        self._limit = at_a_time
        self._waiting: deque[tuple[Task, Command]] = deque()
        self._jobs: dict[_Job, Task] = {}
        self._ended: list[int] = []
        self._heard = time.monotonic()

    def submit(self, tasks: Sequence[Task], command: Command) -> None:
        """See `harness.run.executors.base.Executor`."""
        self._waiting.extend((task, command) for task in tasks)
        try:
            self._submit()
        except _SilentServer as silent:
            self._waiting.clear()
            raise bad_input(
                f"HyperQueue takes no points: {silent}.",
                "Start one with `hq server start`, or name its folder with --server-dir.",
            ) from None

    def poll(self) -> Mapping[int, Seen]:
        """Of a job of a server that was started again nothing is known but that it has ended."""
        found: dict[int, Seen] = {}
        try:
            if self._jobs:
                answer = self._ask({"look": sorted(job.number for job in self._jobs), "forget": self._ended})
                self._ended = []
                found = {task.number: _seen(job, task, answer) for job, task in self._jobs.items()}
                ended = [job for job, task in self._jobs.items() if found[task.number].state is State.ENDED]
                for job in ended:
                    del self._jobs[job]
                self._ended = [job.number for job in ended if job.server == answer["server"]]
            self._submit()
            self._heard = time.monotonic()
        except _SilentServer as silent:
            if time.monotonic() - self._heard > _SILENT_SECONDS:
                raise bad_input(
                    f"HyperQueue has not answered for {_SILENT_SECONDS:g} s ({silent}).",
                    "When it does again, give the same command: complete runs are kept.",
                ) from None
        return found

    def cancel(self) -> None:
        """What runs ends by itself, because its queue is cancelled, and what is begun later at once. Wait for it."""
        self._waiting.clear()
        end = time.monotonic() + _STOP_SECONDS
        while self._jobs and time.monotonic() < end:
            time.sleep(0.5)
            try:
                self.poll()
            except Failure:
                return

    def _submit(self) -> None:
        room = self._limit - len(self._jobs) if self._limit else len(self._waiting)
        some = [self._waiting[index] for index in range(min(room, len(self._waiting)))]
        if not some:
            return
        ours = {name: value for name, value in os.environ.items() if name.startswith(_OURS)}
        jobs = [
            {
                "arguments": command(task),
                "cwd": str(REPOSITORY),
                "output": str(task.output),
                "errors": str(task.errors),
                "env": ours,
            }
            for task, command in some
        ]
        answer = self._ask({"submit": jobs})
        for (task, _), number in zip(some, answer["jobs"], strict=True):
            self._jobs[_Job(answer["server"], number)] = task
            self._waiting.popleft()

    def _ask(self, what: Mapping[str, Any]) -> dict[str, Any]:
        """
        Raises:
            _SilentServer: there is no answer.
        """
        command = [sys.executable, "-m", "harness.run.executors.hyperqueue_client"]
        asked = json.dumps({"folder": self._folder, **what})
        try:
            done = subprocess.run(
                command,
                input=asked,
                capture_output=True,
                text=True,
                check=False,
                cwd=REPOSITORY,
                env={**os.environ, "RUST_BACKTRACE": "0"},
                timeout=_ANSWER_SECONDS,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise _SilentServer(f"no answer within {_ANSWER_SECONDS:g} s") from None
        answer: dict[str, Any] = (
            json.loads(done.stdout) if not done.returncode else {"error": done.stderr.strip() or "it crashed"}
        )
        if "error" in answer:
            raise _SilentServer(str(answer["error"]).rstrip("."))
        return answer


class _SilentServer(Exception):
    """There is no server, or it does not answer; why."""


def _seen(job: _Job, task: Task, answer: Mapping[str, Any]) -> Seen:
    number = str(job.number)
    if job.server != answer["server"] or number not in answer["known"]:
        return Seen(State.ENDED, None, "HyperQueue does not know its job any more")
    if not answer["known"][number]:
        return Seen(State.RUNNING if task.output.exists() else State.WAITING)
    wrong = answer["failed"].get(number)
    if wrong is None:
        return Seen(State.ENDED, 0)
    own = _OWN_END.match(wrong)
    return Seen(State.ENDED, -int(own[2]) if own[2] else int(own[1])) if own else Seen(State.ENDED, None, wrong.rstrip("."))

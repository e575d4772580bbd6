# SPDX-License-Identifier: BSD-3-Clause
"""Points one after the other, each while it is asked how they go: for tests, and to see one fail in the foreground."""

import subprocess
from collections import deque
from collections.abc import Mapping, Sequence

from common.paths import REPOSITORY
from harness.run.executors.base import Command, Seen, State, Task


class InlineExecutor:
    """Runs one point in each `poll`, so that who polls may stop before the next. Nothing is running when it returns."""

    poll_seconds = 0.0

    def __init__(self) -> None:
        self._waiting: deque[tuple[Task, Command]] = deque()

    def submit(self, tasks: Sequence[Task], command: Command) -> None:
        """See `harness.run.executors.base.Executor`."""
        self._waiting.extend((task, command) for task in tasks)

    def poll(self) -> Mapping[int, Seen]:
        """See `harness.run.executors.base.Executor`."""
        if not self._waiting:
            return {}
        task, command = self._waiting.popleft()
        with open(task.output, "wb") as output, open(task.errors, "wb") as errors:
            words = ["setpriv", "--pdeathsig", "TERM", *command(task)]
            done = subprocess.run(words, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, check=False)
        return {task.number: Seen(State.ENDED, done.returncode)}

    def cancel(self) -> None:
        """See `harness.run.executors.base.Executor`."""
        self._waiting.clear()

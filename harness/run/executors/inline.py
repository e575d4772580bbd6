# SPDX-License-Identifier: BSD-3-Clause
"""Points one after the other while they are submitted: for tests, and to see one fail in the foreground."""

import subprocess
from collections.abc import Mapping, Sequence

from common.paths import REPOSITORY
from harness.run.executors.base import Command, Seen, State, Task


class InlineExecutor:
    """Nothing is running when `submit` returns."""

    poll_seconds = 0.0

    def __init__(self) -> None:
        self._ended: dict[int, Seen] = {}

    def submit(self, tasks: Sequence[Task], command: Command) -> None:
        """See `harness.run.executors.base.Executor`."""
        for task in tasks:
            with open(task.output, "wb") as output, open(task.errors, "wb") as errors:
                words = ["setpriv", "--pdeathsig", "TERM", *command(task)]
                done = subprocess.run(words, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, check=False)
            self._ended[task.number] = Seen(State.ENDED, done.returncode)

    def poll(self) -> Mapping[int, Seen]:
        """See `harness.run.executors.base.Executor`."""
        found, self._ended = self._ended, {}
        return found

    def cancel(self) -> None:
        """There is nothing to end."""

# SPDX-License-Identifier: BSD-3-Clause
"""What an executor is: it starts `run.py run POINT.toml` for each point, and the run directories alone say what is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from common.outcome import Outcome
from harness.spec.point import Point


@dataclass(frozen=True)
class Finished:
    """How the run of one point ended."""

    point: Point
    outcome: Outcome
    what: str = ""
    cure: str = ""
    folder: Path | None = None
    """The run directory, if it is complete."""
    reused: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Task:
    """One point in a queue (`harness.run.executors.queue`)."""

    number: int
    point: Point
    folder: Path
    """Of the queue: the point's file and what the command prints are there."""
    attempt: int = 1

    @property
    def file(self) -> Path:
        """The point.toml that the command runs."""
        return self.folder / f"{self.number}.toml"

    @property
    def output(self) -> Path:
        """Standard output of the command."""
        return self.folder / f"{self.number}.{self.attempt}.out"

    @property
    def errors(self) -> Path:
        """Its error stream."""
        return self.folder / f"{self.number}.{self.attempt}.err"


class State(Enum):
    """Where a task is."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    """The back end will do nothing more for it, for whatever reason."""


@dataclass(frozen=True)
class Seen:
    """What a back end says of a task."""

    state: State
    status: int | None = None
    """Exit status of the command, None where the back end does not know it."""
    why: str = ""
    """Of an end that was not the command's own, in the back end's words: NODE_FAIL."""


Command = Callable[[Task], list[str]]
"""The command that runs a task."""


class Executor(Protocol):
    """A back end: one instance runs one queue. Nothing here judges how a run went (`harness.run.executors.drive`)."""

    poll_seconds: float
    """How long to wait from one poll to the next."""

    def submit(self, tasks: Sequence[Task], command: Command) -> None:
        """Take ``tasks``, to be run with ``command`` in the repository's folder, output and errors into the files that they name.

        Raises:
            Failure: bad-input, when the back end refuses them.
        """
        ...

    def poll(self) -> Mapping[int, Seen]:
        """What is known of each task that was submitted and not yet seen to have ended, by its number.

        Raises:
            Failure: the back end does not answer any more.
        """
        ...

    def cancel(self) -> None:
        """End all that waits or runs, and return when nothing does (or the back end does not answer)."""
        ...

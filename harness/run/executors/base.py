# SPDX-License-Identifier: BSD-3-Clause
"""What an executor is: it starts `run.py run POINT.toml` for each point, and the run directories alone say what is done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


class Executor(Protocol):
    """A way to run many points."""

    def run(self, points: Sequence[Point], root: Path, reuse: str, on_finish: Callable[[Finished], None]) -> list[Finished]:
        """Run ``points`` into the folder ``root``; ``on_finish`` hears of each as it ends. Failures of points are returned.

        Raises:
            Failure: interrupted, after all that was running has been stopped.
        """
        ...

# SPDX-License-Identifier: BSD-3-Clause
"""What killed processes and runs that are gone leave in a folder of runs besides run directories."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.report.beside import CATALOGUE
from common import locks
from common.disk_use import bytes_of
from harness.run.executors.queue import LOCK, QUEUES


@dataclass(frozen=True)
class Left:
    """One file or folder that nobody needs; ``what`` says what it was."""

    path: Path
    what: str

    @property
    def bytes(self) -> int:
        """What it takes."""
        paths = [self.path, *self.path.rglob("*")] if self.path.is_dir() else [self.path]
        return bytes_of(paths)

    def remove(self) -> None:
        """Remove it; nothing happens when it is gone already."""
        if self.path.is_dir():
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)


def find(root: Path) -> list[Left]:
    """All that is left in ``root``, sorted by path. What a process is at work on is not."""
    return sorted(_find(root), key=lambda left: left.path)


def _find(root: Path) -> Iterator[Left]:
    if not root.is_dir():
        return
    for lock in root.glob(".*.lock"):
        if not held(lock):
            yield Left(lock, "lock of a process that was killed")
    for part in root.glob(".*.part"):
        if not held(part.with_suffix(".lock")):
            yield Left(part, "run that was cut off")
    for queue in (root / QUEUES).glob("*/"):
        if not held(queue / LOCK):
            yield Left(queue, "logs of points that failed")
    for kept in (root / CATALOGUE).glob("*.json.gz"):
        if not (root / kept.name.removesuffix(".json.gz")).is_dir():
            yield Left(kept, "entry of a run that is gone")


def held(lock: Path) -> bool:
    """Whether a process holds the lock."""
    if not lock.exists():
        return False
    try:
        with locks.locked_now(lock):
            return False
    except BlockingIOError:
        return True

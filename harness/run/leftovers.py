# SPDX-License-Identifier: BSD-3-Clause
"""What killed processes and runs that are gone leave in a folder of runs besides run directories."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from analysis.report.beside import CATALOGUE
from common import locks
from common.disk_use import bytes_of
from harness.run.executors.queue import LOCK, QUEUES


@dataclass(frozen=True)
class Left:
    """One file or folder that nobody needs; ``what`` says what it was. Who works on such a thing holds its ``lock``."""

    path: Path
    what: str
    lock: Path | None = None

    @property
    def bytes(self) -> int:
        """What it takes."""
        paths = [self.path, *self.path.rglob("*")] if self.path.is_dir() else [self.path]
        return bytes_of(paths)

    def remove(self) -> bool:
        """Remove it, and its lock; nothing happens when it is gone already. False: a process works on it now, and it stays."""
        try:
            with nullcontext() if self.lock is None else locks.locked_now(self.lock):
                if self.path.is_dir():
                    shutil.rmtree(self.path, ignore_errors=True)
                else:
                    self.path.unlink(missing_ok=True)
                if self.lock is not None:
                    self.lock.unlink(missing_ok=True)
        except BlockingIOError:
            return False
        except FileNotFoundError:  # and so is the folder of its lock
            return True
        if self.lock is not None and self.lock.parent == self.path:  # a network file system keeps a file until it is closed
            shutil.rmtree(self.path, ignore_errors=True)
        return True


def find(root: Path) -> list[Left]:
    """All that is left in ``root``, sorted by path. What a process is at work on is not."""
    return sorted(_find(root), key=lambda left: left.path)


def _find(root: Path) -> Iterator[Left]:
    if not root.is_dir():
        return
    for lock in root.glob(".*.lock"):
        if not locks.is_held(lock):
            yield Left(lock, "lock of a process that was killed", lock)
    for part in root.glob(".*.part"):
        lock = part.with_suffix(".lock")
        if not locks.is_held(lock):
            yield Left(part, "run that was cut off", lock)
    for queue in (root / QUEUES).glob("*/"):
        if not locks.is_held(queue / LOCK):
            yield Left(queue, "logs of points that failed", queue / LOCK)
    for kept in (root / CATALOGUE).glob("*.json.gz"):
        if not (root / kept.name.removesuffix(".json.gz")).is_dir():
            yield Left(kept, "entry of a run that is gone")

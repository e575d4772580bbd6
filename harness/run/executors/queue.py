# SPDX-License-Identifier: BSD-3-Clause
"""A queue: the folder ``.queue/<name>`` in a folder of runs, with a point.toml for each point and what its commands printed.

It lies beside the runs, where every host sees it. What went well leaves nothing in it; of the others the logs stay.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.report.beside import MANIFEST
from common import locks
from common.once import reading_once
from common.outcome import Outcome
from harness.run import run_directory
from harness.run.executors.base import Command, Finished, Seen, Task
from harness.spec import point as point_module
from harness.spec.point import Point

QUEUES = ".queue"
LOCK = "lock"
"""Held while a process looks after the queue."""
_CANCELLED = "cancelled"
TRIES = 3
"""How often a point is submitted whose host was lost."""


@dataclass
class Queue:
    """The points of one command; ``tasks`` have not ended yet, by number."""

    folder: Path
    root: Path
    reuse: str
    tasks: dict[int, Task]
    _before: dict[str, str] = field(default_factory=dict)
    """Manifests of runs of these points that were there when the queue was made."""

    @staticmethod
    def make(root: Path, points: Sequence[Point], reuse: str, held: ExitStack | None = None) -> "Queue":
        """A new queue; points with many cores come first, they take longest.

        ``held`` gets its lock before the points are written, which takes a millisecond for each: what nobody holds is removed.

        Raises:
            OSError: it cannot be written.
        """
        queues = root.resolve() / QUEUES
        queues.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=queues))
        if held is not None:
            held.enter_context(locks.locked(folder / LOCK, "its queue"))
        ordered = sorted(points, key=lambda point: -point.cores)
        tasks = {number: Task(number, point, folder) for number, point in enumerate(ordered)}
        queue = Queue(folder, root.resolve(), reuse, tasks)
        with reading_once():
            for task in tasks.values():
                point_module.write(task.point, task.file)
                if (there := queue.manifest(task.point)) is not None:
                    queue._before[task.point.id] = there
        return queue

    @property
    def command(self) -> Command:
        """The command that runs a task, with the Python that runs this process; it ends when the queue is cancelled."""
        words = ["--output", str(self.root), "--reuse", self.reuse, "--processors", "1", "--json"]
        words += ["--unless", str(self.cancelled)]
        return lambda task: [sys.executable, "-m", "harness.cli", "run", str(task.file), *words]

    @property
    def cancelled(self) -> Path:
        """A file that is there when the queue is cancelled: for back ends that cannot end what they have begun."""
        return self.folder / _CANCELLED

    def manifest(self, point: Point) -> str | None:
        """Hash of the manifest of the point's run, None if it has none."""
        try:
            return hashlib.sha256((self.root / point.id / MANIFEST).read_bytes()).hexdigest()
        except OSError:
            return None

    def again(self, task: Task) -> Task:
        """The next attempt at a task."""
        self.tasks[task.number] = replace(task, attempt=task.attempt + 1)
        return self.tasks[task.number]

    def judge(self, task: Task, seen: Seen, seconds: float) -> Finished | None:
        """How a task that has ended went, by what it left; None if its host was lost and it may run again.

        Only a complete run directory is ok: one that was not there before, or that the command says it found good.
        """
        said = _said(task.output)
        folder = self.root / task.point.id
        new = self.manifest(task.point) not in (None, self._before.get(task.point.id))
        if (new or said.get("outcome") == "ok") and run_directory.fault(folder) is None:
            what, reused = str(said.get("what", "")), bool(said.get("reused", False))
            return Finished(task.point, Outcome.OK, what, "", folder, reused, seconds)
        kind = _outcome(said.get("outcome"))
        if kind is not None and kind is not Outcome.OK:
            if kind is Outcome.INTERRUPTED and not self.cancelled.exists() and task.attempt < TRIES:
                return None  # somebody else than us ended it: a host that goes down does
            return Finished(task.point, kind, str(said.get("what", "")), str(said.get("cure", "")), seconds=seconds)
        last = _last_line(task.errors)
        by_status = next((one for one in Outcome if one.exit_status == seen.status and one is not Outcome.OK), None)
        if by_status is not None and by_status is not Outcome.INTERRUPTED and not last:
            what = f"The command that ran {task.point.id} ended with status {seen.status}, and could write no log."
            return Finished(task.point, by_status, what, f"Look at {task.errors}.", seconds=seconds)
        # It did not end by itself, or what it has made is not to be seen from here yet.
        if seen.status is None or seen.status < 0 or seen.why or kind is Outcome.OK:
            if task.attempt < TRIES:
                return None
            why = seen.why or "nothing is known of its end"
            what = f"{task.point.id} was begun {task.attempt} times, and each time lost ({why})."
            return Finished(task.point, Outcome.ENGINE_CRASH, what, f"Look at {task.errors} and at the hosts.", seconds=seconds)
        what = f"The process that ran {task.point.id} ended with status {seen.status} and said: {last or 'nothing'}"
        return Finished(task.point, Outcome.ENGINE_CRASH, what, f"Look at {task.errors}.", seconds=seconds)

    def close(self, task: Task, ended: Finished) -> None:
        """Take a task out; its files go if it went well."""
        del self.tasks[task.number]
        if ended.outcome is Outcome.OK:
            for path in (task.file, *self.folder.glob(f"{task.number}.*.out"), *self.folder.glob(f"{task.number}.*.err")):
                path.unlink(missing_ok=True)

    def remove_if_empty(self) -> bool:
        """Whether nothing is left that says anything, and the folder is gone."""
        if self.tasks or any(self.folder.glob("*.toml")):
            return False
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            self.folder.parent.rmdir()
        except OSError:
            pass  # another queue is in it
        return True


def _outcome(text: object) -> Outcome | None:
    return next((one for one in Outcome if one == text), None)


def _said(output: Path) -> dict[str, Any]:
    """The line of JSON with which `run --json` ends; empty where there is none."""
    try:
        value = json.loads(_last_line(output))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""

# SPDX-License-Identifier: BSD-3-Clause
"""Points on the nodes of a Slurm cluster: arrays of jobs by sbatch, their states by squeue."""

import re
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from itertools import count

from common.outcome import Failure, bad_input
from common.paths import REPOSITORY
from harness.run.executors.base import Command, Seen, State, Task

_SILENT_SECONDS = 300.0
"""A controller that does not answer for so long has gone; it may be started again before."""
_STOP_SECONDS = 90.0  # Slurm kills what has not ended 30 s (KillWait) after it was asked to

_WAITING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"})
_RUNNING = frozenset({"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING", "RESIZING"})
_OWN_END = frozenset({"COMPLETED", "FAILED"})


class SlurmExecutor:
    """See `harness.run.executors.base.Executor`. ``options`` are passed to sbatch as they are; ``at_a_time`` 0: no limit."""

    poll_seconds = 2.0

    def __init__(self, options: Sequence[str] = (), at_a_time: int = 0) -> None:
        self._options = tuple(options)
        self._limit = f"%{at_a_time}" if at_a_time else ""
        self._tasks: dict[tuple[str, str], int] = {}
        self._plans = count(1)
        self._largest = 0
        self._heard = time.monotonic()

    def submit(self, tasks: Sequence[Task], command: Command) -> None:
        """One array for each so many tasks as Slurm takes in one. A plan has the command of each on a line."""
        self._largest = self._largest or _largest_array()
        for begin in range(0, len(tasks), self._largest):
            some = tasks[begin : begin + self._largest]
            plan = some[0].folder / f"{next(self._plans)}.plan"
            plan.write_text("".join(_line(task, command) for task in some), encoding="utf-8")
            line = f'eval "$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" {shlex.quote(str(plan))})"'
            job = _sbatch([f"--array=0-{len(some) - 1}{self._limit}", *self._options], line)
            self._tasks |= {(job, str(index)): task.number for index, task in enumerate(some)}

    def poll(self) -> Mapping[int, Seen]:
        """Of a job that Slurm has forgotten nothing is known but that it has ended."""
        if not self._tasks:
            return {}
        jobs = ",".join(sorted({job for job, _ in self._tasks}))
        form = "ArrayJobID:.24,ArrayTaskID:.24,State:.24,exit_code:.24"
        asked = _ask(["squeue", "--noheader", "--array", "--states=all", f"--jobs={jobs}", f"--Format={form}"])
        if asked.returncode and "Invalid job id" not in asked.stderr:
            if time.monotonic() - self._heard > _SILENT_SECONDS:
                raise bad_input(
                    f"Slurm has not answered for {_SILENT_SECONDS:g} s ({_said(asked)}).",
                    "When it does again, give the same command: complete runs are kept.",
                )
            return {}
        self._heard = time.monotonic()
        rows = [line.split() for line in asked.stdout.splitlines()]
        states = {(row[0], row[1]): (row[2], row[3] if len(row) > 3 else "") for row in rows if len(row) >= 3}
        found = {}
        for key, number in list(self._tasks.items()):
            found[number] = _seen(*states.get(key, ("", "")))
            if found[number].state is State.ENDED:
                del self._tasks[key]
        return found

    def cancel(self) -> None:
        """scancel, then wait until nothing of it runs."""
        end = time.monotonic() + _STOP_SECONDS
        if self._tasks:
            _ask(["scancel", *sorted({job for job, _ in self._tasks})])
        while self._tasks and time.monotonic() < end:
            time.sleep(0.5)
            try:
                self.poll()
            except Failure:
                return


def _line(task: Task, command: Command) -> str:
    return f"exec {shlex.join(command(task))} > {shlex.quote(str(task.output))} 2> {shlex.quote(str(task.errors))} < /dev/null\n"


def _sbatch(options: Sequence[str], body: str) -> str:
    """Submit; returns the number of the job.

    Raises:
        Failure: bad-input, with what Slurm says.
    """
    fixed = ["--parsable", "--job-name=mosbench", f"--chdir={REPOSITORY}", "--output=/dev/null", "--no-requeue", "--ntasks=1"]
    done = _ask(["sbatch", *fixed, *options], f"#!/bin/sh\n{body}\n")
    if done.returncode:
        raise bad_input(f"Slurm refuses the points: {_said(done)}.", "Change --partition or --submit; `sinfo` lists partitions.")
    return done.stdout.strip().partition(";")[0]


def _largest_array() -> int:
    """How many jobs Slurm takes in one array."""
    found = re.search(r"MaxArraySize\s*=\s*(\d+)", _ask(["scontrol", "show", "config"]).stdout)
    return max(1, int(found[1]) - 1) if found else 1000


def _ask(command: Sequence[str], text: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False, start_new_session=True)
    except FileNotFoundError:
        raise bad_input(
            f"There is no {command[0]} on this host.",
            "Start the command on a login node of the cluster, or use another --executor.",
        ) from None


def _said(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines[0].removeprefix("sbatch: ").removeprefix("error: ").rstrip(".") if lines else f"status {done.returncode}"


def _seen(state: str, code: str) -> Seen:
    if state in _WAITING:
        return Seen(State.WAITING)
    if state in _RUNNING:
        return Seen(State.RUNNING)
    status = _status(code) if state in _OWN_END else None
    return Seen(State.ENDED, status, "" if state in _OWN_END else state or "Slurm does not know its job any more")


def _status(code: str) -> int | None:
    """The exit status of a command from what wait(2) gives."""
    if not code.isdecimal():
        return None
    return int(code) >> 8 if not int(code) & 0x7F else -(int(code) & 0x7F)

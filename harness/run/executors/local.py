# SPDX-License-Identifier: BSD-3-Clause
"""Points on this host, a fixed number of processes at a time."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from common.outcome import Outcome
from common.paths import REPOSITORY
from common.progress import step
from harness.run.executors.base import Finished
from harness.run.run_directory import interrupted
from harness.spec import point as point_module
from harness.spec.point import Point

_STOP_SECONDS = 15.0


@dataclass
class _Worker:
    point: Point
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    errors: IO[bytes]
    began: float = field(default_factory=time.monotonic)


def worker_command(point_file: Path, root: Path, reuse: str) -> list[str]:
    """The command that runs one point, with the Python that runs this process."""
    return [sys.executable, "-m", "harness.cli", "run", str(point_file), "--output", str(root), "--reuse", reuse, "--json"]


class LocalExecutor:
    """Runs ``jobs`` points at a time. A worker gets SIGTERM when this process dies, and its engine is killed with it."""

    def __init__(self, jobs: int, command: Callable[[Path, Path, str], list[str]] = worker_command) -> None:
        self._jobs = jobs
        self._command = command

    def run(self, points: Sequence[Point], root: Path, reuse: str, on_finish: Callable[[Finished], None]) -> list[Finished]:
        """See `harness.run.executors.base.Executor`. Points with many cores start first: they take longest."""
        waiting = sorted(points, key=lambda point: -point.cores)
        running: list[_Worker] = []
        done: list[Finished] = []
        with tempfile.TemporaryDirectory(prefix="mosbench-points-") as queue, step(f"Running {len(points)} points") as current:
            try:
                while waiting or running:
                    while waiting and len(running) < self._jobs:
                        running.append(self._start(waiting.pop(0), Path(queue), root, reuse))
                    current.note = f"{len(done)} done; " + ", ".join(
                        f"{w.point.workload_text} on {w.point.cores}" for w in running
                    )
                    time.sleep(0.1)
                    for worker in [w for w in running if w.process.poll() is not None]:
                        running.remove(worker)
                        done.append(_finished(worker))
                        on_finish(done[-1])
            except KeyboardInterrupt:
                raise interrupted() from None
            finally:
                _stop(running)
        return done

    def _start(self, point: Point, queue: Path, root: Path, reuse: str) -> _Worker:
        file = queue / f"{point.id}.toml"
        point_module.write(point, file)
        output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed by _read
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *self._command(file.resolve(), root.resolve(), reuse)],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,  # ctrl-C reaches this process alone, which then stops the workers in order
        )
        return _Worker(point, process, output, errors)


def _finished(worker: _Worker) -> Finished:
    seconds = time.monotonic() - worker.began
    text, errors = _read(worker.output), _read(worker.errors)
    try:
        said = json.loads(text.strip().splitlines()[-1])
        outcome = Outcome(said["outcome"])
    except (IndexError, KeyError, ValueError):
        what = f"The process that ran {worker.point.id} ended with status {worker.process.returncode} and said: "
        return Finished(
            worker.point, Outcome.ENGINE_CRASH, what + (errors.strip().splitlines() or ["nothing"])[-1], "", seconds=seconds
        )
    folder = Path(said["folder"]) if said.get("folder") else None
    return Finished(worker.point, outcome, said.get("what", ""), said.get("cure", ""), folder, bool(said.get("reused")), seconds)


def _read(handle: IO[bytes]) -> str:
    with handle:
        handle.seek(0)
        return handle.read().decode(errors="replace")


def _stop(workers: Sequence[_Worker]) -> None:
    """SIGTERM to all, so that each removes what it was writing; SIGKILL to what is still there later."""
    for worker in workers:
        _signal(worker, signal.SIGTERM)
    end = time.monotonic() + _STOP_SECONDS
    for worker in workers:
        try:
            worker.process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            _signal(worker, signal.SIGKILL)
            worker.process.wait()
        _read(worker.output)
        _read(worker.errors)


def _signal(worker: _Worker, number: signal.Signals) -> None:
    try:
        os.kill(worker.process.pid, number)
    except ProcessLookupError:
        pass

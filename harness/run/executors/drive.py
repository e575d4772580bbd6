# SPDX-License-Identifier: BSD-3-Clause
"""Many points on any executor: submit, poll, judge by the run directories, submit again what was lost."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from common import interrupts
from common.outcome import Failure, Outcome
from common.progress import step
from harness.run.executors.base import Command, Executor, Finished, Seen, State
from harness.run.executors.queue import Queue
from harness.run.guest_process import disk_full
from harness.run.run_directory import NO_ROOM, interrupted
from harness.spec.point import Point


def run(
    executor: Executor,
    points: Sequence[Point],
    root: Path,
    reuse: str,
    on_finish: Callable[[Finished], None],
    command: Callable[[Queue], Command] = lambda queue: queue.command,
) -> list[Finished]:
    """Run ``points`` into the folder ``root``; ``on_finish`` hears of each as it ends. Failures of points are returned.

    Raises:
        Failure: interrupted; bad-input, when the back end refuses; disk-full, when the queue cannot be written. All that was
            running has been stopped then, and complete runs stay.
    """
    done: list[Finished] = []
    held = ExitStack()
    try:
        queue = Queue.make(root, points, reuse, held)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise disk_full(root) from error
        raise
    try:
        with held, step(f"Running {len(points)} points") as current, interrupts.held() as check:
            try:
                executor.submit(list(queue.tasks.values()), command(queue))
                began: dict[int, float] = {}
                while queue.tasks:
                    check()
                    time.sleep(executor.poll_seconds)
                    check()
                    for number, seen in executor.poll().items():
                        if seen.state is State.RUNNING:
                            began.setdefault(number, time.monotonic())
                        elif seen.state is State.ENDED:
                            seconds = time.monotonic() - began.pop(number, time.monotonic())
                            _ended(executor, queue, number, seen, seconds, done, on_finish, command(queue))
                    working = [queue.tasks[n].point for n in began if n in queue.tasks]
                    current.note = f"{len(done)} done; " + ", ".join(f"{p.workload_text} on {p.cores}" for p in working[:4])
            except KeyboardInterrupt:
                raise interrupted() from None
            except OSError as error:  # a point that is submitted again has files too
                if error.errno in NO_ROOM:
                    raise disk_full(root) from error
                raise
            finally:
                if queue.tasks:
                    with suppress(OSError):  # the disk is full
                        queue.cancelled.touch()
                executor.cancel()
    except Failure as failure:
        if failure.outcome in (Outcome.INTERRUPTED, Outcome.BAD_INPUT):  # there is nothing to look at
            queue.tasks.clear()
            for path in queue.folder.glob("*.toml"):
                path.unlink()
        raise
    finally:
        queue.remove_if_empty()
    return done


def _ended(
    executor: Executor,
    queue: Queue,
    number: int,
    seen: Seen,
    seconds: float,
    done: list[Finished],
    on_finish: Callable[[Finished], None],
    command: Command,
) -> None:
    task = queue.tasks[number]
    ended = queue.judge(task, seen, seconds)
    if ended is None:
        executor.submit([queue.again(task)], command)
        return
    queue.close(task, ended)
    done.append(ended)
    on_finish(ended)

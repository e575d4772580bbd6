# SPDX-License-Identifier: BSD-3-Clause
"""Many points: everything that they run on is built first, then an executor runs them."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analysis.report.estimate import estimate
from analysis.report.runs import Run
from common.outcome import Outcome, bad_input
from common.paths import cache_root
from harness.build import host_packages, image, kernel
from harness.run.engines import base
from harness.run.executors.base import Finished
from harness.run.executors.local import LocalExecutor
from harness.spec.point import Point

MOST_TRIALS = 12
"""Of a point whose mean does not become as narrow as is wanted."""

_DISK_GIB = 6  # the builds take about 5 GiB at their peak (the kernel's build tree)


def prepare_all(wanted: Sequence[Point]) -> None:
    """Host packages, kernels, image and engines of all points, in turn, before the first of them runs.

    Raises:
        Failure: bad-input, when something cannot be had on this host.
    """
    engines = [base.engine(name) for name in sorted({point.engine for point in wanted})]
    _check_room()
    host_packages.require(*host_packages.of_groups("engine", "kernel", "image"))
    for source, fixes in sorted({(point.source, point.fixes) for point in wanted}):
        kernel.build(source, fixes)
    image.build()
    for engine in engines:
        engine.prepare()


def _check_room() -> None:
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root).free
    if not any((root / kind).is_dir() for kind in ("kernels", "images", "engines")) and free < _DISK_GIB << 30:
        raise bad_input(
            f"{root} has {free >> 30} GiB left, and setting up takes {_DISK_GIB}.",
            "Free some, or set MOSBENCH_CACHE to a larger disk.",
        )


def run_points(points: Sequence[Point], root: Path, *, jobs: int, reuse: str) -> list[Finished]:
    """Run ``points`` into the folder ``root``, ``jobs`` at a time, one line on the error stream as each ends."""
    count = 0

    def say(ended: Finished) -> None:
        nonlocal count
        count += 1
        how = "there already" if ended.reused else f"{ended.outcome.value} after {ended.seconds:.0f} s"
        if ended.outcome is not Outcome.OK:
            how += f": {ended.what}"
        clear = "\r\033[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{clear}[{count}/{len(points)}] {ended.point.title}: {how}\n")

    return LocalExecutor(jobs).run(points, root, reuse, say)


def run_until_known(points: Sequence[Point], root: Path, *, jobs: int, reuse: str, width: float) -> list[Finished]:
    """Run ``points``, and of each further trials until the mean of its throughput is known to ``width`` of itself.

    That is when half the 95 % interval is that narrow (Student's t), or there are `MOST_TRIALS`; a point of which a trial fails
    gets no more. All points that need another trial get it at the same time.
    """
    finished: list[Finished] = []
    wanted = list(points)
    while wanted:
        finished += run_points(wanted, root, jobs=jobs, reuse=reuse)
        wanted = _further(finished, width)
    return finished


def _further(finished: Sequence[Finished], width: float) -> list[Point]:
    """The next trial of each point whose mean is not known to ``width``."""
    trials: dict[str, list[Finished]] = {}
    for ended in finished:
        trials.setdefault(replace(ended.point, trial=1).id, []).append(ended)
    wanted = []
    for group in trials.values():
        folders = [ended.folder for ended in group if ended.folder is not None]
        if len(folders) < len(group) or len(group) >= MOST_TRIALS:
            continue
        if not estimate(Run(folder).per_core for folder in folders).within(width):
            last = max((ended.point for ended in group), key=lambda point: point.trial)
            wanted.append(replace(last, trial=last.trial + 1))
    return wanted

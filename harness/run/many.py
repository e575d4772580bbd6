# SPDX-License-Identifier: BSD-3-Clause
"""Many points: everything that they run on is built first, then an executor runs them."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from analysis.report.estimate import estimate
from analysis.report.runs import Run
from common import cache
from common.columns import say
from common.outcome import Outcome, bad_input
from common.paths import cache_root
from harness.build import host_packages, image, kernel
from harness.run import catalogue, runner
from harness.run.engines import base
from harness.run.executors import drive
from harness.run.executors.base import Executor, Finished
from harness.spec.point import Point

MOST_TRIALS = 12
"""Of a point whose mean does not become as narrow as is wanted."""

_DISK_GIB = 6  # the builds take about 5 GiB at their peak (the kernel's build tree)


def prepare_all(wanted: Sequence[Point]) -> None:
    """Host packages, kernels, disks and engines of all points, in turn, before the first of them runs.

    Raises:
        Failure: bad-input, when something cannot be had on this host.
    """
    packages, *rest = parts(wanted)
    _check_room()
    packages.make()
    kernels = {(point.source, point.fixes) for point in wanted}
    if missing := sum(not kernel.is_built(source, fixes) for source, fixes in kernels):
        which = "kernel is" if missing == 1 else "kernels are"
        say(f"{missing} {which} not built yet; each takes one to five minutes, once.")
    for part in rest:
        part.make()


ExtraConfig = Callable[[str], tuple[str, ...]]
"""Lines that the kernels of a source have in their configuration besides its own."""


def as_it_is(_: str) -> tuple[str, ...]:
    """None."""
    return ()


@dataclass(frozen=True)
class Part:
    """Something that points run on: its name for people, and where the cache keeps it as a whole, the beginning of its name there
    and its kind. Without these it is known by the first thing of it that is missing."""

    name: str
    make: Callable[[], object]
    stem: str = ""
    kind: str = ""


def parts(wanted: Sequence[Point], extra_config: ExtraConfig = as_it_is) -> list[Part]:
    """What all of the points run on, in the order in which it is made: the host's packages first.

    Raises:
        Failure: bad-input, for an engine that there is not.
    """
    engines = [base.engine(name) for name in sorted({point.engine for point in wanted})]
    kernels = sorted({(point.source, point.fixes): point for point in wanted}.items())
    disks = {_disk(point): point for point in wanted}
    packages = host_packages.of_groups("engine", "kernel", "image")
    return [
        Part("Debian packages", partial(host_packages.require, *packages)),
        *(
            Part(
                f"kernel {one.kernel_text}",
                partial(kernel.build, *key, extra_config=extra_config(one.source)),
                one.source,
                "kernels",
            )
            for key, one in kernels
        ),
        *(_disk_part(point) for point in disks.values()),
        *(Part(f"engine {engine.name}", engine.prepare) for engine in engines),
    ]


def _disk(point: Point) -> tuple[object, ...]:
    """The same for points whose workload's disk is the same."""
    return (point.workload, *point.workload_definition.on_disk(point.parameters).items())


def _disk_part(point: Point) -> Part:
    work = point.workload_definition
    made_of = ", ".join(f"{key}={value}" for key, value in work.on_disk(point.parameters).items())
    name = f"disk of {point.workload}" + (f" with {made_of}" if made_of else "")
    return Part(name, partial(image.of, point), image.entry_name(work, point.parameters), "images")


def _check_room() -> None:
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root).free
    if not any((root / kind).is_dir() for kind in ("kernels", "images", "engines")) and free < _DISK_GIB << 30:
        raise bad_input(
            f"{root} has {free >> 30} GiB left, and setting up takes {_DISK_GIB}.",
            "Free some, or set MOSBENCH_CACHE to a larger disk.",
        )


def run_points(points: Sequence[Point], root: Path, *, executor: Callable[[], Executor], reuse: str) -> list[Finished]:
    """Run ``points`` into the folder ``root``, one line on the error stream as each ends; what is complete is not submitted."""
    count = 0

    def tell(ended: Finished) -> None:
        nonlocal count
        count += 1
        how = "there already" if ended.reused else f"{ended.outcome.value} after {ended.seconds:.0f} s"
        if ended.outcome is not Outcome.OK:
            how += f": {ended.what}"
        say(f"[{count}/{len(points)}] {ended.point.title}: {how}")

    there, missing = complete(points, root, reuse)
    for ended in there:
        tell(ended)
    return [*there, *(drive.run(executor(), missing, root, reuse, tell) if missing else ())]


def complete(points: Sequence[Point], root: Path, reuse: str) -> tuple[list[Finished], list[Point]]:
    """Points whose complete run in ``root`` stands in for a new one, as ``reuse`` says, and the others. Nothing is built."""
    if reuse == "none" or not root.is_dir():
        return [], list(points)
    runs = {row.name: row for row in catalogue.verified(root)}
    builds: dict[tuple[object, ...], str | None] = {}
    there, missing = [], []
    for point in points:
        row = runs.get(point.id)
        if row is not None and reuse == "same":
            key = (point.engine, point.source, point.fixes, *_disk(point))
            if key not in builds:
                builds[key] = _builds_key(point)
            row = row if row.builds == builds[key] else None
        if row is None:
            missing.append(point)
        else:
            there.append(Finished(point, Outcome.OK, folder=root / point.id, reused=True))
    return there, missing


def _builds_key(point: Point) -> str | None:
    """What the builds that ``point`` runs on are known by; None where one of them is not there: no run was made from it."""
    try:
        with cache.looking():
            return catalogue.builds_key(runner.prepare(point).digests())
    except cache.Missing:
        return None


def run_until_known(
    points: Sequence[Point], root: Path, *, executor: Callable[[], Executor], reuse: str, width: float
) -> list[Finished]:
    """Run ``points``, and of each further trials until the mean of its throughput is known to ``width`` of itself.

    That is when half the 95 % interval is that narrow (Student's t), or there are `MOST_TRIALS`; a point of which a trial fails
    gets no more. All points that need another trial get it at the same time.
    """
    finished: list[Finished] = []
    wanted = list(points)
    while wanted:
        finished += run_points(wanted, root, executor=executor, reuse=reuse)
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

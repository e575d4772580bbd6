# SPDX-License-Identifier: BSD-3-Clause
"""Run one point: prepare kernel, image and engine, execute, extract, measure, and put the run directory in place."""

import os
import platform
import sys
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from analysis.attribute import run_tables
from common import memory
from common.json_files import read_json, write_json
from common.outcome import Failure, Outcome, bad_input
from common.progress import step
from common.version import release, revision
from harness.build import image, kernel
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.run import catalogue, metrics, run_directory
from harness.run.engines import base
from harness.spec import point as points
from harness.spec.point import Point

REUSE = ("same", "any", "none")
"""Which complete run of a point stands in for a new one: made from the same builds; from any; none."""


@dataclass(frozen=True)
class Builds:
    """What a point runs on."""

    kernel: Kernel
    image: Image
    engine: base.Engine
    engine_build: base.EngineBuild

    def digests(self) -> dict[str, str]:
        return {"kernel": self.kernel.digest, "image": self.image.digest, "engine": self.engine_build.digest}


@dataclass(frozen=True)
class Ran:
    """A complete run and whether it was there already."""

    folder: Path
    reused: bool
    notes: tuple[str, ...] = ()


def prepare(point: Point) -> Builds:
    """Build or find what ``point`` runs on; quick when that was done before.

    Raises:
        Failure: bad-input, when something cannot be built on this host.
    """
    engine = base.engine(point.engine)
    engine_build = engine.prepare()  # first: without it there is no point in building the rest
    return Builds(kernel.build(point.source, point.fixes), image.of(point), engine, engine_build)


def run_point(point: Point, root: Path, *, reuse: str = "same", keep: Collection[str] = (), builds: Builds | None = None) -> Ran:
    """Run ``point`` into ``root``, unless a complete run of it is there already. Safe to call from many processes at once.

    ``keep`` names which of `run_directory.RAW` stay when the tables have been made from them; a run that is there must have them.
    ``builds`` (default: what `prepare` says) is for checks, which run a point on a broken kernel or with other engine options.

    Raises:
        Failure: every typed outcome but ok. What was written is set aside then and never counts as a run.
    """
    root = root.absolute()  # an engine works in the run's folder
    builds = builds or prepare(point)
    with run_directory.locked(root, point):
        notes = _make_room(point, root)
        final = root / point.id
        if final.is_dir():
            if reuse == "any" or (reuse == "same" and _made_from(final, builds)):
                _require_kept(final, keep)
                return Ran(final, True, tuple(notes))
            aside = run_directory.set_aside(final, "old")
            why = "made from other builds" if reuse == "same" else "complete"
            notes.append(f"An earlier run of the point, {why}, is now {aside.name}.")
        with run_directory.new_run(root, point) as folder, step(point.title) as current:
            write_json(folder / "provenance.json", provenance(builds, point))
            builds.engine.execute(point, builds.kernel, builds.image, folder, current)
            current.note = "extracting records"
            _extract(point, builds, folder)
            run_directory.drop_raw(folder, keep)
        catalogue.note(final)
        return Ran(final, False, tuple(notes))


def _extract(point: Point, builds: Builds, folder: Path) -> None:
    """The tables and metrics of what the engine wrote."""
    try:
        with image.files_of(builds.image) as files, memory.no_more_than_there_is():
            of_memory = run_tables.write_run_tables(folder, builds.kernel.vmlinux, files)
            write_json(folder / "metrics.json", metrics.measure(folder, point, of_memory))
    except MemoryError:
        size = (folder / "engine" / run_directory.RAW["records"]).stat().st_size
        what = f"The records of the run, {size / 1e9:.1f} GB, need more memory than this host has left to be read."
        cure = (
            "Make less of the workload the region, leave set.count_hits out, use fewer --jobs, or take a host with more memory."
        )
        raise Failure(Outcome.OUT_OF_MEMORY, what, cure) from None


def _make_room(point: Point, root: Path) -> list[str]:
    """Set aside what is in the way of the point's run; sentences about what was."""
    notes = []
    part = root / f".{point.id}.part"
    if part.exists():
        notes.append(f"A run that was cut off is now {run_directory.set_aside(part, 'broken').name}.")
    final = root / point.id
    if final.is_dir() and (wrong := run_directory.fault(final)) is not None:
        notes.append(f"{final.name} is not complete ({wrong}); it is now {run_directory.set_aside(final, 'broken').name}.")
    return notes


def _require_kept(folder: Path, keep: Collection[str]) -> None:
    """
    Raises:
        Failure: bad-input, where a complete run lacks a file that is to be kept.
    """
    names = dict.fromkeys(f"engine/{run_directory.RAW[what]}" for what in keep)
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise bad_input(
            f"The run {folder} is there already, without {' and '.join(missing)}.",
            "Give --reuse none to run its point again and keep that.",
        )


def _made_from(folder: Path, builds: Builds) -> bool:
    known = read_json(folder / "provenance.json").get("digests")
    return bool(known == builds.digests())


def provenance(builds: Builds, point: Point) -> dict[str, Any]:
    """Where a run comes from: source revision, builds, tools, host, the command, and the point as it can be typed."""
    checkout = revision()
    return {
        "release": release(),
        "revision": checkout.commit,
        "dirty": checkout.changed,
        "digests": builds.digests(),
        "kernel_release": builds.kernel.release,
        "engine": {
            "name": builds.engine_build.name,
            "versions": dict(builds.engine_build.versions),
            "note": builds.engine_build.note,
            "cycles": builds.engine_build.cycles,
        },
        "python": platform.python_version(),
        "packages": {d.metadata["Name"]: d.version for d in distributions()},
        "host": {
            "system": platform.platform(),
            "processors": os.cpu_count(),
            "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        },
        "command": sys.orig_argv[1:],
        "point": points.words(point),
    }

# SPDX-License-Identifier: BSD-3-Clause
"""Does a change of one workload leave everything of the others as it is?

Two workloads are copied to a folder and run. Then a byte of one's files is changed: its disk must be another one and its point
be run anew; the other's disk, its stored run, and the boots that gem5 keeps of both must stand. On each kernel that there is.
"""

import argparse
import shutil
from pathlib import Path

from rich.table import Table

from common.paths import WORKLOADS
from common.terminal import console
from harness.build import image, kernel_source
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_source_option, keep, point, prepare_host, scratch
from harness.run import runner
from harness.run.engines import gem5_checkpoint
from harness.run.engines.gem5_binary import Gem5
from harness.spec import workload
from harness.spec.point import Point

NAME = "layers"
SUMMARY = "a byte changed in one workload: the others' disks and runs, and gem5's boots, stand"

_KEPT, _CHANGED = "micro", "stress"
_POINTS = {_KEPT: "micro:open-close:iterations=23,warmup=3", _CHANGED: "stress:seeks:iterations=11"}
_MACHINE = "machine=small-2x2 * cores=2"
_GEM5 = Gem5(Path("/nonexistent/gem5.opt"), "24.0", "MOESI_hammer", "", "is none")
"""No gem5 is needed to tell what a boot is kept by."""


QUICK = ("--source", "default")
BESIDES = f"Workloads are copied to a temporary folder first; the disk of {_CHANGED} is built a second time, with a byte more."


def configure(parser: argparse.ArgumentParser) -> None:
    add_source_option(parser, "only this kernel (default: every one that is there)")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs: the workload that is changed twice."""
    works = [_POINTS[name] for name in (_KEPT, _CHANGED, _CHANGED)]
    return [point(f"workload={work} * {_where(source)}") for source in _sources(arguments) for work in works]


def _sources(arguments: argparse.Namespace) -> list[str]:
    return [arguments.source] if arguments.source else kernel_source.available()


def _where(source: str) -> str:
    return f"{_MACHINE} * kernel={source}:stock"


def run(arguments: argparse.Namespace) -> Check:
    """Run both points, change one workload, and look what of each stands."""
    prepare_host()
    table = Table("kernel", "workload", "what", "wanted", "found", title="After a byte of one workload", title_justify="left")
    judged = wrong = 0
    with scratch(NAME) as folder:
        for name in _POINTS:
            shutil.copytree(WORKLOADS / name, folder / name)
        for source in _sources(arguments):
            before = {name: _Stand(folder, name, source) for name in _POINTS}
            with open(folder / _CHANGED / "guest" / "run", "a", encoding="utf-8") as handle:
                handle.write("\n")
            after = {name: _Stand(folder, name, source) for name in _POINTS}
            for name in _POINTS:
                stays = "stands" if name == _KEPT else "another"
                rows = [
                    ("disk", before[name].digest == after[name].digest, stays),
                    ("stored run", after[name].reused, stays),
                    ("gem5's boot", before[name].boot == after[name].boot, "stands"),
                ]
                for what, same, wanted in rows:
                    found = "stands" if same else "another"
                    table.add_row(source, name, what, wanted, found if found == wanted else f"[red]{found}[/]")
                    judged, wrong = judged + 1, wrong + (found != wanted)
        console().print(table)
        if wrong:
            keep(folder)
    return Check(not wrong, f"{NAME}: {judged - wrong} of {judged} as they should be; wanted: all", judged)


class _Stand:
    """A workload's disk, run and boot now."""

    def __init__(self, folder: Path, name: str, source: str) -> None:
        wanted = point(f"workload={folder}/{_POINTS[name]} * {_where(source)}")
        builds = runner.prepare(wanted)
        self.digest = image.build(workload.load(f"{folder}/{name}")).digest
        self.reused = runner.run_point(wanted, folder / "runs", builds=builds).reused
        self.boot = _boot_of(wanted, builds)


def _boot_of(wanted: Point, builds: runner.Builds) -> dict[str, object]:
    """What gem5's boot for the point is kept by."""
    on_gem5 = point(f"workload={wanted.workload_folder} * {_MACHINE} * engine=gem5 * kernel={wanted.source}:stock")
    return gem5_checkpoint.inputs(on_gem5, builds.kernel, builds.image, _GEM5)

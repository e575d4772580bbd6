# SPDX-License-Identifier: BSD-3-Clause
"""Does the fast engine's model of a core that works ahead take the cycles that gem5's out-of-order processor takes?

The same regions on both, and beside them what in-order cores take. A region's cycles are those in which its cores were busy:
where they wait for a timer or a message, an application is idle for a time that no core decides.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from rich.table import Table

from analysis.attribute.records import read_records
from analysis.report.words import cores_text
from common.progress import step
from common.terminal import console
from harness.build import image, kernel
from harness.checks.registry import Check
from harness.checks.verify.measuring import (
    add_cores_option,
    add_set_option,
    deviation,
    point,
    prepare_host,
    scratch,
    skipped,
    with_settings,
)
from harness.run.engines.base import Engine
from harness.run.engines.fast import FastEngine
from harness.run.engines.gem5 import Gem5Engine
from harness.spec.point import Point

NAME = "core-model"
SUMMARY = "cycles of regions on the fast engine's cores that work ahead, within 20 % of gem5's out-of-order processor"
QUICK = None

_BOUND = 0.2
_CORES = (1, 4)
WORK = (
    "micro:pointer-chase:iterations=2003,warmup=2003,bytes=262144",
    "micro:stream:iterations=11,warmup=3,bytes=262144",
    "micro:private-counters:iterations=2003",
    "micro:open-close:iterations=101,warmup=101",
    "micro:stat:iterations=101,warmup=101",
    "micro:lseek:iterations=503,warmup=101",
    "micro:udp-send:iterations=11,warmup=11",
    "micro:fork-exit:iterations=3,warmup=3",
    "micro:page-fault:iterations=101,warmup=101",
    "micro:pipe:iterations=31,warmup=31",
)
"""Short: in gem5 a processor that works ahead executes some ten thousand instructions a second."""
APPLICATIONS = (
    "exim:split:all_clients=0,clients=1,connections=1,warmup=1",
    "memcached:per-core:load=loopback,batch=20,connections=1,requests=40,warmup=40",
    "postgresql:read-only:load=loopback,batches=1,batch=16,warmup=8,rows=1000,cache_mib=64",
)
"""On one core only, for the same reason."""
SIDES: Mapping[str, tuple[str, str]] = {
    "gem5 o3": ("gem5", "core=o3"),
    "fast in-order": ("fast", "core=in-order"),
    "fast interval": ("fast", "core=interval * set.serializing_cycles=75 * set.outstanding_stores=1 * set.code_prefetch_lines=0"),
}
"""Column -> engine, and its cores. gem5 executes SYSCALL, SYSRET and IRET as microcode whose operations wait for each other, and
no key changes that: the fast engine is told what it takes in place of its default. Fitted to lseek; the others test it. And gem5
gives a store to the caches when the one before it is done, and asks for a line of code when the core comes to it."""
REFERENCE = "gem5 o3"


@dataclass(frozen=True)
class Region:
    """A region's cycles on each side."""

    work: str
    cores: int
    cycles: Mapping[str, float]

    @property
    def deviation(self) -> float:
        return deviation(self.cycles["fast interval"], self.cycles[REFERENCE])

    @property
    def in_order_deviation(self) -> float:
        return deviation(self.cycles["fast in-order"], self.cycles[REFERENCE])


def region_point(work: str, cores: int, side: str, settings: Sequence[str] = ()) -> Point:
    """Where a region of ``work`` is run, on a machine with ``settings``."""
    engine, core = SIDES[side]
    text = f'workload="{work}" * cores={cores} * engine={engine} * set.node_mib=256 * set.{core}'
    return point(with_settings(text, settings))


def busy_cycles(wanted: Point, folder: Path) -> float:
    """Of a core in the region of ``wanted``, run in the new folder ``folder``; the mean of its cores."""
    (folder / "engine").mkdir(parents=True)
    engine: Engine = Gem5Engine(only_region=True) if wanted.engine == "gem5" else FastEngine({"snapshot": "off"})
    engine.prepare()
    built, disk = kernel.build(wanted.source, wanted.fixes), image.of(wanted)
    with step(wanted.title) as current:
        engine.execute(wanted, built, disk, folder, current)
    records = read_records(folder / "engine" / "records.bin")
    return float((records.column("cores", "cycles") - records.column("cores", "idle_cycles")).sum() / wanted.cores)


def configure(parser: argparse.ArgumentParser) -> None:
    add_cores_option(parser, _CORES)
    add_set_option(parser)
    parser.add_argument("--work", action="append", default=[], metavar="WORKLOAD", help="this one only; may be given again")


def _regions(arguments: argparse.Namespace) -> list[tuple[str, int]]:
    """Workload and cores of each."""
    if arguments.work:
        return [(work, count) for count in arguments.cores for work in arguments.work]
    return [(work, count) for count in arguments.cores for work in WORK + (APPLICATIONS if count == 1 else ())]


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, side after side of each region."""
    return [region_point(work, count, side, arguments.set) for work, count in _regions(arguments) for side in SIDES]


def run(arguments: argparse.Namespace) -> Check:
    """Run all regions, print the table, judge the largest deviation."""
    if (nothing := skipped(NAME)) is not None:
        return nothing
    prepare_host()
    found: list[Region] = []
    with scratch(NAME) as folder:
        for work, count in _regions(arguments):
            place = folder / str(len(found))
            taken = {side: busy_cycles(region_point(work, count, side, arguments.set), place / side) for side in SIDES}
            found.append(Region(work, count, taken))
    console().print(table(found))
    if not found:
        return Check(False, f"{NAME}: no region", 0)
    worst = max(found, key=lambda one: one.deviation)
    figure = (
        f"{NAME}: {len(found)} regions, largest deviation {100 * worst.deviation:.1f} % "
        f"({worst.work}, {cores_text(worst.cores)}), mean {100 * fmean(one.deviation for one in found):.1f} %, of in-order cores "
        f"{100 * fmean(one.in_order_deviation for one in found):.1f} %; wanted: at most {100 * _BOUND:g} % each"
    )
    return Check(worst.deviation <= _BOUND, figure, len(found))


def table(regions: Sequence[Region]) -> Table:
    """Regions down; their cycles on each side, and how far the fast engine's cores are from gem5's that work ahead."""
    made = Table("region", "cores", title="Busy cycles of a core in the same region", title_justify="left")
    for heading in (*SIDES, "in-order, deviation", "interval, deviation"):
        made.add_column(heading, justify="right")
    for one in regions:
        got = [f"{one.cycles[side]:,.0f}" for side in SIDES]
        off = [f"{100 * (one.cycles[side] / one.cycles[REFERENCE] - 1):+.1f} %" for side in ("fast in-order", "fast interval")]
        made.add_row(one.work.removeprefix("micro:"), str(one.cores), *got, *off)
    return made

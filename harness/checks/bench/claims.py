# SPDX-License-Identifier: BSD-3-Clause
"""How many hours of a host with two processors do all points of `claims --size` take, and how much memory does the largest?

Nothing is run. What a point took says its run, where there is one; of others it is estimated from the run of the same workload
whose size is nearest (harness/run/forecast.py), rather too much. Kernels, disks and engine, which are built once, are not in it:
`claims --size ... --dry-run` has them.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common import settings
from common.terminal import console
from harness.checks.registry import Check
from harness.run import catalogue, claim_points, known_costs
from harness.run.forecast import Forecast, forecast
from harness.spec.point import Point

NAME = "claims"
SUMMARY = "hours and memory of all points of `claims --size quick|default|paper` on two processors, from runs and estimates"
QUICK = None

_PROCESSORS = 2
_HOURS: Mapping[str, float] = {"quick": 0.5}
"""At most, by size; of other sizes there is no bound."""
_GB = 24.0


@dataclass(frozen=True)
class Group:
    """The points of one application together."""

    name: str
    forecasts: tuple[Forecast, ...]

    def count(self, source: str) -> int:
        return sum(one.source == source for one in self.forecasts)

    @property
    def hours(self) -> float:
        return sum(one.processor_seconds for one in self.forecasts) / 3600 / _PROCESSORS

    @property
    def gigabytes(self) -> float:
        """Of the largest."""
        return max((one.peak_bytes for one in self.forecasts), default=0) / 1e9


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", choices=claim_points.SIZES, default=claim_points.QUICK, help="of the claims (%(default)s)")
    parser.add_argument(
        "--output", type=Path, default=settings.load().runs, metavar="FOLDER", help="folder of the run directories (%(default)s)"
    )


def run(arguments: argparse.Namespace) -> Check:
    """Print what each application's points take, and judge the sum."""
    groups = grouped(claim_points.all_of(arguments.size), catalogue.rows(arguments.output))
    table = Table("application", title=f"claims --size {arguments.size}", title_justify="left")
    for heading in ("points", "from runs", "estimated", "unknown", f"hours, {_PROCESSORS} processors", "peak, GB"):
        table.add_column(heading, justify="right")
    for group in groups:
        counts = [len(group.forecasts), *map(group.count, ("run", "estimate", "unknown"))]
        table.add_row(group.name, *map(str, counts), f"{group.hours:.2f}", f"{group.gigabytes:.1f}")
    console().print(table)
    return judge(arguments.size, groups)


def grouped(points: Sequence[Point], rows: Sequence[catalogue.Row]) -> list[Group]:
    """By application."""
    pace = known_costs.pace(rows)
    found: dict[str, list[Forecast]] = {}
    for point in points:
        found.setdefault(point.workload, []).append(forecast(point, rows, pace))
    return [Group(name, tuple(forecasts)) for name, forecasts in found.items()]


def judge(size: str, groups: Sequence[Group]) -> Check:
    """Against what is wanted; points of which nothing is known are not in the figures, and so none is judged then."""
    every = Group("all", tuple(one for group in groups for one in group.forecasts))
    known, unknown = len(every.forecasts) - every.count("unknown"), every.count("unknown")
    most = _HOURS.get(size)
    held = every.gigabytes <= _GB and (most is None or every.hours <= most) and not unknown
    lacking = f"; {unknown} points are unknown and not in that: run some of their workloads" if unknown else ""
    figure = (
        f"{NAME}: size {size}, {len(every.forecasts)} points, {every.count('run')} from their runs, {every.count('estimate')} "
        f"estimated: {every.hours:.2f} hours on {_PROCESSORS} processors "
        f"({'no bound' if most is None else f'<= {most:g}'}), at most {every.gigabytes:.1f} GB a point (<= {_GB:g}){lacking}"
    )
    return Check(held, figure, known)

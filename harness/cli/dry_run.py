# SPDX-License-Identifier: BSD-3-Clause
"""--dry-run of every command that runs points: what it would build and run, how long and how large, and nothing done."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from common.columns import tell
from common.terminal import console, plain_table
from harness.run import many
from harness.run.plan import Cost, Plan, plan
from harness.spec import point as points_module
from harness.spec.point import Point

UNKNOWN = "unknown"


def add_option(parser: argparse.ArgumentParser) -> None:
    """--dry-run."""
    parser.add_argument("--dry-run", action="store_true", help="only say what would be built and run, how long and how large")


def show(
    points: Sequence[Point],
    root: Path,
    *,
    reuse: str = "same",
    jobs: int = 1,
    more: str = "",
    extra_config: many.ExtraConfig = many.as_it_is,
) -> int:
    """Print what running ``points`` into ``root`` would take; ``more`` is a sentence on what is not known before. Returns 0."""
    if not points and more:
        tell(more)
        return 0
    found = plan(points, root, reuse, extra_config)
    if found.builds:
        table = plain_table("to be built", title=f"Builds: {len(found.builds)}")
        _add_costs(table)
        for name, one in found.builds:
            table.add_row(name, *_cells(one))
        console().print(table)
    table = plain_table("point", title=f"Points: {len(points)}, {len(found.there)} of them there already")
    _add_costs(table)
    costs = {point.id: _cells(one) for point, one in found.points}
    for point, title in zip(points, titles(points), strict=True):
        table.add_row(title, *costs.get(point.id, ("there", "")))
    console().print(table)
    tell(total(found, jobs))
    if more:
        tell(more)
    return 0


def titles(points: Sequence[Point]) -> list[str]:
    """A title for each point; those with the same one say in which parameters and keys of the machine they differ."""
    same: dict[str, list[dict[str, str]]] = {}
    for point in points:
        same.setdefault(point.title, []).append(_details(point))
    found = []
    for point in points:
        group, own = same[point.title], _details(point)
        keys = [key for key in own if any(one.get(key) != own[key] for one in group)]
        found.append(", ".join([point.title, *(f"{key}={own[key]}" for key in keys)]))
    return found


def _details(point: Point) -> dict[str, str]:
    return {**point.parameters, **{key: str(value) for key, value in points_module.machine_changes(point).items()}}


def total(found: Plan, jobs: int) -> str:
    """A sentence on all that is to be built and run."""
    to_do = len(found.builds) + len(found.points)
    if not to_do:
        return "Nothing is to be built or run."
    if found.unknown == to_do:
        return "How long and how large is unknown: nothing like it was built or run here before."
    at_a_time = f", {jobs} points at a time" if jobs > 1 and len(found.points) > 1 else ""
    unknown = f"; {found.unknown} of {to_do} builds and points are unknown and not in that" if found.unknown else ""
    elsewhere = f" For {found.elsewhere} of {to_do} that is what another host took." if found.elsewhere else ""
    return f"In all about {found.minutes(jobs):.1f} minutes and {found.size / 1e9:.3f} GB{at_a_time}{unknown}.{elsewhere}"


def _add_costs(table: Table) -> None:
    for heading in ("minutes", "GB"):
        table.add_column(heading, justify="right", no_wrap=True)


def _cells(cost: Cost) -> tuple[str, str]:
    seconds = UNKNOWN if cost.seconds is None else f"{cost.seconds / 60:.1f}"
    return seconds, UNKNOWN if cost.size is None else f"{cost.size / 1e9:.3f}"

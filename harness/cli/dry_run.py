# SPDX-License-Identifier: BSD-3-Clause
"""--dry-run of every command that runs points: what it would build and run, how long and how large, and nothing done."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from common.columns import tell
from common.terminal import console, plain_table
from harness.run import many
from harness.run.forecast import Forecast
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
        table = _costs_table("to be built", f"Builds: {len(found.builds)}", "minutes", "GB on disk")
        for name, one in found.builds:
            table.add_row(name, *_of_build(one))
        console().print(table)
    title = f"Points: {len(points)}, {len(found.there)} of them there already"
    table = _costs_table("point", title, "minutes", "GB on disk", "GB of memory")
    costs = {point.id: _of_point(one) for point, one in found.points}
    for point, title in zip(points, titles(points), strict=True):
        table.add_row(title, *costs.get(point.id, ("there", "", "")))
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
    memory = f" The largest point takes {found.peak / 1e9:.1f} GB of memory." if found.peak else ""
    resized = f" {found.resized} points are estimated from runs of another size, rather too much." if found.resized else ""
    times = f", times {found.pace:.2f}, this host's processor time over the other's for runs that both made" if found.pace else ""
    elsewhere = f" For {found.elsewhere} of {to_do} that is what another host took{times}." if found.elsewhere else ""
    time_and_size = f"In all about {found.minutes(jobs):.1f} minutes and {found.size / 1e9:.3f} GB on disk"
    return f"{time_and_size}{at_a_time}{unknown}.{memory}{resized}{elsewhere}"


def _costs_table(what: str, title: str, *headings: str) -> Table:
    table = plain_table(what, title=title)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _of_build(cost: Cost) -> tuple[str, str]:
    seconds = UNKNOWN if cost.seconds is None else f"{cost.seconds / 60:.1f}"
    return seconds, UNKNOWN if cost.size is None else f"{cost.size / 1e9:.3f}"


def _of_point(cost: Forecast) -> tuple[str, str, str]:
    if not cost.known:
        return UNKNOWN, UNKNOWN, UNKNOWN
    return f"{cost.processor_seconds / 60:.1f}", f"{cost.bytes / 1e9:.3f}", f"{cost.peak_bytes / 1e9:.1f}"

# SPDX-License-Identifier: BSD-3-Clause
"""`verify applications --engine gem5`: each application does its work right there, at its smallest size.

Runs take long. So they are kept in the folder of the runs, and a complete one from the same builds is used again: a check that
was cut off goes on where it was. With `--windows` most of a region runs without caches, and so do the way to it and the warm-up.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.report import agreement
from analysis.report.runs import Run
from common import settings
from common.arguments import positive
from common.json_files import read_json
from common.outcome import Failure, Outcome
from common.terminal import console, plain_table
from harness.checks.registry import Check
from harness.run import runner
from harness.spec.point import Point

_HOST = (Outcome.BAD_INPUT, Outcome.INTERRUPTED, Outcome.DISK_FULL, Outcome.OUT_OF_MEMORY)
"""Outcomes that say nothing of the application, and end the check."""


@dataclass(frozen=True)
class Ended:
    """How an application's run ended: its sentence where it is not right, else its run."""

    application: str
    point: Point
    said: str = ""
    run: Run | None = None


def add_windows_option(parser: argparse.ArgumentParser) -> None:
    """--windows N."""
    parser.add_argument(
        "--windows", type=positive, default=0, metavar="N", help="on gem5, windows of each region (default: all of it)"
    )


def machine(text: str, windows: int) -> str:
    """The text of a point on gem5; small nodes, which boot sooner."""
    return " * ".join([text, "engine=gem5", "set.node_mib=256", *([f"set.windows={windows}"] if windows else [])])


def run(wanted: Sequence[tuple[str, Point]]) -> Check:
    """Run every application's point, or find its run, and print what each did."""
    ended = [_ended(application, point) for application, point in wanted]
    table = plain_table("application", "cores", "kernel", "result", title="Applications on gem5")
    for heading in ("work measured", "cycles for a unit", "transfers for a unit", "M instructions in the region", "minutes"):
        table.add_column(heading, justify="right")
    for one in ended:
        what = (one.application, str(one.point.cores), one.point.kernel_text, one.said or "right")
        table.add_row(*what, *(_figures(one.run) if one.run is not None else ()))
    console().print(table)
    problems = [
        f"{one.application} on {one.point.cores} cores of {one.point.kernel_text}: {one.said}" for one in ended if one.said
    ]
    for problem in problems:
        print(problem)
    right = len(ended) - len(problems)
    return Check(not problems, f"applications: {right} of {len(ended)} right on gem5; wanted: all", len(ended))


def _ended(application: str, point: Point) -> Ended:
    """The complete run of the point.

    Raises:
        Failure: the host ended it.
    """
    try:
        folder = runner.run_point(point, settings.load().runs).folder
    except Failure as failure:
        if failure.outcome in _HOST:
            raise
        sys.stderr.write(f"{application}: {failure}\n")
        return Ended(application, point, said=str(failure))
    sys.stderr.write(f"{application}: right\n")
    return Ended(application, point, run=Run(folder))


def _figures(run: Run) -> tuple[str, ...]:
    """Of the region, or of its windows; the minutes are all of the host's for the run, from the end of the boot on."""
    side = agreement.read_side(run.folder)
    phases = read_json(run.folder / "engine" / "engine.json")["phases"]
    work = f"{side.units:,.0f} {run.unit}"
    return (
        work,
        f"{side.cycles_per_unit:,.0f}",
        f"{side.transfers_per_unit:.3g}",
        f"{phases['region']['instructions'] / 1e6:,.0f}",
        f"{phases['all']['wall_seconds'] / 60:.0f}",
    )

# SPDX-License-Identifier: BSD-3-Clause
"""What commands that run points do afterwards: a table on the terminal, the report, what failed."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from analysis.report import page
from common import settings
from common.outcome import Failure, Outcome
from common.progress import step
from common.terminal import console
from harness.cli import options
from harness.run import many
from harness.run.executors.base import Finished
from harness.spec.point import Point


def report_path(arguments: argparse.Namespace, command: str) -> Path:
    """Where the report goes: --report, or a name with the time in the folder of reports."""
    if arguments.report is not None:
        return Path(arguments.report)
    return settings.load().reports / f"{command}-{time.strftime('%Y%m%d-%H%M%S')}.html"


def present(folders: Sequence[Path], report: Path, width: float | None = None) -> None:
    """Write the HTML report of complete runs to ``report``, print their table and say where the report is.

    ``width`` is what trials were run for: means that are not known to that share of themselves are marked.
    """
    from analysis.report import tables
    from analysis.report.series import load_runs

    report.parent.mkdir(parents=True, exist_ok=True)
    runs = load_runs(folders)
    with step(f"Writing the report of {len(folders)} runs"):
        page.write(runs, report, width)
    tables.show(runs, console(), width=width)
    print(f"Report: {report.resolve()}")


def run_and_conclude(points: Sequence[Point], arguments: argparse.Namespace, command: str) -> int:
    """Build what ``points`` run on, run them as the options of `options.add_many_options` say, and `conclude`."""
    many.prepare_all(points)
    finished = options.run_points(points, arguments)
    return conclude(finished, points, report_path(arguments, command), options.width(arguments))


def conclude(finished: Sequence[Finished], points: Sequence[Point], report: Path, width: float | None = None) -> int:
    """Present the complete runs in the order of ``points`` and name what failed; returns the exit status.

    The status is that of the first failure, 0 without one. ``width`` as in `present`.
    """
    order = {point.id: number for number, point in enumerate(points)}
    in_order = sorted(finished, key=lambda ended: order.get(ended.point.id, len(order)))
    folders = [ended.folder for ended in in_order if ended.folder is not None]
    if folders:
        present(folders, report, width)
    failures = [ended for ended in in_order if ended.outcome is not Outcome.OK]
    for ended in failures:
        sys.stderr.write(f"mosbench: {ended.point.title}: {Failure(ended.outcome, ended.what, ended.cure)}\n")
    return failures[0].outcome.exit_status if failures else 0

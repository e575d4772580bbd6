# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and what they do before and after running points."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness import settings
from harness.executors.base import Finished
from harness.executors.local import LocalExecutor
from harness.outcome import Failure, Outcome
from harness.point import Point
from harness.progress import step
from harness.runner import REUSE
from harness.terminal import console


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """--output and --reuse."""
    own = settings.load()
    parser.add_argument(
        "--output", type=Path, default=own.runs, metavar="FOLDER", help="folder of the run directories (%(default)s)"
    )
    parser.add_argument(
        "--reuse",
        choices=REUSE,
        default="same",
        help="which complete run of a point stands in for a new one: made from the same builds (default), any, or none",
    )


def add_many_options(parser: argparse.ArgumentParser) -> None:
    """The options of commands that run many points and write a report."""
    add_run_options(parser)
    own = settings.load()
    parser.add_argument("--jobs", type=positive, default=own.job_count, metavar="N", help="points at a time (%(default)s)")
    parser.add_argument("--report", type=Path, default=None, metavar="FILE", help="where to write the HTML report")


def add_trials_option(parser: argparse.ArgumentParser) -> None:
    """--trials; ``trials`` names them."""
    parser.add_argument(
        "--trials",
        type=positive,
        default=1,
        metavar="N",
        help="runs of each point, all but the first perturbed on the fast engine (%(default)s)",
    )


def trials(arguments: argparse.Namespace) -> list[str]:
    """The values of a point's ``trial`` that --trials means: 1, 2, ... N."""
    return [str(number + 1) for number in range(arguments.trials)]


def positive(text: str) -> int:
    """A whole number of 1 or more, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of 1 or more")
    return int(text)


def counts_of_cores(text: str) -> tuple[int, ...]:
    """Numbers of cores, "1,12,48", for argparse."""
    return tuple(map(positive, text.split(",")))


def report_path(arguments: argparse.Namespace, command: str) -> Path:
    """Where the report goes: --report, or a name with the time in the folder of reports."""
    if arguments.report is not None:
        return Path(arguments.report)
    return settings.load().reports / f"{command}-{time.strftime('%Y%m%d-%H%M%S')}.html"


def run_points(points: Sequence[Point], arguments: argparse.Namespace) -> list[Finished]:
    """Run ``points`` with the local executor, one line on the error stream as each ends."""
    count = 0

    def say(ended: Finished) -> None:
        nonlocal count
        count += 1
        how = "there already" if ended.reused else f"{ended.outcome.value} after {ended.seconds:.0f} s"
        if ended.outcome is not Outcome.OK:
            how += f": {ended.what}"
        clear = "\r\033[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{clear}[{count}/{len(points)}] {ended.point.title}: {how}\n")

    return LocalExecutor(arguments.jobs).run(points, Path(arguments.output), arguments.reuse, say)


def present(folders: Sequence[Path], report: Path) -> None:
    """Write the HTML report of complete runs to ``report``, print their table and say where the report is."""
    from analysis import report as reports
    from analysis import tables
    from analysis.runs import load_runs

    report.parent.mkdir(parents=True, exist_ok=True)
    runs = load_runs(folders)
    with step(f"Writing the report of {len(folders)} runs"):
        reports.write(runs, report)
    tables.show(runs, console())
    print(f"Report: {report.resolve()}")


def conclude(finished: Sequence[Finished], points: Sequence[Point], report: Path) -> int:
    """Present the complete runs in the order of ``points`` and name what failed; returns the exit status.

    The status is that of the first failure, 0 without one.
    """
    order = {point.id: number for number, point in enumerate(points)}
    in_order = sorted(finished, key=lambda ended: order[ended.point.id])
    folders = [ended.folder for ended in in_order if ended.folder is not None]
    if folders:
        present(folders, report)
    failures = [ended for ended in in_order if ended.outcome is not Outcome.OK]
    for ended in failures:
        sys.stderr.write(f"mosbench: {ended.point.title}: {Failure(ended.outcome, ended.what, ended.cure)}\n")
    return failures[0].outcome.exit_status if failures else 0

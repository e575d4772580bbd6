# SPDX-License-Identifier: BSD-3-Clause
"""What commands that run points do afterwards: a table on the terminal, the report, what failed."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from analysis.report import page
from analysis.report.runs import Run
from common import settings
from common.columns import say
from common.outcome import Failure, Outcome
from common.progress import step
from common.terminal import console
from common.uncollected import uncollected
from harness.cli import dry_run, options, shown
from harness.run import many
from harness.spec.machine_schema import schema, text
from harness.spec.point import Point


def report_path(arguments: argparse.Namespace, command: str) -> Path:
    """Where the report goes: --report, or a name with the time in the folder of reports."""
    if arguments.report is not None:
        return Path(arguments.report)
    return settings.load().reports / f"{command}-{time.strftime('%Y%m%d-%H%M%S')}.html"


def present(
    folders: Sequence[Path],
    report: Path,
    arguments: argparse.Namespace,
    *,
    steps: bool = False,
    diff: tuple[Run, Run] | None = None,
) -> None:
    """Write the HTML report of complete runs to ``report``, print what the terminal shows of them and say where the report is.

    The options of `harness.cli.shown` say which runs and how much of them, those of `options.add_trials_option` how well a mean
    was to be known; ``steps`` as in `analysis.report.tables.show`, ``diff`` as in `analysis.report.chapters.report`.

    Raises:
        Failure: bad-input, when the options leave no run.
    """
    from analysis.report import tables
    from analysis.report.series import load_runs

    report.parent.mkdir(parents=True, exist_ok=True)
    runs, width = shown.chosen(load_runs(folders), arguments), options.width(arguments)
    with step(f"Writing the report of {len(runs)} runs"), uncollected():
        page.write(runs, report, width, diff)
    tables.show(runs, console(), details=arguments.tables, steps=steps, width=width)
    if not arguments.tables:
        print("\nLines, bottlenecks and functions: in the report, and here with --tables.")
    print(f"Report: {shortest(report)}")


def shortest(path: Path) -> str:
    """A path as it is typed from here: relative where that is below the current folder."""
    whole, here = path.resolve(), Path.cwd()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else str(whole)


def unlike(points: Sequence[Point]) -> list[str]:
    """Sentences, one for each parameter (`Parameter.otherwise`) and key of a machine (`Key.default_on`) whose default engine or
    kernel decides, and did so in different ways among points that somebody may want to compare."""
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for point in points:
        for key, parameter in point.workload_definition.variants[point.variant].parameters.items():
            if parameter.otherwise:
                values = found.setdefault((point.workload_text, key), {})
                values.setdefault(point.parameters[key], set()).add(f"{point.source} on engine {point.engine}")
        for key, value in schema().defaults(point.engine).items():
            if schema().keys[key].default_on and getattr(point.machine, key) == value:
                values = found.setdefault((point.machine.name, f"set.{key}"), {})
                values.setdefault(text(value), set()).add(f"engine {point.engine}")
    sentences = []
    for (work, key), values in found.items():
        if len(values) > 1 and not set.intersection(*values.values()):
            each = " and ".join(f"{key}={value} with {', '.join(sorted(where))}" for value, where in values.items())
            sentences.append(f"{work} has {each}: give {key} to compare the same work.")
    return sentences


def run_and_conclude(points: Sequence[Point], arguments: argparse.Namespace, command: str) -> int:
    """Build what ``points`` run on, run them as the options of `options.add_many_options` say, and conclude: present the complete
    runs in the order of ``points`` and name what failed.

    Returns:
        The exit status: that of the first failure, 0 without one.
    """
    for sentence in unlike(points):
        say(sentence)
    if arguments.dry_run:
        most = f"Further trials of a point, up to {many.MOST_TRIALS}, may follow." if options.width(arguments) else ""
        return dry_run.show(
            points, Path(arguments.output), reuse=arguments.reuse, jobs=arguments.jobs or settings.load().job_count, more=most
        )
    many.prepare_all(points)
    finished = options.run_points(points, arguments)
    order = {point.id: number for number, point in enumerate(points)}
    in_order = sorted(finished, key=lambda ended: order.get(ended.point.id, len(order)))
    folders = [ended.folder for ended in in_order if ended.folder is not None]
    if folders:
        present(folders, report_path(arguments, command), arguments, steps=command == "ablation")
    failures = [ended for ended in in_order if ended.outcome is not Outcome.OK]
    for ended in failures:
        say(f"mosbench: {ended.point.title}: {Failure(ended.outcome, ended.what, ended.cure)}")
    return failures[0].outcome.exit_status if failures else 0

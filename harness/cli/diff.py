# SPDX-License-Identifier: BSD-3-Clause
"""`run.py diff A B`: two runs beside each other, each a folder or the words of a point, with all trials that there are of it."""

import argparse
from pathlib import Path

from analysis.attribute.tables import is_of_this_format
from analysis.report import differences
from analysis.report.runs import Run
from analysis.report.series import load_runs
from common.arguments import positive
from common.columns import lines
from common.outcome import bad_input
from common.terminal import console
from harness.cli import which
from harness.run import catalogue


def configure(parser: argparse.ArgumentParser) -> None:
    which.add_run_argument(parser, "a")
    which.add_run_argument(parser, "b")
    which.add_output_option(parser)
    parser.add_argument("--fields", type=positive, default=15, metavar="N", help="how many fields to show (%(default)s)")


def main(arguments: argparse.Namespace) -> int:
    one, other = (_with_trials(which.run_of(text, arguments.output)) for text in (arguments.a, arguments.b))
    if one.folder.resolve() == other.folder.resolve():
        raise bad_input(f"A and B are one run, {one.folder}.", "Name two.")
    found, shown = differences.difference(one, other), console()
    for name, run in (("A", one), ("B", other)):
        print(lines(f"{name}: {run.caption}", shown.width))
    print(lines(differences.sentence(found), shown.width))
    print()
    shown.print(differences.settings_table(found))
    print()
    if found.fields:
        shown.print(differences.field_table(found, arguments.fields))
        print(f"\n{differences.counts(found.fields).capitalize()}.")
    else:
        print("Hardly a line moves between cores in either run.")
    return 0


def _with_trials(folder: Path) -> Run:
    """The run in ``folder``, which knows of the other trials of its point that are beside it, of the same builds."""
    wanted, root = Run(folder), folder.resolve().parent
    workload, cores = wanted.workload, wanted.cores
    beside = [root / row.name for row in catalogue.verified(root) if (row.workload, row.cores) == (workload, cores)]
    others = map(Run, (path for path in beside if path != folder.resolve() and is_of_this_format(path)))
    trials = [run.folder for run in others if run.settings == wanted.settings and run.builds == wanted.builds]
    (found,) = load_runs([folder, *trials])
    return found

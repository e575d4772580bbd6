# SPDX-License-Identifier: BSD-3-Clause
"""`run.py diff A B`: two runs beside each other, each a folder or the words of a point, with all trials that there are of it."""

import argparse

from analysis.report import differences
from common.arguments import positive
from common.columns import lines
from common.terminal import console
from harness.cli import which


def configure(parser: argparse.ArgumentParser) -> None:
    which.add_run_argument(parser, "a")
    which.add_run_argument(parser, "b")
    which.add_output_option(parser)
    parser.add_argument("--fields", type=positive, default=15, metavar="N", help="how many fields to show (%(default)s)")


def main(arguments: argparse.Namespace) -> int:
    one, other = which.two_runs(arguments.a, arguments.b, arguments.output)
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

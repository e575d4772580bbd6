# SPDX-License-Identifier: BSD-3-Clause
"""`run.py sweep TEXT`: run a set of points written as products and alternatives of settings."""

import argparse

from common.once import reading_once
from common.outcome import bad_input
from harness.cli import options, shown
from harness.cli.conclude import run_and_conclude
from harness.spec import point as points
from harness.spec import sweep


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sweep", metavar="SWEEP", help='for example "workload=micro:stat+micro:lseek * cores=1+48"')
    options.add_trials_option(parser)
    options.add_many_options(parser)
    shown.add_filters(parser)


def main(arguments: argparse.Namespace) -> int:
    space = sweep.parse(arguments.sweep)
    options.say_notes(space)
    if arguments.trials != 1:
        if any("trial" in one for one in space.settings):
            raise bad_input("The sweep names trials, and so does --trials.", "Give one of the two.")
        space = space * sweep.alternatives("trial", options.trials(arguments))
    with reading_once():
        wanted = [points.resolve(one) for one in space.settings]
    return run_and_conclude(wanted, arguments, "sweep")

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py sweep TEXT`: run a set of points written as products and alternatives of settings."""

import argparse

from common.once import reading_once
from harness.cli import options
from harness.cli.conclude import run_and_conclude
from harness.spec import point as points
from harness.spec.point import Point


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sweep", nargs="?", default="", metavar="SWEEP", help='for example "workload=micro:stat+micro:lseek * cores=1+48"'
    )
    options.add_point_options(parser)
    options.add_trials_option(parser)
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    return run_and_conclude(select(arguments), arguments, "sweep")


def select(arguments: argparse.Namespace) -> list[Point]:
    """The points that SWEEP and the options mean.

    Raises:
        Failure: bad-input, naming the setting.
    """
    space = options.space(arguments.sweep, options.given(arguments))
    with reading_once():
        return [points.resolve(one) for one in space.settings]

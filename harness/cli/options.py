# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and what they mean."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from common import settings
from common.arguments import positive
from common.outcome import bad_input
from harness.run import many
from harness.run.executors.base import Finished
from harness.run.runner import REUSE
from harness.spec.point import Point
from harness.spec.sweep import Space


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


def run_points(points: Sequence[Point], arguments: argparse.Namespace) -> list[Finished]:
    """Run ``points`` as the options of `add_many_options` say."""
    return many.run_points(points, Path(arguments.output), jobs=arguments.jobs, reuse=arguments.reuse)


def say_notes(space: Space) -> None:
    """Say what was understood of a sweep that is not written there."""
    for note in space.notes:
        sys.stderr.write(f"mosbench: {note}\n")


def settings_text(text: str) -> tuple[str, str]:
    """KEY=VALUE of a --set."""
    key, equals, value = text.partition("=")
    if not equals:
        raise bad_input(f"--set {text} is not KEY=VALUE.", "Write for example --set l2_kib=1024.")
    return key, value

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py reproduce RUN`: is the run whole, and does its point give the same files once more?

The exit status is 0 where all files are the same that have to be, 1 where one is not, and that of the failure where the point
does not run.
"""

import argparse
from collections.abc import Sequence

from analysis.report.runs import Run
from common.columns import lines
from common.outcome import bad_input
from common.terminal import console, plain_table
from harness.checks.verify.measuring import keep, prepare_host, scratch
from harness.cli import which
from harness.run import reproduction, runner
from harness.run.reproduction import Compared
from harness.spec import point as points


def configure(parser: argparse.ArgumentParser) -> None:
    which.add_run_argument(parser, "run")
    which.add_output_option(parser)


def main(arguments: argparse.Namespace) -> int:
    folder = which.run_of(arguments.run, arguments.output)
    point = points.read(folder / "point.toml")
    if point.id != (was := Run(folder).point["id"]):
        raise bad_input(
            f"The point of {folder} was {was} and is {point.id} today: what a point consists of has changed since.",
            "Reproduce it with the release or commit that its provenance.json names.",
        )
    points.check(point)
    print(lines(f"{folder} is whole: its files are those of its manifest.", console().width))
    prepare_host()
    with scratch("reproduce") as place:
        again = runner.run_point(point, place, reuse="none").folder
        made, found = reproduction.builds(folder, again), reproduction.files(folder, again)
        _show("Builds", made)
        _show("Files", found)
        if status := int(not all(one.same for one in found)):
            keep(again.parent)
    print("\n" + lines(verdict(made, found), console().width))
    return status


def _show(title: str, compared: Sequence[Compared]) -> None:
    table = plain_table("what", "", title=title)
    for one in compared:
        table.add_row(one.name, "same" if one.same else "[red]different[/]")
    print()
    console().print(table)


def verdict(made: Sequence[Compared], found: Sequence[Compared]) -> str:
    """What came out, in a sentence."""
    other = [one.name for one in made if not one.same]
    different = [one.name for one in found if not one.same]
    builds = f"It was made from another {' and '.join(other)}; these files" if other else "On the same builds these files"
    if different:
        return f"Not reproduced. {builds} are not the same: {', '.join(different)}."
    though = f", though the {' and '.join(other)} is another build" if other else ""
    return f"Reproduced: {len(found)} files are the same{though}."

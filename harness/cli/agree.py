# SPDX-License-Identifier: BSD-3-Clause
"""`run.py agree POINT`: run one point on both engines, and print where they agree and where not."""

import argparse
from dataclasses import replace

from analysis.report.agreement import Agreement, read_side, tables
from common.terminal import console
from harness.build import host_packages
from harness.cli import options
from harness.cli.which import read
from harness.run import runner
from harness.run.engines import base
from harness.spec.point import Point, with_engine


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "point", metavar="POINT", help='settings such as "workload=micro:open-close * cores=8"; engine= is not needed'
    )
    options.add_run_options(parser)


def side(point: Point, engine: str) -> Point:
    """The point on ``engine``. Where gem5 measures windows of the region, the fast engine measures all of it, its caches filling
    from the job's start on, as theirs do."""
    if point.machine.windows and engine != "gem5":
        point = replace(point, machine=replace(point.machine, windows=0, caches_from="job"))
    return with_engine(point, engine)


def main(arguments: argparse.Namespace) -> int:
    point = read(arguments.point, engine="gem5")  # what it has, the other has too
    base.engine("gem5").prepare()  # before the other engine has run for nothing
    host_packages.require(*host_packages.of_groups("engine", "kernel", "image"))
    sides = {}
    for engine in ("fast", "gem5"):
        ran = runner.run_point(side(point, engine), arguments.output, reuse=arguments.reuse)
        sides[engine] = read_side(ran.folder)
    agreement = Agreement(sides["fast"], sides["gem5"])
    for table in tables(agreement, replace(point, engine="both").title):
        console().print(table)
    chance = [
        f" (95 % interval of {one.engine}'s windows: ± {100 * one.sure['transfers']:.0f} %)" for one in sides.values() if one.sure
    ]
    print(
        f"agree: transfers per unit differ by {100 * agreement.deviation:.1f} %{''.join(chance)}, of lines that are written by "
        f"{100 * agreement.deviation_written:.1f} %; {agreement.common} of the top {len(agreement.telling)} lines are the same"
    )
    return 0

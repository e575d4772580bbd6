# SPDX-License-Identifier: BSD-3-Clause
"""Do the two engines tell the same of the same work?

Each point is run on both. gem5's protocol has no third level of cache, so what memory serves and how long it takes must differ;
which lines move between cores, and how often, must not.

Two cores in short loops fall into a beat with the time that a line takes between them: whether a core loses a line before its
load or between load and store decides a third of the transfers, and is the same each time round. So with two cores each work is
run on machines with several such times, and the sums are compared.
"""

import argparse
from dataclasses import replace

from rich.table import Table

from analysis.report import agreement
from analysis.report.words import cores_text
from common.outcome import Failure
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_cores_option, add_engine_option, point, prepare_host, scratch, skipped
from harness.run import runner
from harness.spec.point import Point

NAME = "agree"
SUMMARY = "the same work on both engines: transfers per unit within 15 %, the same hottest lines"

QUICK = ("--cores", "2")

_BOUND = 0.15
_CORES = (2, 8, 48)
_MEMORY = " * set.node_mib=256"
_WORK = {
    "ping-pong:iterations={},warmup=53": (1009, 20011),
    "false-sharing:iterations={},warmup=23": (2003, 20011),
    "shared-atomic:iterations={},warmup=23": (2003, 20011),
    "open-close:iterations={},warmup=53": (211, 53),
}
"""Work -> iterations of each core where there are few, and on 48 cores.

Whether a tick of the clock falls into a region of less than a millisecond is chance. In gem5, where caches begin cold, the first
moves 11,000 lines on 48 busy cores: more than half of what 4001 additions of each move. So there the regions are longer."""
_FEW = 8
_BEATS = (108, 120, 132)
"""transfer_cycles of the machines on which two cores run."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser, ["gem5"])
    add_cores_option(parser, _CORES)


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, on both engines."""
    found = [one for count in arguments.cores for text in _WORK for one in _points(text, count)]
    return [replace(one, engine=engine) for one in found for engine in ("fast", "gem5")]


def _points(text: str, count: int) -> list[Point]:
    """The points of a work on so many cores, whose sums are compared."""
    machines = [f" * set.transfer_cycles={cycles}" for cycles in _BEATS] if count == 2 else [""]
    work = text.format(_WORK[text][count > _FEW])
    return [point(f'workload="micro:{work}" * cores={count}{_MEMORY}{machine}') for machine in machines]


def run(arguments: argparse.Namespace) -> Check:
    """Run all points, print the table, judge the largest deviation and the lines."""
    if (nothing := skipped(NAME)) is not None:
        return nothing
    prepare_host()
    found: list[tuple[str, agreement.Agreement]] = []
    problems: list[str] = []
    with scratch(NAME) as folder:
        for count in arguments.cores:
            for text in _WORK:
                title = f"{text.partition(':')[0]}, {cores_text(count)}"
                points = _points(text, count)
                try:
                    sides = {
                        engine: agreement.together(
                            [agreement.read_side(runner.run_point(replace(one, engine=engine), folder).folder) for one in points]
                        )
                        for engine in ("fast", "gem5")
                    }
                except Failure as failure:
                    problems.append(f"{title}: {failure.unless_interrupted()}")
                    continue
                found.append((title, agreement.Agreement(sides["fast"], sides["gem5"])))
                for table in agreement.tables(found[-1][1], found[-1][0]):
                    console().print(table)
    table = Table(
        "work",
        "fast",
        "gem5",
        "deviation",
        "of written lines",
        "hottest lines",
        title="Transfers per unit",
        title_justify="left",
    )
    for title, one in found:
        table.add_row(
            title,
            f"{one.first.transfers_per_unit:.3f}",
            f"{one.second.transfers_per_unit:.3f}",
            f"{100 * one.deviation:.1f} %",
            f"{100 * one.deviation_written:.1f} %",
            f"{one.common} of {len(one.telling)}",
        )
    console().print(table)
    problems += [f"{title}: {100 * one.deviation:.1f} %" for title, one in found if one.deviation > _BOUND]
    problems += [f"{title}: {one.common} of {len(one.telling)} lines" for title, one in found if one.common < len(one.telling)]
    problems += [f"{title}: no transfers" for title, one in found if not one.telling]
    figure = (
        f"{NAME}: {len(found)} points, {len(problems)} disagreements"
        f"{' (' + '; '.join(problems) + ')' if problems else ''}; wanted: transfers per unit within {100 * _BOUND:g} %, the same "
        f"top {agreement.TOP}"
    )
    return Check(not problems, figure, len(found))

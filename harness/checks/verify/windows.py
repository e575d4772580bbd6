# SPDX-License-Identifier: BSD-3-Clause
"""Do windows of a region cost for a unit of work what all of it does?

Each point runs in gem5 with all of its job timed (`caches_from=job`), and again in windows between which processors without
caches go on. What a window's caches hold is made from a record of accesses then, and has come about by itself in the other run:
`stream` reads a buffer of each core's own: one that its L3 holds, where each read of memory is a line that caches should have
had, and one of 4 MiB, of which two are more than a socket's caches hold. The cores of open-close share lines.
"""

import argparse
from dataclasses import replace

from analysis.report import agreement, windows
from analysis.report.runs import Run
from analysis.report.words import cores_text
from common.outcome import Failure
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify import agree
from harness.checks.verify.measuring import add_cores_option, add_engine_option, point, prepare_host, scratch, skipped
from harness.run import runner
from harness.spec.point import Point

NAME = "windows"
SUMMARY = "gem5: windows of a region cost for a unit of work what all of it does, within what two engines may be apart"

QUICK = ("--cores", "2")

_CORES = (8,)
_MACHINE = "engine=gem5 * set.node_mib=256"
_WHOLE = " * set.caches_from=job"
_WINDOWS = " * set.windows=20 * set.window_cycles=60000 * set.window_lead_cycles=30000"
_WORK = (
    "open-close:iterations=211,warmup=53,between=1009",
    "stream:bytes=1048576,iterations=128,warmup=32",
    "stream:bytes=4194304,iterations=64,warmup=64",
)


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser, ["gem5"])
    add_cores_option(parser, _CORES)


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs: each work whole, and in windows."""
    return [one for count in arguments.cores for work in _WORK for one in _points(work, count)]


def _points(work: str, count: int) -> tuple[Point, Point]:
    whole, sampled = (point(f'{_MACHINE} * workload="micro:{work}" * cores={count}{how}') for how in (_WHOLE, _WINDOWS))
    return whole, sampled


def run(arguments: argparse.Namespace) -> Check:
    """Run all, print what windows say beside the whole region, judge as `agree` does."""
    if (nothing := skipped(NAME)) is not None:
        return nothing
    prepare_host()
    problems, compared = list[str](), 0
    with scratch(NAME) as folder:
        for count in arguments.cores:
            for work in _WORK:
                title = f"{work.split(',')[0]}, {cores_text(count)}"
                try:
                    whole, sampled = (runner.run_point(one, folder).folder for one in _points(work, count))
                except Failure as failure:
                    problems.append(f"{title}: {failure.unless_interrupted()}")
                    continue
                found = agreement.Agreement(
                    replace(agreement.read_side(whole), engine="whole region"),
                    replace(agreement.read_side(sampled), engine="windows"),
                )
                compared += 1
                for table in (*agreement.tables(found, title), windows.table(Run(sampled))):
                    console().print(table)
                problems += [f"{title}: {problem}" for problem in agree.disagreements(found)]
    said = f" ({'; '.join(problems)})" if problems else ""
    figure = f"{NAME}: {compared} works, {len(problems)} disagreements{said}; wanted: none, with the bounds of agree"
    return Check(not problems, figure, compared)

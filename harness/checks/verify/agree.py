# SPDX-License-Identifier: BSD-3-Clause
"""Do the two engines tell the same of the same work?

Each point is run on both, three trials of it, and their sums are compared. All are disturbed a little (from the second on). Two
cores in short loops fall into a beat with the time that a line takes between them: how many additions fit in before a core loses
the line decides a third of the transfers, and is the same each time round. So with two cores each trial has another such time.

Lines that the region only reads are left out of the transfers, since a tick of the clock brings the code of its handler where
caches began cold.

Some works share lines. In false-sharing, and with few cores in open-close, cores work for random times in between: without that
they fall into step, and which of several orders lasts is chance (workloads/micro/README.md). `stream` has each core read a buffer
of its own: one that its L3 holds, and one that no cache does.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.table import Table

from analysis.report import agreement
from analysis.report.words import cores_text
from common.arguments import positive
from common.outcome import Failure
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_cores_option, add_engine_option, point, prepare_host, scratch, skipped
from harness.run import runner
from harness.spec.machine import DEFAULT_ENGINE, ENGINES
from harness.spec.point import Point

NAME = "agree"
SUMMARY = "the same work on both engines: transfers within 10 %, L3 hits, memory reads and probes 15 %, cycles 25 %"

QUICK = ("--cores", "2")

_BOUND, _BOUND_OF_TRANSFERS, _BOUND_OF_CYCLES = 0.15, 0.10, 0.25
_CORES = (2, 8, 48)
_TRIALS = 3
_MEMORY = " * set.node_mib=256"
_WORK = {
    "ping-pong:iterations={},warmup=53": (("1009",), ("20011",)),
    "false-sharing:iterations={},warmup={},between={}": (("503", "23", "1009"), ("101", "301", "5003")),
    "shared-atomic:iterations={},warmup=23": (("2003",), ("2003",)),
    "ticket-lock:iterations={},warmup={},node=0": (("503", "53"), ("53", "23")),
    "open-close:iterations={},warmup={},between={}": (("211", "53", "1009"), ("53", "151", "0")),
    "stream:bytes=1048576,iterations={},warmup=32": (("64",), ("16",)),
    "stream:bytes={},iterations={},warmup={}": (("8388608", "64", "128"), ("2097152", "16", "32")),
}
"""Work -> its figures where there are few cores, and on 48.

In gem5, where caches begin cold, the first tick of the clock moves 11,000 lines on 48 busy cores. So the region of ping-pong,
where two of them do something, is longer there, and open-close and false-sharing warm up for more than four milliseconds, till
such a tick is behind them. Cores of false-sharing work between their additions for about as long as all others take for one: by
shorter times the order in which they come hardly changes, and it decides how many probes are broadcasts. `stream` reads 64 KiB
in an iteration and its whole buffer before the region. Where all six cores of a socket read, each has 1.3 MiB of caches, and
2 MiB are more than they hold."""
_FEW = 8
_BEATS = (120, 108, 132)
"""transfer_cycles of the machines on which two cores run, trial after trial."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser, [name for name in ENGINES if name != DEFAULT_ENGINE])
    add_cores_option(parser, _CORES)
    parser.add_argument("--trials", type=positive, default=_TRIALS, metavar="N", help="of each point and engine (%(default)s)")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, on both engines."""
    found = [one for count in arguments.cores for text in _WORK for one in _points(text, count, arguments.trials)]
    return [replace(one, engine=engine) for one in found for engine in ("fast", "gem5")]


def _work(text: str, count: int) -> str:
    return text.format(*_WORK[text][count > _FEW])


def _points(text: str, count: int, trials: int) -> list[Point]:
    """The points of a work on so many cores, whose sums are compared."""
    work = _work(text, count)
    machines = [f" * set.transfer_cycles={cycles}" for cycles in _BEATS] if count == 2 else [""]
    found = [point(f'workload="micro:{work}" * cores={count} * set.core=in-order{_MEMORY}{machine}') for machine in machines]
    return [replace(found[number % len(found)], trial=number + 2) for number in range(trials)]


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
                title = f"{_name(_work(text, count))}, {cores_text(count)}"
                points = _points(text, count, arguments.trials)
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
    console().print(_table(found))
    problems += [f"{title}: {problem}" for title, one in found for problem in disagreements(one)]
    figure = (
        f"{NAME}: {len(found)} points, {len(problems)} disagreements"
        f"{' (' + '; '.join(problems) + ')' if problems else ''}; wanted: per unit, transfers within "
        f"{100 * _BOUND_OF_TRANSFERS:g} %, other counts within {100 * _BOUND:g} %, cycles within {100 * _BOUND_OF_CYCLES:g} %, "
        f"the same top {agreement.TOP}"
    )
    return Check(not problems, figure, len(found))


def _name(work: str) -> str:
    """The benchmark, and its buffer where it has one."""
    name, _, parameters = work.partition(":")
    return f"{name} {parameters.split(',')[0]}" if parameters.startswith("bytes") else name


def disagreements(one: agreement.Agreement) -> Iterator[str]:
    """What is further apart than it may be, and a work of which nothing was seen."""
    apart = one.deviations
    for name, deviation in apart.items():
        if deviation > (_BOUND_OF_TRANSFERS if name == "transfers" else _BOUND):
            yield f"{name} {100 * deviation:.1f} %"
    if not apart:
        yield "nothing was counted"
    if one.deviation_cycles > _BOUND_OF_CYCLES:
        yield f"cycles {100 * one.deviation_cycles:.1f} %"
    if "transfers" in apart and one.common < len(one.telling):
        yield f"{one.common} of {len(one.telling)} lines"


def _table(found: Sequence[tuple[str, agreement.Agreement]]) -> Table:
    table = Table("work", title="Deviations per unit of work", title_justify="left")
    for heading in (*agreement.COUNTS, "cycles", "hottest lines"):
        table.add_column(heading, justify="right")
    for title, one in found:
        apart = one.deviations
        cells = [f"{100 * apart[name]:.1f} %" if name in apart else "" for name in agreement.COUNTS]
        lines = f"{one.common} of {len(one.telling)}" if "transfers" in apart else ""
        table.add_row(title, *cells, f"{100 * one.deviation_cycles:.1f} %", lines)
    return table

# SPDX-License-Identifier: BSD-3-Clause
"""Do the model's counters say what a program with a known sharing pattern must have caused?

Each benchmark names its lines under test and what the protocol says must happen to them in the region (``lines`` and
``expected`` of its result). Numbers of iterations are prime, so no other count of the system can be taken for the answer.
Hits are counted too (count_hits=1), except in the one case that shows that transfers do not depend on it.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from analysis.attribute import schema
from analysis.attribute.records import Records
from common.outcome import Failure, Outcome
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import (
    Measured,
    add_engine_option,
    add_set_option,
    deviation,
    execute,
    point,
    prepare_host,
    scratch,
    skipped,
    with_settings,
)
from harness.spec.point import Point

NAME = "known-answers"
SUMMARY = "ping-pong, upgrades and false sharing, prime numbers of them: counted exact to 1 %"

_BOUND = 0.01
_LINE = 64
_CORES = 12  # two sockets
CASES = {
    "ping-pong, same socket": ("ping-pong:iterations=10007,a=0,b=1", True),
    "ping-pong, two sockets": ("ping-pong:iterations=10007,a=0,b=6", True),
    "the same, hits not counted": ("ping-pong:iterations=10007,a=0,b=6", False),
    "upgrades, two sockets": ("upgrades:iterations=7919,a=5,b=11", True),
    "false sharing, 12 cores": ("false-sharing:iterations=997,turns=strict", True),
    "private counters, 12 cores": ("private-counters:iterations=20011", True),
    "one atomic counter, 12 cores": ("shared-atomic:iterations=2003", True),
}
"""Title -> microbenchmark and whether hits are counted."""

GEM5_CASES = {
    "ping-pong, same socket": ("ping-pong:iterations=1009,a=0,b=1", False),
    "ping-pong, two sockets": ("ping-pong:iterations=1009,a=0,b=2", False),
    "upgrades, two sockets": ("upgrades:iterations=503,a=1,b=2", False),
    "false sharing, 4 cores": ("false-sharing:iterations=101,turns=strict", False),
    "private counters, 4 cores": ("private-counters:iterations=1009", False),
}
"""The same patterns where an instruction takes a hundred times longer to simulate. gem5 does not see hits."""
_GEM5_MACHINE = "engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=4"

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "transfers": ("transfers_same_socket", "transfers_other_socket"),
    "upgrades": ("upgrades",),
    "reads": ("reads",),
    "writes": ("writes",),
    "atomics": ("atomics",),
}


@dataclass(frozen=True)
class Answer:
    """One counter over all lines under test of one case. ``scale`` is what a deviation from zero is a share of."""

    case: str
    counter: str
    got: int
    want: int
    scale: int

    @property
    def deviation(self) -> float:
        return abs(self.got) / self.scale if self.want == 0 else deviation(self.got, self.want)


def counted(records: Records, addresses: list[int], counter: str) -> int:
    """``counter`` summed over the user lines at virtual ``addresses``."""
    vaddr, kernel = records.column("lines", "vaddr"), records.column("lines", "kernel")
    chosen = np.isin(vaddr // _LINE, np.array(addresses, np.uint64) // _LINE) & (kernel == 0)
    return sum(int(records.column("lines", column)[chosen].sum()) for column in _COLUMNS[counter])


def counts(measured: Measured, counter: str) -> bool:
    """Whether the point was to count it: some counters need a setting. What the records have does not matter here."""
    of_lines = schema.load().tables["lines"].by_name
    settings = {of_lines[column].setting for column in _COLUMNS[counter]} - {""}
    return all(getattr(measured.point.machine, setting) for setting in settings)


def answers(case: str, measured: Measured) -> list[Answer]:
    """Every expected counter that the point was to count.

    Raises:
        Failure: bad-input, when the records lack one of them; wrong-result, when there is none.
    """
    addresses = [int(address, 16) for address in measured.result["lines"].values()]
    found = [
        Answer(case, counter, counted(measured.records, addresses, counter), want, scale=int(measured.result["units"]))
        for counter, want in measured.result["expected"].items()
        if counts(measured, counter)
    ]
    if not found or not addresses:
        raise Failure(
            Outcome.WRONG_RESULT, f"{case}: the guest expects nothing that was counted.", "See the result line in console.log."
        )
    return found


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)
    add_set_option(parser)


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, in the order of the cases."""
    if arguments.engine != "fast":
        texts = [f'workload="micro:{benchmark}" * {_GEM5_MACHINE}' for benchmark, _ in GEM5_CASES.values()]
    else:
        where = f"cores={_CORES} * set.count_hits="
        texts = [f'workload="micro:{benchmark}" * {where}{int(count_hits)}' for benchmark, count_hits in CASES.values()]
    return [point(with_settings(text, arguments.set)) for text in texts]


def run(arguments: argparse.Namespace) -> Check:
    """Run every case, print what was counted beside what must be, judge the largest deviation."""
    engine = arguments.engine
    if (nothing := skipped(NAME, engine)) is not None:
        return nothing
    prepare_host()
    found: list[Answer] = []
    with scratch(NAME) as folder:
        cases = CASES if engine == "fast" else GEM5_CASES
        for number, (case, wanted) in enumerate(zip(cases, planned(arguments), strict=True)):
            found += answers(case, execute(wanted, folder / str(number)))
    table = Table("case", "counter", title="Counted on the lines under test", title_justify="left")
    for heading in ("counted", "must be", "deviation"):
        table.add_column(heading, justify="right")
    for one in found:
        table.add_row(one.case, one.counter, f"{one.got:,}", f"{one.want:,}", f"{100 * one.deviation:.3f} %")
    console().print(table)
    if not found:
        return Check(False, f"{NAME}: engine {engine}, no case", 0)
    worst = max(found, key=lambda one: one.deviation)
    figure = (
        f"{NAME}: engine {engine}, {len(found)} counters, largest deviation {100 * worst.deviation:.3f} % "
        f"({worst.got:,} {worst.counter} instead of {worst.want:,}, {worst.case}); wanted: at most {100 * _BOUND:g} %"
    )
    return Check(worst.deviation <= _BOUND, figure, len(found))

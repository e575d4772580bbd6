# SPDX-License-Identifier: BSD-3-Clause
"""Does a report name the callers of a lock, with the shares that they have?

`micro:three-takers` takes one lock of the kernel, that of a file table, in three system calls in shares 2 : 3 : 5. It runs on
each kernel that this host has a source of, and is read as the report reads it: the lock's takers have to have these shares,
and next to nothing may be left for others. Every transfer is looked at (`chain_period_transfers=1`), so no difference is an
error of sampling.
"""

import argparse
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rich.table import Table

from analysis.attribute.tables import read_table
from analysis.report.callers import Taker, takers
from common.outcome import bad_input
from common.terminal import console
from harness.build.kernel_source import available
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_engine_option, add_source_option, point, prepare_host, scratch, skipped
from harness.run import runner
from harness.spec.point import Point

NAME = "callers"
SUMMARY = "a lock that three system calls take in shares 2 : 3 : 5: the callers that are found have these shares within 2 %"
QUICK = ("--source", "default")

_WORKS = {
    "fast": "workload=micro:three-takers * cores=12 * set.chain_period_transfers=1",
    # A pause is an instruction like any other there.
    "gem5": "workload=micro:three-takers:iterations=211,warmup=5,pauses=6007 * engine=gem5 * machine=small-2x2 * set.node_mib=256"
    " * cores=4 * set.chain_period_transfers=1",
}
_LOCK = "files_struct.file_lock*"
_SHARES = {"fcntl": 0.2, "close": 0.3, "dup2": 0.5}
# The functions of each call that may be the one that takes the lock, by what the compiler inlined.
_FUNCTIONS: Mapping[str, Sequence[str]] = {
    "fcntl": ("set_close_on_exec", "do_fcntl", "*sys_fcntl*"),
    "close": ("close_fd", "*sys_close*"),
    "dup2": ("ksys_dup3", "do_dup2", "*sys_dup2*", "*sys_dup3*"),
}
_BOUND = 0.02
"""Of each share, and of all transfers for what nobody of the three takes."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)
    add_source_option(parser, "one kernel only (default: each that this host has a source of)")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, one on each kernel."""
    sources = [arguments.source] if arguments.source else available()
    return [point(f"{_WORKS[arguments.engine]} * kernel={source}") for source in sources]


def run(arguments: argparse.Namespace) -> Check:
    """Run the workload on each kernel, print the shares, judge the worst deviation."""
    if (nothing := skipped(NAME, arguments.engine)) is not None:
        return nothing
    prepare_host()
    wanted_points = planned(arguments)
    sources = [one.source for one in wanted_points]
    table = Table("kernel", "call", title="Who takes the lock of the file table", title_justify="left")
    for heading in ("share", "wanted", "deviation"):
        table.add_column(heading, justify="right")
    worst, judged = 0.0, 0
    with scratch(NAME) as folder:
        for one in wanted_points:
            source = one.source
            shares = shares_of(found := lock_takers(runner.run_point(one, folder).folder))
            for call, wanted in _SHARES.items():
                deviation = abs(shares[call] / wanted - 1)
                cells = (f"{100 * shares[call]:.2f} %", f"{100 * wanted:.0f} %", f"{100 * deviation:.2f} %")
                table.add_row(source, call, *cells)
                worst, judged = max(worst, deviation), judged + 1
            rest = max(0.0, 1 - sum(shares.values()))
            others = ", ".join(taker.function for taker in found if call_of(taker.function) is None)
            table.add_row(
                source, f"others: {others}" if others else "others", f"{100 * rest:.2f} %", "0 %", f"{100 * rest:.2f} %"
            )
            worst = max(worst, rest)
    console().print(table)
    figure = (
        f"{NAME}: engine {arguments.engine}, the shares differ from 2 : 3 : 5 by at most {100 * worst:.2f} % "
        f"({', '.join(sources)}); wanted: at most {100 * _BOUND:g} %"
    )
    return Check(worst <= _BOUND, figure, judged)


def lock_takers(folder: Path) -> list[Taker]:
    """The takers of the file table's lock in a run: of the one line that holds such a lock and moved most.

    Raises:
        Failure: bad-input, when no line does.
    """
    sites = read_table(folder, "sites", ["paddr", "field", "transfers_same_socket", "transfers_other_socket"]).to_pylist()
    moved: dict[int, int] = {}
    for site in sites:
        if fnmatchcase(site["field"], _LOCK):
            transfers = site["transfers_same_socket"] + site["transfers_other_socket"]
            moved[site["paddr"]] = moved.get(site["paddr"], 0) + transfers
    if not moved:
        raise bad_input(f"No line of {folder} has the field {_LOCK}.", "Look at its tables: attribution has lost the lock.")
    line = max(moved, key=lambda paddr: (moved[paddr], -paddr))
    return takers(folder, [line]).get(line, [])


def call_of(function: str) -> str | None:
    """Which of the three calls a function belongs to; None: to none of them."""
    return next((call for call, names in _FUNCTIONS.items() if any(fnmatchcase(function, name) for name in names)), None)


def shares_of(found: Sequence[Taker]) -> dict[str, float]:
    """The share of each call."""
    return {call: sum(one.transfers_share for one in found if call_of(one.function) == call) for call in _SHARES}

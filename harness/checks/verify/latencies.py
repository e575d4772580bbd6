# SPDX-License-Identifier: BSD-3-Clause
"""Does a pointer chase in the guest take the machine file's cycles, at every level and from every socket to every node?

One boot: micro:latencies chases on the first core of each socket in L1, L2, L3 and in the DRAM of each node, nothing else
running, and times itself with the guest's time stamp counter. Where the engine has no L3 that level is left out.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import (
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
from harness.run.engines import base
from harness.spec.machine import Machine
from harness.spec.point import Point

NAME = "latencies"
SUMMARY = "pointer chase: L1, L2, L3 and DRAM of every node from every socket within 2 % of the machine file"

_BOUND = 0.02
_GEM5_POINT = 'engine=gem5 * machine=small-2x2 * set.node_mib=256 * workload="micro:latencies"'
"""Two sockets: the protocol's latencies are the same on any machine, and a chase through eight takes hours."""


@dataclass(frozen=True)
class Latency:
    """One chase: cycles per load from a core of ``socket``, to ``level`` (of DRAM: on ``node``)."""

    socket: int
    level: str
    node: int
    got: float
    want: float

    @property
    def deviation(self) -> float:
        return deviation(self.got, self.want)

    @property
    def place(self) -> str:
        return f"DRAM of node {self.node}" if self.level == "dram" else self.level.upper()


def latencies(result: Mapping[str, Any], machine: Machine, has_l3: bool) -> Iterator[Latency]:
    """What the result event of micro:latencies says, beside what ``machine`` says."""
    of_level = {"l1": machine.l1_cycles, "l2": machine.l2_cycles, "l3": machine.l3_cycles}
    for row in result["latencies"]:
        if row["level"] == "l3" and not has_l3:
            continue
        socket = machine.socket(row["cpu"])
        want = of_level.get(row["level"]) or machine.miss_cycles(socket, row["node"])
        yield Latency(socket, row["level"], row["node"], row["cycles"], want)


def table(measured: list[Latency], sockets: int) -> Table:
    """Sockets down, levels and nodes across; each cell with its deviation."""
    columns = ["l1", "l2", "l3", *range(sockets)]
    out = Table(title="Cycles per load, and deviation from the machine file", title_justify="left")
    out.add_column("socket", justify="right")
    for column in columns:
        out.add_column(f"node {column}" if isinstance(column, int) else column.upper(), justify="right")
    cells = {(one.socket, one.node if one.level == "dram" else one.level): one for one in measured}
    for socket in range(sockets):
        row = [cells.get((socket, column)) for column in columns]
        out.add_row(str(socket), *(f"{one.got:.1f} {100 * (one.got / one.want - 1):+.1f}%" if one else "missing" for one in row))
    return out


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)
    add_set_option(parser)


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    text = "workload=micro:latencies" if arguments.engine == "fast" else _GEM5_POINT
    return [point(with_settings(text, arguments.set))]


def run(arguments: argparse.Namespace) -> Check:
    """Measure, print the table, judge the largest deviation; a pair that was not measured fails."""
    engine = arguments.engine
    if (nothing := skipped(NAME, engine)) is not None:
        return nothing
    prepare_host()
    (wanted,) = planned(arguments)
    has_l3 = base.engine(engine).prepare().has_l3
    with scratch(NAME) as folder:
        ran = execute(wanted, folder / "run")
        measured = list(latencies(ran.result, wanted.machine, has_l3))
    sockets = wanted.machine.sockets
    console().print(table(measured, sockets))
    missing = sockets * ((3 if has_l3 else 2) + sockets) - len({(one.socket, one.level, one.node) for one in measured})
    if not measured:
        return Check(False, f"{NAME}: engine {engine}, the guest measured no latency", 0)
    worst = max(measured, key=lambda one: one.deviation)
    figure = (
        f"{NAME}: engine {engine}, {len(measured)} latencies, largest deviation {100 * worst.deviation:.2f} % "
        f"({worst.got:.1f} instead of {worst.want:g} cycles, socket {worst.socket} to {worst.place}), {missing} missing; "
        f"wanted: at most {100 * _BOUND:g} %, none missing"
    )
    return Check(worst.deviation <= _BOUND and not missing, figure, len(measured))

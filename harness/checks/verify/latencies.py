# SPDX-License-Identifier: BSD-3-Clause
"""Does a pointer chase in the guest take the machine file's cycles, at every level and from every socket to every node?

One boot: micro:latencies chases on the first core of each socket in L1, L2, L3, in the DRAM of each node, and through lines that
the last core of each socket has: dirty ones, and clean ones that it alone has. Nothing else runs, and the guest's time stamp
counter is the clock. Where the engine has no L3 that level is left out.
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
SUMMARY = "pointer chase: L1, L2, L3, DRAM of every node and lines of other cores within 2 % of the machine file"

_BOUND = 0.02
_GEM5_POINT = 'engine=gem5 * set.sockets=3 * set.cores_per_socket=2 * set.node_mib=256 * workload="micro:latencies"'
"""Three sockets in a row, two of them two hops apart: the protocol's latencies are the same on any machine, and a chase through
eight takes hours."""
_TRANSFERS = ("dirty", "clean")


@dataclass(frozen=True)
class Latency:
    """One chase: cycles per load from a core of ``socket``, to ``level`` (of DRAM and transfers: on ``node``)."""

    socket: int
    level: str
    node: int
    got: float
    want: float
    owner: int | None = None
    """Socket of the core that had the lines, of a transfer."""

    @property
    def deviation(self) -> float:
        return deviation(self.got, self.want)

    @property
    def place(self) -> str:
        if self.owner is not None:
            return f"{self.level} lines of a core of socket {self.owner}, at home on {self.node}"
        return f"DRAM of node {self.node}" if self.level == "dram" else self.level.upper()


def latencies(result: Mapping[str, Any], machine: Machine, has_l3: bool) -> Iterator[Latency]:
    """What the result event of micro:latencies says, beside what ``machine`` says."""
    of_level = {"l1": machine.l1_cycles, "l2": machine.l2_cycles, "l3": machine.l3_cycles}
    for row in result["latencies"]:
        if row["level"] == "l3" and not has_l3:
            continue
        socket = machine.socket(row["cpu"])
        if row["level"] in _TRANSFERS:
            owner = machine.socket(row["owner"])
            want = float(machine.transfer_from(socket, row["node"], owner))
            yield Latency(socket, row["level"], row["node"], row["cycles"], want, owner)
            continue
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


def transfer_table(measured: list[Latency], machine: Machine) -> Table:
    """A row for each way that request, probe and answer take together; of the chases of one way the fastest and the slowest."""
    out = Table(title="Cycles per load of a line that another core has", title_justify="left")
    for heading in ("links passed", "machine file", "chases", "dirty", "clean"):
        out.add_column(heading, justify="right")
    of_way: dict[tuple[int, float], list[Latency]] = {}
    for one in measured:
        if one.owner is not None:
            of_way.setdefault((machine.legs(one.socket, one.node, one.owner), one.want), []).append(one)
    for (legs, want), chases in sorted(of_way.items()):
        cells = [_span([one.got for one in chases if one.level == kind], want) for kind in _TRANSFERS]
        out.add_row(str(legs), f"{want:g}", str(len(chases)), *cells)
    return out


def _span(cycles: list[float], want: float) -> str:
    if not cycles:
        return "missing"
    return " to ".join(f"{one:.1f} {100 * (one / want - 1):+.1f}%" for one in dict.fromkeys((min(cycles), max(cycles))))


def wanted_places(machine: Machine, has_l3: bool) -> set[tuple[int, str, int | None, int | None]]:
    """(socket, level, home, owner's socket) of all that must be measured; others may be."""
    sockets = range(machine.sockets)
    found: set[tuple[int, str, int | None, int | None]] = set()
    for socket in sockets:
        found |= {(socket, level, None, None) for level in ("l1", "l2", *(["l3"] if has_l3 else []))}
        found |= {(socket, "dram", node, None) for node in sockets}
        owners = [owner for owner in sockets if owner != socket or machine.cores_per_socket > 1]
        found |= {(socket, kind, home, owner) for kind in _TRANSFERS for owner in owners for home in (socket, owner)}
    return found


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
    console().print(transfer_table(measured, wanted.machine))
    in_caches = ("l1", "l2", "l3")
    found = {(one.socket, one.level, None if one.level in in_caches else one.node, one.owner) for one in measured}
    missing = len(wanted_places(wanted.machine, has_l3) - found)
    if not measured:
        return Check(False, f"{NAME}: engine {engine}, the guest measured no latency", 0)
    worst = max(measured, key=lambda one: one.deviation)
    figure = (
        f"{NAME}: engine {engine}, {len(measured)} latencies, largest deviation {100 * worst.deviation:.2f} % "
        f"({worst.got:.1f} instead of {worst.want:g} cycles, socket {worst.socket} to {worst.place}), {missing} missing; "
        f"wanted: at most {100 * _BOUND:g} %, none missing"
    )
    return Check(worst.deviation <= _BOUND and not missing, figure, len(measured))

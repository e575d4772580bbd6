# SPDX-License-Identifier: BSD-3-Clause
"""How much does the host pay for a packet of the guest over the network card, and over loopback?

`micro:card-udp-echo` on all cores: each datagram of a client is received and sent back, two packets of the card.
`micro:udp-send` beside it: each datagram is sent over loopback and received, by the same system calls. Both in processor seconds
of the engine in the region, and in instructions of the guest, so that one sees what the guest does for a packet and what the
engine. The same QEMU without the engine (no clock of the cores, no model) executes `micro:udp-send` too: how many packets a
second there would be at its speed is the most that can be had where each instruction is executed.
"""

import argparse
from dataclasses import dataclass

from rich.table import Table

from analysis.report.words import cores_text
from common.arguments import positive
from common.terminal import console
from harness.checks.bench.engine import Bench
from harness.checks.registry import Check
from harness.checks.verify.measuring import Measured, execute, point, prepare_host, scratch
from harness.spec.point import Point

NAME = "card"
SUMMARY = "packets of the guest a processor second over the network card, and beside the same work over loopback"

_CORES = 48
_PACKETS_PER_SECOND = 0.3e6
_RATIO = 1.5
_ITERATIONS = {"card-udp-echo": 211, "udp-send": 23}
"""Of each core, where there are 48; on fewer, as many more, so that the region takes seconds of the host there too."""
_PLAIN_ITERATIONS = 1009
"""Of `udp-send` without the engine."""


@dataclass(frozen=True)
class Cost:
    """Of one datagram that is received and sent, in the region."""

    cpu_us: float
    instructions: float

    @property
    def mips(self) -> float:
        return self.instructions / self.cpu_us if self.cpu_us else 0.0

    @property
    def packets_per_second(self) -> float:
        """Two for each datagram."""
        return 2e6 / self.cpu_us if self.cpu_us else 0.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cores", type=positive, default=_CORES, metavar="N", help="how many (%(default)s)")


def run(arguments: argparse.Namespace) -> Check:
    """Run both, print what a datagram costs, judge it."""
    prepare_host()
    with scratch(NAME) as folder:
        costs = {
            name: cost(execute(_point(work, arguments.cores), folder / name))
            for name, work in (("card", "card-udp-echo"), ("loopback", "udp-send"))
        }
        plain = plain_cost(Bench(folder / "plain"), arguments.cores, costs["loopback"].instructions)
    table = Table("over", title=f"A datagram, {cores_text(arguments.cores)}", title_justify="left")
    for heading in ("CPU us", "instructions", "MIPS", "packets / CPU s"):
        table.add_column(heading, justify="right")
    for name, one in costs.items():
        packets = f"{one.packets_per_second:,.0f}" if name == "card" else ""
        table.add_row(name, f"{one.cpu_us:.1f}", f"{one.instructions:,.0f}", f"{one.mips:.1f}", packets)
    console().print(table)
    card, loopback = costs["card"], costs["loopback"]
    each, longer = card.instructions / 2, loopback.mips / card.mips
    print(f"The guest executes {each:,.0f} instructions for a packet. At loopback's {loopback.mips:.1f} million a second that is")
    print(f"{1e6 * loopback.mips / each:,.0f} packets; over the card an instruction takes {longer:.2f} times as long.")
    more = card.instructions / loopback.instructions
    print(f"A datagram over the card is {more:.2f} times as many instructions as over loopback.")
    print(f"Without the engine QEMU executes {plain.mips:.0f} million a second: {1e6 * plain.mips / each:,.0f} packets.")
    return judge(card, loopback)


def _text(work: str, cores: int, iterations: int) -> str:
    return f'workload="micro:{work}:iterations={iterations * max(_CORES // cores, 1)}" * cores={cores}'


def _point(work: str, cores: int) -> Point:
    return point(_text(work, cores, _ITERATIONS[work]))


def plain_cost(bench: Bench, cores: int, instructions: float) -> Cost:
    """What a datagram over loopback takes without the engine; it executes as many ``instructions`` as with it."""
    used = bench.boot("no engine", _text("udp-send", cores, _PLAIN_ITERATIONS)).used
    return Cost(1e6 * used.region_per_unit, instructions)


def cost(ran: Measured) -> Cost:
    """What a datagram took in the region of a run."""
    region, units = ran.engine["phases"]["region"], ran.result["units"]
    return Cost(1e6 * region["cpu_seconds"] / units, region["instructions"] / units)


def judge(card: Cost, loopback: Cost) -> Check:
    """Against what was wanted."""
    ratio = card.cpu_us / loopback.cpu_us if loopback.cpu_us else float("inf")
    held = card.packets_per_second >= _PACKETS_PER_SECOND and ratio <= _RATIO
    figure = (
        f"{NAME}: {card.packets_per_second:,.0f} packets a processor second (>= {_PACKETS_PER_SECOND:,.0f}), "
        f"{ratio:.2f} x the time of loopback (<= {_RATIO:g})"
    )
    return Check(held, figure, int(card.cpu_us > 0) + int(loopback.cpu_us > 0))

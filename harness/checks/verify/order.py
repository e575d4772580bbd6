# SPDX-License-Identifier: BSD-3-Clause
"""Do the figures depend on things that the machine does not have: an order of the cores, a quantum of the scheduler?

Each workload runs four times. *as it is*; with the virtual CPUs *created backwards* (the first one at start, the others plugged
from the last to the second, as QEMU's list of CPUs then has them); with *ties broken backwards* (of cores with equal clocks the
highest runs first, everywhere); with *half the quantum* (a core may run only half as far ahead of the others).
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common.terminal import console
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.checks.registry import Check
from harness.checks.verify.measuring import (
    Measured,
    add_set_option,
    deviation,
    execute,
    point,
    prepare_host,
    scratch,
    with_settings,
)
from harness.run.engines.fast import FastEngine
from harness.spec.point import Point

NAME = "order"
SUMMARY = "transfers within 2 % for two creation orders of the cores, cycles within 2 % for half the quantum"

_BOUND = 0.02
# Long enough that the region's end, where cores that are done leave the others more of a line, weighs little. Regions of
# opening and closing differ by a percent when they begin elsewhere, so their figures are sums. So do the card's datagrams, by up
# to four percent, and by fifteen where the region is a quarter as long. They have connections enough that no core goes idle: one
# that does is interrupted seldom, and chance decides (docs/reference/card.md).
_WORK = (
    ["workload=micro:shared-atomic:iterations=100003,warmup=4001 * cores=48"],
    [f"workload=micro:open-close:iterations=149,warmup={warmup} * cores=48" for warmup in (23, 31, 47)],
    [f"workload=micro:card-udp-echo:connections=16,iterations=1201,warmup={warmup} * cores=48" for warmup in (541, 577, 613)],
)
_NO_SNAPSHOT = {"snapshot": "off"}


class CreatedBackwards(FastEngine):
    """The fast engine with one CPU at start and the others plugged from the last to the second."""

    def command(self, point: Point, kernel: Kernel, image: Image, folder: Path) -> list[str | Path]:
        return created_backwards(super().command(point, kernel, image, folder), point)


def created_backwards(command: Sequence[str | Path], wanted: Point) -> list[str | Path]:
    """A QEMU command whose CPUs are all there at start, changed to create the same CPUs in the opposite order."""
    out = list(command)
    at = out.index("-smp") + 1
    first, _, rest = str(out[at]).partition(",")
    if first != f"cpus={wanted.cores}":
        raise ValueError(f"{first}: {wanted.cores} CPUs are not all there at start")
    out[at] = f"cpus=1,{rest}"
    model, _, flags = str(out[out.index("-cpu") + 1]).partition(",")
    for core in reversed(wanted.core_list[1:]):
        socket, place = divmod(core, wanted.machine.cores_per_socket)
        place_options = f"socket-id={socket},core-id={place},thread-id=0"
        out += ["-device", ",".join(filter(None, (f"{model}-x86_64-cpu", flags, place_options)))]
    return out


@dataclass(frozen=True)
class Figures:
    """What is compared: transfers of lines between cores, and the length of the region in cycles."""

    transfers: int
    cycles: int

    @classmethod
    def of(cls, runs: Sequence[Measured]) -> "Figures":
        """The sums over runs."""
        return cls(
            sum(run.total("transfers_same_socket", "transfers_other_socket") for run in runs),
            sum(int(run.records.roi_cycles or 0) for run in runs),
        )


def configure(parser: argparse.ArgumentParser) -> None:
    add_set_option(parser)


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs: each in four variations."""
    return [one for work in _work(arguments) for one in work for _ in range(4)]


def _work(arguments: argparse.Namespace) -> list[list[Point]]:
    """The regions of each workload."""
    return [[point(with_settings(text, arguments.set)) for text in texts] for texts in _WORK]


def run(arguments: argparse.Namespace) -> Check:
    """Run every variation, print both figures of each, judge the deviations that the bounds are for."""
    prepare_host()
    table = Table("workload", "variation", title="Figures against the run as it is", title_justify="left")
    for heading in ("transfers", "deviation", "cycles", "deviation"):
        table.add_column(heading, justify="right")
    worst_order = worst_quantum = worst_ties = 0.0
    least: list[int] = []
    with scratch(NAME) as folder:
        for number, wanted in enumerate(_work(arguments)):
            roots = [folder / f"{number}-{region}" for region in range(len(wanted))]
            work = list(zip(wanted, roots, strict=True))
            plain = [execute(one, root / "plain") for one, root in work]
            half = str(plain[0].engine["quantum_cycles"] // 2)
            backwards = CreatedBackwards(_NO_SNAPSHOT)
            variations = {
                "as it is": Figures.of(plain),
                "created backwards": Figures.of([execute(one, root / "backwards", backwards) for one, root in work]),
                "ties broken backwards": Figures.of(
                    [execute(one, root / "ties", options={"reverse": "on"}) for one, root in work]
                ),
                f"half the quantum ({half})": Figures.of(
                    [execute(one, root / "half", options={"quantum": half}) for one, root in work]
                ),
            }
            base = variations["as it is"]
            least += [base.transfers, base.cycles]
            for title, figures in variations.items():
                transfers, cycles = deviation(figures.transfers, base.transfers), deviation(figures.cycles, base.cycles)
                cells = [f"{figures.transfers:,}", f"{100 * transfers:.3f} %", f"{figures.cycles:,}", f"{100 * cycles:.3f} %"]
                table.add_row(wanted[0].workload_text, title, *cells)
                if "quantum" in title:
                    worst_quantum = max(worst_quantum, cycles)
                elif "ties" in title:
                    worst_ties = max(worst_ties, transfers)
                else:
                    worst_order = max(worst_order, transfers)
    console().print(table)
    figure = (
        f"{NAME}: transfers differ by {100 * worst_order:.3f} % between creation orders, cycles by "
        f"{100 * worst_quantum:.3f} % for half the quantum; wanted: at most {100 * _BOUND:g} % each "
        "(ties broken backwards, another first order in a contended line's queue: "
        f"{100 * worst_ties:.3f} % of transfers, not bounded)"
    )
    return Check(max(worst_order, worst_quantum) <= _BOUND, figure, min(least, default=0))

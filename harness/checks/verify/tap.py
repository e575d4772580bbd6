# SPDX-License-Identifier: BSD-3-Clause
"""What does the line tap in gem5 cost, and does it see every message?

One point from the same checkpoint with the tap and without it: the simulated time must be the same (a tap that changes what it
measures is none), and what the tap counted on all links what gem5's own network statistics say. Then a longer region of the same
work in which the tap is off and on in turns: a host that is shared may be twice as slow from one second to the next, so what one
run takes and the next says little of the tap, but what neighbouring slices of one run take does.
"""

import argparse
import json
import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common.outcome import Failure, Outcome
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import Measured, add_engine_option, deviation, execute, point, prepare_host, scratch, skipped
from harness.run.engines.gem5 import Gem5Engine
from harness.spec.point import Point

NAME = "tap"
SUMMARY = "gem5's line tap: at most 5 % of processor time, every message of the network counted, simulated time unchanged"

_POINT = 'engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=4 * workload="micro:open-close:iterations={},warmup=53"'
_ITERATIONS = 307
_ITERATIONS_IN_TURNS = 1801
_SLICE_TICKS = 10**7
"""10 us of the guest, of which a host simulates some fifteen in a second."""
_COST = 0.05
_IN_FLIGHT = 0.001
"""Messages are counted when they are routed, and by gem5 when they leave a router: those on their way at either end differ."""
_COUNT = re.compile(r"^system\.ruby\.network\.msg_count\.(\w+)\s+(\d+)", re.MULTILINE)
_TICKS = re.compile(r"^simTicks\s+(\d+)", re.MULTILINE)


def network_messages(stats: str) -> dict[str, int]:
    """Messages put on links, by size type, in the first dump of a statistics file (the region's)."""
    region = stats.partition("End Simulation Statistics")[0]
    return {name: int(count) for name, count in _COUNT.findall(region)}


def ticks(stats: str) -> int:
    """Simulated time of the region.

    Raises:
        Failure: engine-crash, when the statistics do not say.
    """
    found = _TICKS.search(stats)
    if found is None:
        raise Failure(Outcome.ENGINE_CRASH, "gem5's statistics do not say simTicks.", "Look into engine/stats.txt.")
    return int(found[1])


@dataclass(frozen=True)
class Cost:
    """What the tap adds to the processor time, as a share of it: the mean over ``groups`` of slices and its standard error."""

    mean: float
    error: float
    groups: int

    @property
    def most(self) -> float:
        """The upper end of the interval of 95 %."""
        return self.mean + 1.96 * self.error


def cost(seconds: Sequence[float]) -> Cost:
    """From the processor seconds of slices of which the second and third of each four had the tap on.

    Such a group tells the tap from a host that gets steadily slower or faster meanwhile. What is over at the end is left out.

    Raises:
        ValueError: fewer than two whole groups.
    """
    groups = [seconds[i : i + 4] for i in range(0, len(seconds) - 3, 4)]
    if len(groups) < 2:
        raise ValueError(f"{len(seconds)} slices are too few to say what the tap costs")
    more = [(on1 + on2) / (off1 + off2) - 1 for off1, on1, on2, off2 in groups]
    return Cost(statistics.mean(more), statistics.stdev(more) / math.sqrt(len(more)), len(more))


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser, ["gem5"])


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` runs: without the tap, with it, and longer with the tap in turns."""
    return [point(_POINT.format(iterations)) for iterations in (_ITERATIONS, _ITERATIONS, _ITERATIONS_IN_TURNS)]


def run(arguments: argparse.Namespace) -> Check:
    """Run all three, print what each counted, judge cost and sums."""
    if (nothing := skipped(NAME)) is not None:
        return nothing
    prepare_host()
    wanted, _, longer = planned(arguments)
    with scratch(NAME) as folder:
        plain, tapped = (execute(wanted, folder / name, Gem5Engine(tapped=name == "on")) for name in ("off", "on"))
        turns = execute(longer, folder / "turns", Gem5Engine(alternate_ticks=_SLICE_TICKS))
        seconds = [float(one.engine["phases"]["region"]["cpu_seconds"]) for one in (plain, tapped)]
        said = [_stats(one) for one in (plain, tapped)]
        counted = json.loads((tapped.folder / "engine" / "tap.json").read_text(encoding="utf-8"))["total"]
        slices = json.loads((turns.folder / "engine" / "slices.json").read_text(encoding="utf-8"))
    own = sum(network_messages(said[1]).values())
    table = Table("", "without tap", "with tap", title=wanted.title, title_justify="left")
    table.add_row("region, simulated ticks", *(f"{ticks(one):,}" for one in said))
    table.add_row("messages, gem5's network statistics", *(f"{sum(network_messages(one).values()):,}" for one in said))
    table.add_row("messages, tap", "", f"{counted:,}")
    table.add_row("region, processor seconds (one run each)", *(f"{one:.2f}" for one in seconds))
    table.add_row(f"in turns, processor seconds of {len(slices):,} slices", *(f"{one:.2f}" for one in _halves(slices)))
    console().print(table)
    taken = cost(slices)
    same = ticks(said[0]) == ticks(said[1])
    missed = deviation(counted, own)
    figure = (
        f"{NAME}: {100 * taken.mean:+.1f} % processor time (at 95 % not above {100 * taken.most:+.1f} %, {taken.groups} groups "
        f"of slices), {counted:,} messages of {own:,} counted, simulated time {'the same' if same else 'different'}; "
        f"wanted: at most {100 * _COST:g} %, all but {100 * _IN_FLIGHT:g} % in flight, the same"
    )
    return Check(taken.most <= _COST and missed <= _IN_FLIGHT and same, figure, own)


def _halves(slices: Sequence[float]) -> tuple[float, float]:
    """Seconds of the slices of whole groups without and with the tap."""
    whole = slices[: len(slices) // 4 * 4]
    on = sum(one for i, one in enumerate(whole) if i % 4 in (1, 2))
    return sum(whole) - on, on


def _stats(measured: Measured) -> str:
    return Path(measured.folder / "engine" / "stats.txt").read_text(encoding="utf-8")

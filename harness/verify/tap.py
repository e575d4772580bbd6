# SPDX-License-Identifier: BSD-3-Clause
"""What does the line tap in gem5 cost, and does it see every message?

One point from the same checkpoint with the tap and without it, in turns. The simulated time must be the same (a tap that
changes what it measures is none), the host's processor time nearly (of each kind the least counts: other jobs only add to it),
and what the tap counted on all links what gem5's own network statistics say.
"""

import json
import re
from pathlib import Path

from rich.table import Table

from harness.check import Check
from harness.engines.gem5 import Gem5Engine
from harness.terminal import console
from harness.verify.measuring import Measured, deviation, execute, no_arguments, point, prepare_host, scratch, skipped

NAME = "tap"
SUMMARY = "gem5's line tap: at most 5 % of processor time, every message of the network counted, simulated time unchanged"

_POINT = 'engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=4 * workload="micro:open-close:iterations=307,warmup=53"'
_COST = 0.05
_TURNS = 3
_IN_FLIGHT = 0.001
"""Messages are counted when they are routed, and by gem5 when they leave a router: those on their way at either end differ."""
_COUNT = re.compile(r"^system\.ruby\.network\.msg_count\.(\w+)\s+(\d+)", re.MULTILINE)
_TICKS = re.compile(r"^simTicks\s+(\d+)", re.MULTILINE)


def network_messages(stats: str) -> dict[str, int]:
    """Messages put on links, by size type, in the first dump of a statistics file (the region's)."""
    region = stats.partition("End Simulation Statistics")[0]
    return {name: int(count) for name, count in _COUNT.findall(region)}


def ticks(stats: str) -> int:
    """Simulated time of the region."""
    found = _TICKS.search(stats)
    return int(found[1]) if found else 0


def run(arguments: list[str]) -> Check:
    """Run both, print what each counted, judge cost and sums."""
    no_arguments(NAME, [word for word in arguments if word not in ("--engine", "gem5")])
    if (nothing := skipped(NAME)) is not None:
        return nothing
    prepare_host()
    wanted = point(_POINT)
    with scratch(NAME) as folder:
        pairs = [
            [execute(wanted, folder / f"{turn} {tapped}", Gem5Engine(tapped=tapped)) for tapped in (False, True)]
            for turn in range(_TURNS)
        ]
        seconds = [min(_region_seconds(one) for one in of_kind) for of_kind in zip(*pairs, strict=True)]
        plain, tapped = pairs[0]
        statistics = [_stats(one) for one in (plain, tapped)]
        counted = json.loads((tapped.folder / "engine" / "tap.json").read_text(encoding="utf-8"))["total"]
    own = sum(network_messages(statistics[1]).values())
    table = Table("", "without tap", "with tap", title=wanted.title, title_justify="left")
    table.add_row(f"region, processor seconds (least of {_TURNS})", *(f"{one:.2f}" for one in seconds))
    table.add_row("region, simulated ticks", *(f"{ticks(one):,}" for one in statistics))
    table.add_row("messages, gem5's network statistics", *(f"{sum(network_messages(one).values()):,}" for one in statistics))
    table.add_row("messages, tap", "", f"{counted:,}")
    console().print(table)
    cost = seconds[1] / seconds[0] - 1
    same = ticks(statistics[0]) == ticks(statistics[1])
    missed = deviation(counted, own)
    figure = (
        f"{NAME}: {100 * cost:+.1f} % processor time, {counted:,} messages of {own:,} counted, simulated time "
        f"{'the same' if same else 'different'}; wanted: at most {100 * _COST:g} %, all but "
        f"{100 * _IN_FLIGHT:g} % in flight, the same"
    )
    return Check(cost <= _COST and missed <= _IN_FLIGHT and same, figure)


def _region_seconds(measured: Measured) -> float:
    return float(measured.engine["phases"]["region"]["cpu_seconds"])


def _stats(measured: Measured) -> str:
    return Path(measured.folder / "engine" / "stats.txt").read_text(encoding="utf-8")

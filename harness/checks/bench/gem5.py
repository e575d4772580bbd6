# SPDX-License-Identifier: BSD-3-Clause
"""How fast is gem5 beside the fast engine on the same region?

Guest instructions per second of the engine's processor time (MIPS), which other work on the host disturbs less than wall time.
gem5 simulates each cycle of each core; the fast engine executes instructions and models what goes beyond a core's caches. What
takes gem5 seconds takes it milliseconds, in which its time is told: its regions are the same work for longer.
"""

import argparse
from dataclasses import replace

from rich.table import Table

from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_cores_option, execute, point, prepare_host, scratch, skipped

NAME = "gem5"
SUMMARY = "instructions per second of gem5 and of the fast engine on the same regions, and their ratio"

_REGIONS = {
    "private data": "private-counters:iterations={0}".format,
    "open/close of one file": "open-close:iterations={0},warmup=11".format,
}
_ITERATIONS = {
    "private data": {"gem5": 40_003, "fast": 20_000_003},
    "open/close of one file": {"gem5": 53, "fast": 1061},
}
_SHORTEST = 0.02
"""Seconds of processor time below which a region's speed is not told."""
_CORES = (1, 8, 48)
_MEMORY = " * set.node_mib=256"


def configure(parser: argparse.ArgumentParser) -> None:
    add_cores_option(parser, _CORES)


def run(arguments: argparse.Namespace) -> Check:
    """Measure each region on both engines, print the table; there is no bound, but a region must be long enough to tell."""
    if (nothing := skipped(NAME)) is not None:
        return nothing
    prepare_host()
    table = Table("region", "cores", "gem5, MIPS", "fast, MIPS", "fast / gem5", title="Instructions per CPU second")
    ratios, problems = [], []
    with scratch(NAME) as folder:
        for title, text in _REGIONS.items():
            for count in arguments.cores:
                speed = {}
                for engine, iterations in _ITERATIONS[title].items():
                    wanted = point(f'workload="micro:{text(iterations)}" * cores={count} * set.core=in-order{_MEMORY}')
                    measured = execute(replace(wanted, engine=engine), folder / f"{title}-{count}-{engine}".replace("/", " "))
                    region = measured.engine["phases"]["region"]
                    if region["cpu_seconds"] < _SHORTEST:
                        problems.append(f"{title} on {count}, {engine}: only {region['cpu_seconds']:.3f} s")
                        continue
                    speed[engine] = region["instructions"] / float(region["cpu_seconds"]) / 1e6
                if len(speed) < len(_ITERATIONS[title]):
                    continue
                ratios.append(speed["fast"] / speed["gem5"])
                table.add_row(title, str(count), f"{speed['gem5']:.3f}", f"{speed['fast']:.2f}", f"{ratios[-1]:.0f}")
    console().print(table)
    factors = f"{min(ratios):.0f} to {max(ratios):.0f}" if ratios else "unknown"
    figure = f"{NAME}: the fast engine executes {factors} times as many instructions per CPU second"
    short = f"; too short to tell: {'; '.join(problems)}" if problems else ""
    return Check(not problems, figure + short, len(ratios))

# SPDX-License-Identifier: BSD-3-Clause
"""Does every kernel boot on any number of cores, and see the machine that the machine file describes?

For each kernel and number of cores: processors and nodes that the guest counts, the distances between nodes that it reads from
firmware, and what the boot took. In gem5 a boot ends in a checkpoint, which is kept: one that is in the cache counts with the
time it took then. From each, a minimal job is run up to its region of interest.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from analysis.report.words import cores_text
from common.outcome import Failure, bad_input
from common.terminal import console
from harness.build import image, kernel, kernel_source
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_cores_option, add_engine_option, execute, point, prepare_host, scratch, skipped
from harness.run.console import ConsoleReader
from harness.run.engines.gem5_binary import find
from harness.run.engines.gem5_checkpoint import checkpoint
from harness.spec.kernel import load_recipe
from harness.spec.machine import Machine
from harness.spec.point import Point, parse_kernel

NAME = "boot-ladder"
SUMMARY = "every kernel on 1 to 48 cores: processors, nodes and distances as in the machine file, time of the boot"

QUICK = ("--cores", "1,3", "--kernel", "stock", "--set", "node_mib=128")

_LADDER = (1, 2, 4, 8, 16, 48)
_REGION_SECONDS = 60.0
_JOB = "workload=micro:private-counters:iterations=11,warmup=3"


@dataclass(frozen=True)
class Boot:
    """One boot of the ladder; seconds are of the host."""

    kernel: str
    cores: int
    event: dict[str, Any]
    """The guest's boot event."""
    wall: float
    cpu: float | None
    """Processor time; wall time is other jobs' too. Not known of boots of earlier versions."""
    instructions: float | None
    to_region: float | None
    """From the start of the engine, or from the checkpoint, to the region."""

    def faults(self, machine: Machine) -> list[str]:
        """What the guest sees otherwise than it should."""
        found = []
        if self.event["cpus"] != self.cores:
            found.append(f"{self.event['cpus']} processors")
        if self.event["nodes"] != machine.sockets:
            found.append(f"{self.event['nodes']} nodes")
        elif self.event.get("distances") != distances(machine):
            found.append("other distances")
        return found


def distances(machine: Machine) -> list[list[int]]:
    """Rows of the table that firmware gives the guest."""
    return [list(row) for row in machine.node_distances]


def boot_event(text: bytes) -> dict[str, Any]:
    """The boot event in a console."""
    reader = ConsoleReader()
    reader.feed(text)
    event = reader.find("boot")
    if event is None:
        raise bad_input("The guest's console has no boot event.", "The image is of another version: build it again.")
    return event


def configure(parser: argparse.ArgumentParser) -> None:
    add_engine_option(parser)
    parser.add_argument("--kernel", metavar="A,B", help="kernels (default: all sources that are there)")
    add_cores_option(parser, _LADDER)
    parser.add_argument("--set", metavar="KEY=VALUE", help="override a key of the machine")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    overrides = f" * set.{arguments.set}" if arguments.set else ""
    kernels = arguments.kernel.split(",") if arguments.kernel else kernel_source.available()
    return [_point(arguments.engine, text, cores, overrides) for text in kernels for cores in arguments.cores]


def _point(engine: str, kernel_text: str, cores: int, overrides: str) -> Point:
    return point(f"engine={engine} * kernel={kernel_text} * cores={cores} * {_JOB}{overrides}")


def run(arguments: argparse.Namespace) -> Check:
    """Boot, print the table; any fault, failure or excess of time fails."""
    engine, ladder = arguments.engine, arguments.cores
    here = kernel_source.available()
    kernels = arguments.kernel.split(",") if arguments.kernel else here
    overrides = f" * set.{arguments.set}" if arguments.set else ""
    if (nothing := skipped(NAME, engine)) is not None:
        return nothing
    prepare_host()
    boots, problems = [], []
    machine = point(f"{_JOB} * cores=1{overrides}").machine
    table = Table(
        "kernel",
        "cores",
        "guest sees",
        "boot",
        "of it processor",
        "instructions",
        "to the region",
        title=f"Boots, engine {engine}",
    )
    with scratch(NAME) as folder:
        for text in kernels:
            for cores in ladder:
                try:
                    boots.append(_boot(engine, text, cores, overrides, folder / f"{text}-{cores}"))
                except Failure as failure:
                    problems.append(f"{text} on {cores}: {failure.unless_interrupted().outcome}")
                    table.add_row(text, str(cores), str(failure), "", "", "", "")
                    continue
                one = boots[-1]
                faults = one.faults(machine)
                limit = load_recipe(parse_kernel(text)[0]).boot_with(engine).seconds
                slow = one.cores == max(_LADDER) and limit is not None and one.wall > limit
                late = engine == "gem5" and (one.to_region or 0) > _REGION_SECONDS
                faults += ["slow boot"] * slow + ["late region"] * late
                problems += [f"{text} on {cores}: {fault}" for fault in faults]
                table.add_row(
                    text,
                    str(cores),
                    ", ".join(faults) or f"{one.event['cpus']} processors, {one.event['nodes']} nodes, distances right",
                    f"{one.wall:.0f} s",
                    f"{one.cpu:.0f} s" if one.cpu is not None else "",
                    f"{one.instructions / 1e6:.0f} M" if one.instructions else "",
                    f"{one.to_region:.0f} s" if one.to_region is not None else "",
                )
    console().print(table)
    slowest = max(boots, key=lambda one: one.wall, default=None)
    longest = f", slowest {slowest.wall:.0f} s ({slowest.kernel}, {cores_text(slowest.cores)})" if slowest else ""
    figure = (
        f"{NAME}: {len(boots)} of {len(kernels) * len(ladder)} boots on engine {engine}{longest}, {len(problems)} faults"
        f"{': ' + '; '.join(problems) if problems else ''}; wanted: all, none"
    )
    return Check(not problems, figure, len(boots))


def _boot(engine: str, kernel_text: str, cores: int, overrides: str, folder: Path) -> Boot:
    wanted = _point(engine, kernel_text, cores, overrides)
    if engine == "gem5":
        booted = checkpoint(wanted, kernel.build(wanted.source, wanted.fixes), image.of(wanted), find())
        facts, event = booted.facts, boot_event(booted.console)
        measured = execute(wanted, folder)
        to_region = sum(float(measured.engine["phases"][phase]["wall_seconds"]) for phase in ("start", "warm"))
        return Boot(kernel_text, cores, event, facts["wall_seconds"], facts.get("cpu_seconds"), facts["instructions"], to_region)
    measured = execute(wanted, folder)
    phase = json.loads((folder / "engine" / "engine.json").read_text(encoding="utf-8"))["phases"]["boot"]
    event = boot_event((folder / "console.log").read_bytes())
    return Boot(kernel_text, cores, event, phase["wall_seconds"], phase["cpu_seconds"], phase["instructions"], None)

# SPDX-License-Identifier: BSD-3-Clause
"""`verify card --engine gem5`: does the network card do the same on both engines?

Clients send datagrams and have them back, about a hundred packets in all, on each engine. On gem5 the link is up when the job
begins, so that the card goes through a checkpoint with it. Judged are the replies, the packets that the card has counted, and the
lines that it read and wrote in the region for each of them.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from common.outcome import Failure, Outcome
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import Measured, deviation, execute, keep, point, prepare_host, scratch, skipped
from harness.spec.kernel import paper_source
from harness.spec.point import Point

CORES = (2, 8)
_PACKETS = 100
_WARM_UP = 7
"""Requests to each core before the region."""
_MEMORY = " * set.node_mib=256"
"""A kernel clears a page of structures for each 256 KiB of memory, which takes gem5 longer than the rest of a boot."""
_BOUND = 0.15
_ENGINES = ("fast", "gem5")


@dataclass(frozen=True)
class Did:
    """What the card did in the region of a run."""

    sent: int
    right: int
    packets: int
    """In both directions, in the region."""
    counted: int
    """By the card, since power came on."""
    reads: float
    writes: float
    """Lines for each packet."""

    @property
    def lines(self) -> float:
        return self.reads + self.writes


def planned(cores: Sequence[int], source: str | None) -> list[Point]:
    """Each number of cores on both engines."""
    return [one for count in cores for one in _points(count, source)]


def _points(cores: int, source: str | None) -> list[Point]:
    requests = -(-_PACKETS // (2 * cores))
    work = f"micro:card-udp-echo:iterations={requests},warmup={_WARM_UP},connections=1"
    one = point(f'workload="{work}" * cores={cores} * kernel={source or paper_source()}:stock * set.core=in-order{_MEMORY}')
    return [replace(one, engine=engine) for engine in _ENGINES]


def run(arguments: argparse.Namespace, name: str) -> Check:
    """Run each number of cores on both engines, print what the card did, judge it."""
    if (nothing := skipped(name)) is not None:
        return nothing
    prepare_host()
    problems: list[str] = []
    heads = ("cores", "engine", "packets", "right replies", "lines read / packet", "written / packet", "together")
    table = Table(*heads, title="The network card on both engines", title_justify="left")
    with scratch(name) as folder:
        for cores in arguments.cores:
            ran = [execute(one, folder / one.id) for one in _points(cores, arguments.source)]
            found = [did(one, counted(one.folder)) for one in ran]
            for engine, one in zip(_ENGINES, found, strict=True):
                row = (
                    f"{one.packets}",
                    f"{one.right} of {one.sent}",
                    f"{one.reads:.2f}",
                    f"{one.writes:.2f}",
                    f"{one.lines:.2f}",
                )
                table.add_row(str(cores), engine, *row)
            problems += [f"{cores} cores: {problem}" for problem in judge(*found)]
        if problems:
            keep(folder)
    console().print(table)
    said = f" ({'; '.join(problems)})" if problems else ""
    wanted = f"all replies right, lines for each packet within {100 * _BOUND:g} %"
    figure = (
        f"{name}: {len(arguments.cores)} numbers of cores on both engines, {len(problems)} disagreements{said}; wanted: {wanted}"
    )
    return Check(not problems, figure, len(arguments.cores))


def did(ran: Measured, model: dict[str, Any]) -> Did:
    """What the card did in ``ran``, whose card has counted ``model``."""
    load = ran.result["load"]
    packets = load["sent"] + load["right"]
    reads, writes = (ran.total(f"card_{way}") / max(packets, 1) for way in ("reads", "writes"))
    return Did(load["sent"], load["right"], packets, model["received_frames"] + model["sent_frames"], reads, writes)


def judge(fast: Did, gem5: Did) -> list[str]:
    """What is not as it should be, in a few words each."""
    problems = []
    for engine, one in zip(_ENGINES, (fast, gem5), strict=True):
        if not one.sent or one.right != one.sent:
            problems.append(f"{engine}: {one.right} right replies to {one.sent} requests")
        if one.counted < one.packets:
            problems.append(f"{engine}: the card has counted {one.counted} packets, and {one.packets} were in the region")
        if not one.lines:
            problems.append(f"{engine}: the card touched no line")
    if (off := deviation(gem5.lines, fast.lines)) > _BOUND:
        problems.append(f"{100 * off:.1f} % between {fast.lines:.2f} and {gem5.lines:.2f} lines a packet")
    return problems


def counted(folder: Path) -> dict[str, Any]:
    """What the model of the card has counted in a run.

    Raises:
        Failure: engine-crash, when it has written nothing.
    """
    try:
        said: dict[str, Any] = json.loads((folder / "engine" / "card.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(
            Outcome.ENGINE_CRASH, f"The card has not said what it counted ({error}).", f"Look into {folder}."
        ) from error
    return said

# SPDX-License-Identifier: BSD-3-Clause
"""What a point would take of the host, from the runs that there are: its own, or one of the same workload at another size.

Where there is none of the workload, one on another host says so (`harness.run.known_costs`), times this host's pace where both
have run the same.

An estimate from another size says of what order a long run will be, and is rather too much: what a run takes is said to grow in
proportion to what `Workload.grows_with` names, all of it, though booting does not, and a smaller point to take what the run took.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from common.outcome import Outcome
from harness.run import known_costs
from harness.run.catalogue import Row
from harness.spec.point import Point
from harness.spec.workload import CORES

MEMORY_FACTOR, MEMORY_BASE = 1.5, 1 << 30
"""The engine's memory is at most so many times that of the guest, and so many bytes (`bench memory` holds it to that)."""


@dataclass(frozen=True)
class Forecast:
    """``source`` says whether a run of the point took that, or it is an estimate; of the unknown nothing is known."""

    source: Literal["run", "estimate", "unknown"]
    processor_seconds: float = 0.0
    """As an engine works on one processor, a point with one to itself takes as long."""
    peak_bytes: int = 0
    """Resident."""
    bytes: int = 0
    """On disk."""
    resized: bool = False
    """Whether it is from a run of another size."""
    elsewhere: bool = False
    """Whether it is from what another host took."""

    @property
    def known(self) -> bool:
        return self.source != "unknown"


def forecast(point: Point, rows: Sequence[Row], pace: float | None = None) -> Forecast:
    """What ``point`` would take, from complete runs among ``rows`` that say what they took.

    ``pace`` is that of the rows (`known_costs.pace`), by which what another host took is multiplied.
    """
    known = [row for row in rows if row.state == Outcome.OK and row.processor_seconds and row.engine == point.engine]
    own_id = point.id
    own = [row for row in known if row.point == own_id]
    if own:
        return Forecast("run", own[-1].processor_seconds, own[-1].peak_bytes, own[-1].bytes)
    here, elsewhere = _nearest(point, known), False
    if here is None:
        here, elsewhere = _nearest(point, [row for row in known_costs.read().runs if row.engine == point.engine]), True
    if here is None:
        return Forecast("unknown")
    factor, row = here
    more = max(1.0, factor)
    longer = more * ((pace or 1.0) if elsewhere else 1.0)
    peak = int(min(row.peak_bytes * more, most_memory(point)))
    costs = (row.processor_seconds * longer, peak, int(row.bytes * more))
    return Forecast("estimate", *costs, resized=factor != 1, elsewhere=elsewhere)


def _nearest(point: Point, rows: Sequence[Row]) -> tuple[float, Row] | None:
    """How many times the work of the nearest run the point is, and that run: of the same variant where there is one, and of those
    of one size the one whose parameters are most like the point's."""
    alike = [row for row in rows if row.workload == point.workload_text] or [
        row for row in rows if row.workload.partition(":")[0] == point.workload
    ]
    keys = point.workload_definition.grows_with if alike else ()
    factors = [(factor, row) for row in alike if (factor := growth(point, row, keys)) is not None]
    return min(factors, key=lambda one: _distance(point, *one), default=None)


def _distance(point: Point, factor: float, row: Row) -> tuple[float, float, int, float]:
    """First in work, then in the numbers of the parameters, then in their words; of runs that are as near, the longest counts."""
    there, wanted = _parameters(row) | {CORES: str(row.cores)}, {**point.parameters, CORES: str(point.cores)}
    numbers = {key for key, value in wanted.items() if value.isdecimal() and there.get(key, "").isdecimal()}
    ratios = (abs(math.log((int(wanted[key]) + 1) / (int(there[key]) + 1))) for key in numbers)
    words = sum(there.get(key) != wanted[key] for key in wanted.keys() - numbers)
    return abs(math.log(factor)), sum(ratios), words, -row.processor_seconds


def _parameters(row: Row) -> dict[str, str]:
    return dict(one.split("=", 1) for one in row.parameters.split(",") if one)


def growth(point: Point, row: Row, keys: Iterable[str]) -> float | None:
    """How many times the work of a run the point is, which grows with ``keys``; None where the run lacks one of them."""
    there = _parameters(row) | {CORES: str(row.cores)}
    wanted = {**point.parameters, CORES: str(point.cores)}
    factor = 1.0
    for key in keys:
        if key not in wanted and key not in there:
            continue
        if key not in wanted or key not in there:
            return None
        factor *= int(wanted[key]) / int(there[key])
    return factor


def most_memory(point: Point) -> float:
    """Bytes that a run may take, however large its work."""
    return MEMORY_FACTOR * (point.machine.node_mib * point.machine.sockets << 20) + MEMORY_BASE

# SPDX-License-Identifier: BSD-3-Clause
"""What points would take: builds to be made, points that are there, minutes and bytes, from what earlier ones took.

Where nothing like them was built or run on this host, what it took on another says so (`harness.run.known_costs`)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from common import cache
from harness.run import catalogue, known_costs, many
from harness.run.catalogue import Row
from harness.spec.point import Point


@dataclass(frozen=True)
class Cost:
    """Seconds on a host and bytes on its disk; None where no earlier one says so."""

    seconds: float | None
    size: int | None
    elsewhere: bool = False
    """Whether it is what another host took."""


@dataclass(frozen=True)
class Plan:
    """``builds`` and ``points`` are to be made, with what each would take; ``there`` are there."""

    builds: Sequence[tuple[str, Cost]]
    points: Sequence[tuple[Point, Cost]]
    there: Sequence[Point]

    @property
    def unknown(self) -> int:
        """How many builds and points there is no earlier one for."""
        return sum(None in (cost.seconds, cost.size) for _, cost in (*self.builds, *self.points))

    @property
    def elsewhere(self) -> int:
        """How many builds and points of which only another host has had the like."""
        return sum(cost.elsewhere for _, cost in (*self.builds, *self.points))

    def minutes(self, jobs: int) -> float:
        """Of all builds and points whose time is known, ``jobs`` points at a time."""
        builds, points = (sum(cost.seconds or 0.0 for _, cost in group) for group in (self.builds, self.points))
        return (builds + points / jobs) / 60

    @property
    def size(self) -> int:
        """Bytes of all builds and points whose size is known."""
        return sum(cost.size or 0 for _, cost in (*self.builds, *self.points))


def plan(wanted: Sequence[Point], root: Path, reuse: str, extra_config: many.ExtraConfig = many.as_it_is) -> Plan:
    """What running ``wanted`` into the folder ``root`` would take. Nothing is built, and nothing run.

    Raises:
        Failure: bad-input, when something cannot be had on this host.
    """
    known = [row for row in catalogue.rows(root) if row.state == "ok"]
    there, missing = many.complete(wanted, root, reuse)
    to_do = [(point, _cost_here_or_elsewhere(point, known)) for point in missing]
    return Plan(_builds(wanted, extra_config), to_do, [ended.point for ended in there])


def _builds(wanted: Sequence[Point], extra_config: many.ExtraConfig) -> list[tuple[str, Cost]]:
    missing: list[tuple[str, Cost]] = []
    parts = many.parts(wanted, extra_config) if wanted else []
    for number, part in enumerate(parts):
        try:
            with cache.looking():
                part.make()
        except cache.Missing as one:
            missing.append((part.name, _cost_of_build(part.kind or one.kind, part.stem or one.name)))
            if number == 0:  # without the host's packages nobody can tell what is there
                return missing + [(part.name, _cost_of_build(part.kind, part.stem)) for part in parts[1:]]
    return missing


def _cost_of_build(kind: str, name: str) -> Cost:
    if not kind:
        return Cost(None, None)
    here = Cost(*cache.built_before(kind, name))
    there = known_costs.read().builds.get((kind, name))
    return here if here.seconds is not None or there is None else Cost(*there, elsewhere=True)


def _cost_here_or_elsewhere(point: Point, known: Sequence[Row]) -> Cost:
    here = cost(point, known)
    if here.seconds is not None:
        return here
    there = cost(point, known_costs.read().runs)
    return here if there.seconds is None else replace(there, elsewhere=True)


def cost(point: Point, known: Iterable[Row]) -> Cost:
    """What runs like ``point`` took: of the same work and cores, else of the same workload on at least as many, else unknown."""
    parameters = ",".join(f"{name}={value}" for name, value in sorted(point.parameters.items()))
    of_workload = [row for row in known if (row.workload, row.engine) == (point.workload_text, point.engine)]
    same = [row for row in of_workload if (row.parameters, row.cores) == (parameters, point.cores)]
    chosen = same or [row for row in of_workload if row.parameters == parameters and row.cores >= point.cores]
    seconds = [row.seconds for row in chosen if row.seconds]
    sizes = [row.bytes for row in chosen]
    return Cost(sum(seconds) / len(seconds) if seconds else None, sum(sizes) // len(sizes) if sizes else None)

# SPDX-License-Identifier: BSD-3-Clause
"""What points would take: builds to be made, points that are there, minutes and bytes, from what earlier ones took.

Where nothing like them was built or run on this host, what it took on another says so (`harness.run.known_costs`), times this
host's pace where both have run the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from common import cache
from common.once import reading_once
from harness.run import catalogue, known_costs, many
from harness.run.forecast import Forecast, forecast
from harness.spec.point import Point


@dataclass(frozen=True)
class Cost:
    """What a build takes: seconds on a host and bytes on its disk; None where no earlier one says so."""

    seconds: float | None
    size: int | None
    elsewhere: bool = False
    """Whether it is from what another host took."""


@dataclass(frozen=True)
class Plan:
    """``builds`` and ``points`` are to be made, with what each would take; ``there`` are there."""

    builds: Sequence[tuple[str, Cost]]
    points: Sequence[tuple[Point, Forecast]]
    there: Sequence[Point]
    pace: float | None = None
    """How many times the processor time of the other host this one takes; None where nothing was run on both."""

    @property
    def unknown(self) -> int:
        """How many builds and points there is no earlier one for."""
        builds = sum(None in (cost.seconds, cost.size) for _, cost in self.builds)
        return builds + sum(not cost.known for _, cost in self.points)

    @property
    def elsewhere(self) -> int:
        """How many builds and points of which only another host has had the like."""
        return sum(cost.elsewhere for _, cost in self.builds) + sum(cost.elsewhere for _, cost in self.points)

    @property
    def resized(self) -> int:
        """How many points are estimated from a run of another size."""
        return sum(cost.resized for _, cost in self.points)

    def minutes(self, jobs: int) -> float:
        """Of all builds and points whose time is known, ``jobs`` points at a time."""
        builds = sum(cost.seconds or 0.0 for _, cost in self.builds)
        points = sum(cost.processor_seconds for _, cost in self.points)
        return (builds + points / jobs) / 60

    @property
    def size(self) -> int:
        """Bytes on disk of all builds and points whose size is known."""
        return sum(cost.size or 0 for _, cost in self.builds) + sum(cost.bytes for _, cost in self.points)

    @property
    def peak(self) -> int:
        """Resident bytes of the largest point."""
        return max((cost.peak_bytes for _, cost in self.points), default=0)


def plan(wanted: Sequence[Point], root: Path, reuse: str, extra_config: many.ExtraConfig = many.as_it_is) -> Plan:
    """What running ``wanted`` into the folder ``root`` would take. Nothing is built, and nothing run.

    Raises:
        Failure: bad-input, when something cannot be had on this host.
    """
    known = catalogue.rows(root)
    pace = known_costs.pace(known)
    with reading_once():
        there, missing = many.complete(wanted, root, reuse)
        to_do = [(point, forecast(point, known, pace)) for point in missing]
        return Plan(_builds(wanted, extra_config, pace or 1.0), to_do, [ended.point for ended in there], pace)


def _builds(wanted: Sequence[Point], extra_config: many.ExtraConfig, pace: float) -> list[tuple[str, Cost]]:
    missing: list[tuple[str, Cost]] = []
    parts = many.parts(wanted, extra_config) if wanted else []
    for number, part in enumerate(parts):
        try:
            with cache.looking():
                part.make()
        except cache.Missing as one:
            missing.append((part.name, _cost_of_build(part.kind or one.kind, part.stem or one.name, pace)))
            if number == 0:  # without the host's packages nobody can tell what is there
                return missing + [(part.name, _cost_of_build(part.kind, part.stem, pace)) for part in parts[1:]]
    return missing


def _cost_of_build(kind: str, name: str, pace: float) -> Cost:
    if not kind:
        return Cost(None, None)
    here = Cost(*cache.built_before(kind, name))
    there = known_costs.read().builds.get((kind, name))
    if here.seconds is not None or there is None:
        return here
    seconds, size = there
    return Cost(seconds * pace, size, elsewhere=True)

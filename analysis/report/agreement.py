# SPDX-License-Identifier: BSD-3-Clause
"""How far two engines' runs of the same work agree: transfers per unit of work, and the lines with the most of them.

Lines that are written in the region move because cores share them. A line that is only read moves once to each core that does not
have it yet, so how many of those there are is up to what the caches held before: one engine's may be cold where the warm-up
begins, another's may have seen the boot. Both are counted, and told apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

from analysis.attribute.tables import read_table
from analysis.report.engine_facts import engine_facts
from analysis.report.words import heading
from common.json_files import read_json

TOP = 10
TELLING = 0.01
"""Share of the transfers from which on a line's rank says something: below it are single events of cold caches."""


@dataclass(frozen=True)
class Side:
    """One engine's run."""

    engine: str
    """Its name, and what it says must stand beside it."""
    units: float
    cycles_per_unit: float
    transfers: float
    """Lines that came from another core, of all lines together."""
    invalidations: float
    by_field: dict[str, float]
    """Transfers by what the line holds (type.field, symbol or user memory), most first."""
    written: float
    """Of the transfers, those of lines that some core wrote in the region."""

    @property
    def transfers_per_unit(self) -> float:
        return self.transfers / self.units

    @property
    def written_per_unit(self) -> float:
        return self.written / self.units

    @property
    def top(self) -> list[str]:
        return list(self.by_field)[:TOP]

    def share(self, field: str) -> float:
        return self.by_field.get(field, 0.0) / self.transfers if self.transfers else 0.0


@dataclass(frozen=True)
class Agreement:
    """Two sides of one point."""

    first: Side
    second: Side

    @property
    def deviation(self) -> float:
        """Of transfers per unit, as a share of the larger; 0 if neither has any."""
        return _apart(self.first.transfers_per_unit, self.second.transfers_per_unit)

    @property
    def deviation_written(self) -> float:
        """The same of lines that are written in the region."""
        return _apart(self.first.written_per_unit, self.second.written_per_unit)

    @property
    def telling(self) -> list[str]:
        """The top lines of either side that have a share of its transfers that tells something."""
        sides = (self.first, self.second)
        return list(dict.fromkeys(field for side in sides for field in side.top if side.share(field) >= TELLING))

    @property
    def common(self) -> int:
        """How many of the telling lines are in the top of both."""
        return sum(field in self.first.top and field in self.second.top for field in self.telling)


def _apart(one: float, other: float) -> float:
    return abs(one - other) / max(one, other) if one or other else 0.0


def read_side(folder: Path) -> Side:
    """The side of a complete run."""
    metrics = read_json(folder / "metrics.json")
    lines = read_table(folder, "lines", ["paddr", "transfers_same_socket", "transfers_other_socket", "invalidations", "writers"])
    types = read_table(folder, "memory-types", ["paddr", "field"])
    transfers = pc.add(lines["transfers_same_socket"], lines["transfers_other_socket"])
    fields = dict(zip(types["paddr"].to_pylist(), types["field"].to_pylist(), strict=True))
    totals: dict[str, float] = {}
    for paddr, count in zip(lines["paddr"].to_pylist(), transfers.to_pylist(), strict=True):
        if count:
            label = str(fields.get(paddr) or "unknown")
            totals[label] = totals.get(label, 0.0) + count
    written = pc.sum(pc.filter(transfers, pc.not_equal(lines["writers"], pa.scalar(0, pa.uint64())))).as_py()
    longest = max(core["cycles"] for core in metrics["per_core"])
    return Side(
        engine=engine_facts(str(metrics["engine"]), read_json(folder / "provenance.json")).label,
        units=float(metrics["units"]),
        cycles_per_unit=longest * len(metrics["per_core"]) / float(metrics["units"]),
        transfers=float(sum(totals.values())),
        invalidations=float(pc.sum(lines["invalidations"]).as_py() or 0),
        by_field=_most_first(totals),
        written=float(written or 0),
    )


def together(sides: Sequence[Side]) -> Side:
    """One engine's runs of several points, as if they were one."""
    totals: dict[str, float] = {}
    for side in sides:
        for field, count in side.by_field.items():
            totals[field] = totals.get(field, 0.0) + count
    units = sum(side.units for side in sides)
    return Side(
        engine=sides[0].engine,
        units=units,
        cycles_per_unit=sum(side.cycles_per_unit * side.units for side in sides) / units,
        transfers=sum(side.transfers for side in sides),
        invalidations=sum(side.invalidations for side in sides),
        by_field=_most_first(totals),
        written=sum(side.written for side in sides),
    )


def _most_first(totals: dict[str, float]) -> dict[str, float]:
    return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def tables(agreement: Agreement, title: str) -> tuple[Table, Table]:
    """Figures of both sides, and the lines of either's top beside each other."""
    figures = Table(
        "",
        agreement.first.engine,
        agreement.second.engine,
        f"{agreement.second.engine} / {agreement.first.engine}",
        title=title,
        title_justify="left",
    )
    shown: list[tuple[str, Callable[[Side], float]]] = [
        (heading("all_transfers_per_unit"), lambda side: side.transfers_per_unit),
        ("  of lines that are written", lambda side: side.written_per_unit),
        ("  of lines only read", lambda side: side.transfers_per_unit - side.written_per_unit),
        ("core cycles per unit", lambda side: side.cycles_per_unit),
        ("invalidations per unit", lambda side: side.invalidations / side.units),
    ]
    for name, value in shown:
        first, second = value(agreement.first), value(agreement.second)
        figures.add_row(name, f"{first:.3f}", f"{second:.3f}", f"{second / first:.2f}" if first else "")
    hot = Table(
        "what the line holds",
        agreement.first.engine,
        agreement.second.engine,
        title="Share of all transfers",
        title_justify="left",
    )
    for field in dict.fromkeys([*agreement.first.top, *agreement.second.top]):
        hot.add_row(field, f"{100 * agreement.first.share(field):.1f} %", f"{100 * agreement.second.share(field):.1f} %")
    return figures, hot

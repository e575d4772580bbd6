# SPDX-License-Identifier: BSD-3-Clause
"""How far two engines' runs of the same work agree: what each counts for a unit of work, and the lines with the most transfers.

Lines that are written in the region move because cores share them. A line that is only read moves once to each core that does not
have it yet, so how many of those there are is up to what the caches held before: one engine's may be cold where the warm-up
begins, another's may have seen the boot; and a tick of the clock brings its handler's code. Both are counted, and told apart;
what is compared line by line are those that are written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

from analysis.attribute.tables import read_table
from analysis.report import windows
from analysis.report.engine_facts import engine_facts
from analysis.report.runs import Run
from analysis.report.words import heading

TOP = 10
TELLING = 0.01
"""Share of the transfers from which on a line's rank says something: below it are single events of cold caches."""
COUNTS = ("transfers", "L3 hits", "memory reads", "directed probes", "broadcast probes", "invalidations")
"""What both engines count; transfers are those of written lines."""
_ENOUGH = 0.05
"""A count below this share of all requests that leave the cores is of a region's beginning or of a tick, not of the work."""


@dataclass(frozen=True)
class Side:
    """One engine's run."""

    engine: str
    """Its name, and what it says must stand beside it."""
    units: float
    cycles_per_unit: float
    """Of all cores together, for as long as the one that took longest."""
    transfers: float
    """Lines that came from another core, of all lines together."""
    invalidations: float
    by_field: dict[str, float]
    """Transfers of written lines by what the line holds (type.field, symbol or user memory), most first."""
    written: float
    """Of the transfers, those of lines that some core wrote in the region."""
    counts: dict[str, float] = field(default_factory=dict)
    """Of all the region, by their names in `COUNTS`; without those that the engine does not know."""
    requests: float = 0.0
    """Of cores, that their own caches did not serve."""
    sure: dict[str, float] = field(default_factory=dict)
    """Of a region that was measured in windows: half the 95 % interval of a rate, as a share of it, by `windows.rates`' names."""

    @property
    def transfers_per_unit(self) -> float:
        return self.transfers / self.units

    @property
    def written_per_unit(self) -> float:
        return self.written / self.units

    @property
    def top(self) -> list[str]:
        return list(self.by_field)[:TOP]

    def share(self, name: str) -> float:
        return self.by_field.get(name, 0.0) / self.written if self.written else 0.0


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
    def deviation_cycles(self) -> float:
        """Of cycles per unit."""
        return _apart(self.first.cycles_per_unit, self.second.cycles_per_unit)

    @property
    def deviations(self) -> dict[str, float]:
        """Of each count per unit that both know and that one of them has enough of."""
        found = {}
        for name in COUNTS:
            if all(name in side.counts for side in (self.first, self.second)):
                enough = any(side.counts[name] >= _ENOUGH * side.requests > 0 for side in (self.first, self.second))
                if enough:
                    found[name] = _apart(*(side.counts[name] / side.units for side in (self.first, self.second)))
        return found

    @property
    def telling(self) -> list[str]:
        """The top lines of either side that have a share of its transfers that tells something."""
        sides = (self.first, self.second)
        return list(dict.fromkeys(name for side in sides for name in side.top if side.share(name) >= TELLING))

    @property
    def common(self) -> int:
        """How many of the telling lines are in the top of both."""
        return sum(name in self.first.top and name in self.second.top for name in self.telling)


def _apart(one: float, other: float) -> float:
    return abs(one - other) / max(one, other) if one or other else 0.0


def read_side(folder: Path) -> Side:
    """The side of a complete run."""
    run = Run(folder)
    metrics = run.metrics
    lines = read_table(folder, "lines", ["paddr", "transfers_same_socket", "transfers_other_socket", "invalidations", "writers"])
    types = read_table(folder, "memory-types", ["paddr", "field"])
    transfers = pc.add(lines["transfers_same_socket"], lines["transfers_other_socket"])
    is_written = pc.not_equal(lines["writers"], pa.scalar(0, pa.uint64()))
    written = pa.table({"paddr": lines["paddr"], "transfers": transfers}).filter(is_written)
    fields = dict(zip(types["paddr"].to_pylist(), types["field"].to_pylist(), strict=True))
    totals: dict[str, float] = {}
    for paddr, count in zip(written["paddr"].to_pylist(), written["transfers"].to_pylist(), strict=True):
        if count:
            label = str(fields.get(paddr) or "unknown")
            totals[label] = totals.get(label, 0.0) + count
    longest = max(core["cycles"] for core in metrics["per_core"])
    counts, requests = _counts(folder)
    of_written = float(pc.sum(written["transfers"]).as_py() or 0)
    return Side(
        engine=engine_facts(str(metrics["engine"]), run.provenance).label,
        units=float(metrics["units"]),
        cycles_per_unit=longest * len(run.point["core_list"]) / float(metrics["units"]),
        transfers=float(pc.sum(transfers).as_py() or 0),
        invalidations=float(pc.sum(lines["invalidations"]).as_py() or 0),
        by_field=_most_first(totals),
        written=of_written,
        counts={"transfers": of_written, **counts},
        requests=requests,
        sure={name: seen.width for name, seen in windows.rates(run).items() if seen.width is not None},
    )


def _counts(folder: Path) -> tuple[dict[str, float], float]:
    """What the engine counted, but for transfers of written lines, and all requests; nothing of what it does not know."""
    columns = ["l3_hits", "dram_local", "dram_remote", "transfers_same_socket", "transfers_other_socket", "upgrades"]
    columns.append("invalidations")
    cores = read_table(folder, "cores", columns)
    sums = {name: None if cores[name].null_count else float(pc.sum(cores[name]).as_py() or 0) for name in columns}
    matrix = read_table(folder, "matrix", ["kind", "messages"])
    messages: dict[str, float] = {}
    for kind, count in zip(matrix["kind"].to_pylist(), matrix["messages"].to_pylist(), strict=True):
        messages[kind] = messages.get(kind, 0.0) + count
    found = {
        "L3 hits": sums["l3_hits"],
        "memory reads": (sums["dram_local"] or 0.0) + (sums["dram_remote"] or 0.0),
        "directed probes": messages.get("directed probe", 0.0),
        "broadcast probes": messages.get("broadcast probe", 0.0),
        "invalidations": sums["invalidations"],
    }
    requests = sum(value or 0.0 for name, value in sums.items() if name != "invalidations")
    return {name: value for name, value in found.items() if value is not None}, requests


def together(sides: Sequence[Side]) -> Side:
    """One engine's runs of several points, as if they were one."""
    totals: dict[str, float] = {}
    for side in sides:
        for name, count in side.by_field.items():
            totals[name] = totals.get(name, 0.0) + count
    units = sum(side.units for side in sides)
    return Side(
        engine=sides[0].engine,
        units=units,
        cycles_per_unit=sum(side.cycles_per_unit * side.units for side in sides) / units,
        transfers=sum(side.transfers for side in sides),
        invalidations=sum(side.invalidations for side in sides),
        by_field=_most_first(totals),
        written=sum(side.written for side in sides),
        counts={name: sum(side.counts[name] for side in sides) for name in COUNTS if all(name in side.counts for side in sides)},
        requests=sum(side.requests for side in sides),
    )


def _most_first(totals: dict[str, float]) -> dict[str, float]:
    return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def tables(agreement: Agreement, title: str) -> tuple[Table, Table]:
    """Figures of both sides, and the lines of either's top beside each other.

    Beside a side that was measured in windows stands half the 95 % interval of each rate: so far chance alone may take the ratio.
    """
    sides = (agreement.first, agreement.second)
    figures = Table(
        "",
        agreement.first.engine,
        agreement.second.engine,
        f"{agreement.second.engine} / {agreement.first.engine}",
        title=title,
        title_justify="left",
    )
    in_windows = [side for side in sides if side.sure]
    for side in in_windows:
        figures.add_column(f"{side.engine}, 95 %")

    def row(name: str, rate: str, *cells: str) -> None:
        halves = [f"± {100 * side.sure[rate]:.0f} %" if rate in side.sure else "" for side in in_windows]
        figures.add_row(name, *cells, *halves)

    shown: list[tuple[str, str, Callable[[Side], float]]] = [
        (heading("all_transfers_per_unit"), "transfers", lambda side: side.transfers_per_unit),
        ("  of lines that are written", "", lambda side: side.written_per_unit),
        ("  of lines only read", "", lambda side: side.transfers_per_unit - side.written_per_unit),
        ("core cycles per unit", "core cycles", lambda side: side.cycles_per_unit),
    ]
    for name, rate, value in shown:
        first, second = value(agreement.first), value(agreement.second)
        row(name, rate, f"{first:.3f}", f"{second:.3f}", f"{second / first:.2f}" if first else "")
    for name in COUNTS[1:]:
        known = [f"{side.counts[name] / side.units:.4g}" if name in side.counts else "" for side in sides]
        ratio = agreement.second.counts.get(name, 0.0) / agreement.second.units * agreement.first.units
        first = agreement.first.counts.get(name, 0.0)
        row(f"{name} per unit", name, *known, f"{ratio / first:.2f}" if first and all(known) else "")
    hot = Table(
        "what the line holds",
        agreement.first.engine,
        agreement.second.engine,
        title="Share of the transfers of written lines",
        title_justify="left",
    )
    for name in dict.fromkeys([*agreement.first.top, *agreement.second.top]):
        hot.add_row(name, *(f"{100 * side.share(name):.1f} %" for side in sides))
    return figures, hot

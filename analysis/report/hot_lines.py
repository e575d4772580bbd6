# SPDX-License-Identifier: BSD-3-Clause
"""The hottest lines of a run: what they hold, where their contents came from and which instructions access them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.attribute.records import COUNTS
from analysis.attribute.source_lines import place_of
from analysis.attribute.tables import read_table
from analysis.report.shares import Counts, values

_CANDIDATES = 500  # hottest lines that are looked at for a table of hot lines
_OF_LINE = ("paddr", *COUNTS, "cores", "writers", "cycles", "card_reads", "card_writes")
_OF_TYPE = ("paddr", "kind", "name", "field", "fields", "instance")
_OF_SITE = ("paddr", "pc", "function", "file", "line", *COUNTS, "cycles")

_Rows = dict[int, list[dict[str, Any]]]  # of a table, by a line's physical address


@dataclass(frozen=True)
class Instruction:
    """One place in a program that accesses a line: ``where`` is file:line of the innermost frame in a source file, None in
    user code."""

    function: str
    where: str | None
    counts: Counts
    cycles: int
    share: float
    """Of the line's cycles."""


@dataclass(frozen=True)
class HotLine:
    """One line of a hot-line table. ``share`` is of all cross-socket transfers of the run; ``cores`` reached beyond their L2."""

    paddr: int
    label: str
    others: list[str]
    instance: str | None
    kind: str
    name: str
    cores: int
    writers: int | None
    counts: Counts
    cycles: int
    share: float
    sites: list[Instruction]
    similar: int = 0
    """Further lines with the same label among the hottest of the run, not listed; their share is ``similar_share``."""
    similar_share: float = 0.0
    card_reads: int | None = None
    """Times the network card read it; None: not known."""
    card_writes: int | None = None

    @property
    def by_card(self) -> bool:
        """Whether the network card is among those who touched it."""
        return bool(self.card_reads or self.card_writes)


class Hottest:
    """The lines with the most transfers of the run in ``folder``, hottest first, and what the tables have of them."""

    def __init__(self, folder: Path) -> None:
        lines = read_table(folder, "lines", _OF_LINE)
        keys = [values(lines, name) for name in ("paddr", "cycles", "transfers_same_socket", "transfers_other_socket")]
        order = np.lexsort((keys[0], -keys[1], -keys[2], -keys[3]))[:_CANDIDATES]
        self._candidates = lines.take(pa.array(order)).to_pylist()
        self._types = _rows_of(folder, "memory-types", _OF_TYPE, self._candidates)
        self._sites = _rows_of(folder, "sites", _OF_SITE, self._candidates)

    def lines(self, count: int, per_label: int, everything: int) -> list[HotLine]:
        """The first ``count``, see `Run.hot_lines`; ``everything`` is what shares are of."""
        shown: dict[str, list[dict[str, Any]]] = defaultdict(list)
        chosen: list[dict[str, Any]] = []
        similar: dict[int, tuple[int, int]] = {}
        for line in self._candidates:
            alike = shown[self._types[line["paddr"]][0]["field"]]
            if len(alike) < per_label and len(chosen) < count:
                alike.append(line)
                chosen.append(line)
            elif len(alike) == per_label:
                number, moved = similar.get(alike[-1]["paddr"], (0, 0))
                similar[alike[-1]["paddr"]] = (number + 1, moved + (line["transfers_other_socket"] or 0))
        found = []
        for line in chosen:
            number, moved = similar.get(line["paddr"], (0, 0))
            hot = _hot_line(line, self._types[line["paddr"]][0], self._sites[line["paddr"]], everything)
            found.append(replace(hot, similar=number, similar_share=moved / everything if everything else 0.0))
        return found


def _rows_of(folder: Path, name: str, columns: Sequence[str], lines: Sequence[dict[str, Any]]) -> _Rows:
    """The rows of a table for these lines, by physical address."""
    table = read_table(folder, name, columns)
    wanted = pa.array([line["paddr"] for line in lines], pa.uint64())
    rows: _Rows = defaultdict(list)
    for row in table.filter(pc.is_in(table.column("paddr"), value_set=wanted)).to_pylist():
        rows[row["paddr"]].append(row)
    return rows


def _hot_line(line: dict[str, Any], what: dict[str, Any], sites: list[dict[str, Any]], everything: int) -> HotLine:
    cycles = sum(site["cycles"] or 0 for site in sites)
    merged: dict[tuple[str, str | None], Instruction] = {}
    for site in sorted(sites, key=lambda row: (-(row["cycles"] or 0), row["pc"])):
        where = place_of(site["file"], site["line"])
        before = merged.get((site["function"], where))
        counts = {name: _plus(before.counts[name] if before else None, site[name]) for name in COUNTS}
        spent = (before.cycles if before else 0) + (site["cycles"] or 0)
        merged[(site["function"], where)] = Instruction(site["function"], where, counts, spent, spent / cycles if cycles else 0.0)
    label = what["field"] or str(what["kind"])
    return HotLine(
        paddr=line["paddr"],
        label=label,
        others=[name for name in what["fields"] or [] if name != label],
        instance=what["instance"],
        kind=what["kind"],
        name=what["name"],
        cores=int(line["cores"] or 0).bit_count(),
        writers=None if line["writers"] is None else int(line["writers"]).bit_count(),
        counts={name: line[name] for name in COUNTS},
        cycles=line["cycles"] or 0,
        share=(line["transfers_other_socket"] or 0) / everything if everything else 0.0,
        sites=sorted(merged.values(), key=lambda site: (-site.cycles, site.function)),
        card_reads=line["card_reads"],
        card_writes=line["card_writes"],
    )


def _plus(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else left + right

# SPDX-License-Identifier: BSD-3-Clause
"""Sharing of a line, as ``perf c2c``: who reads and writes which of its bytes, and whether cores share bytes or the line only.

Two cores share a line truly if one writes a byte that the other touches. They share it falsely if one writes, but nothing that
the other touches: then the line moves although neither needs what the other wrote, and fields apart would end it.

What is known of an instruction is where in the line its first access was and how long; that stands for all of its accesses.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from analysis.attribute.records import COUNTS
from analysis.attribute.source_lines import Frame
from analysis.attribute.tables import read_table
from analysis.report.shares import Counts


class Kind(StrEnum):
    """How the cores that touch a line share it."""

    TRUE = "true"
    FALSE = "false"
    MIXED = "mixed"
    READ = "only read"
    ONE = "one core"


@dataclass(frozen=True)
class Bytes:
    """Some bytes of a line and who touches them: sets of cores, bit n is core n. ``fields`` and ``places`` are busiest first."""

    offset: int
    size: int
    readers: int
    writers: int
    accesses: int
    writes: int
    cycles: int
    counts: Counts
    fields: tuple[str, ...]
    places: tuple[str, ...]
    """function, or function file:line."""

    @property
    def mask(self) -> int:
        """Bit n is byte n of the line."""
        return (1 << self.size) - 1 << self.offset


@dataclass(frozen=True)
class Sharing:
    """One line: its bytes by offset, and of how many pairs of cores the sharing is true and false."""

    paddr: int
    parts: tuple[Bytes, ...]
    true_pairs: int
    false_pairs: int
    card_reads: int = 0
    """Times the network card read the line; of which of its bytes is not known."""
    card_writes: int = 0

    @property
    def kind(self) -> Kind:
        """What of it there is."""
        if self.true_pairs and self.false_pairs:
            return Kind.MIXED
        if self.true_pairs or self.false_pairs:
            return Kind.TRUE if self.true_pairs else Kind.FALSE
        return Kind.READ if len(cores_of(self._touched)) > 1 else Kind.ONE

    @property
    def _touched(self) -> int:
        found = 0
        for part in self.parts:
            found |= part.readers | part.writers
        return found

    @property
    def sentence(self) -> str:
        """The kind in words, with the pairs of cores that it is of, and what the card did."""
        return "; ".join(filter(None, (self._of_cores, self._of_card)))

    @property
    def _of_card(self) -> str:
        did = [
            f"{word} it {count:,} time{'s' if count > 1 else ''}"
            for word, count in (("read", self.card_reads), ("wrote", self.card_writes))
            if count
        ]
        return f"the card {' and '.join(did)}" if did else ""

    @property
    def _of_cores(self) -> str:
        cores = len(cores_of(self._touched))
        pairs = cores * (cores - 1) // 2
        match self.kind:
            case Kind.TRUE:
                return f"true sharing: of {_pairs(self.true_pairs, pairs)} one writes bytes that the other touches"
            case Kind.FALSE:
                return f"false sharing: of {_pairs(self.false_pairs, pairs)} one writes, but no byte that the other touches"
            case Kind.MIXED:
                return f"mixed: true sharing of {self.true_pairs:,} and false of {_pairs(self.false_pairs, pairs)}"
            case Kind.READ:
                return f"{cores} cores read it and none writes"
            case Kind.ONE:
                return "one core touches it" if self._of_card else "one core alone touches it"


def _pairs(count: int, everything: int) -> str:
    return f"{count:,} of {everything:,} pair{'s' if everything > 1 else ''} of cores"


def sharing(folder: Path, paddrs: Iterable[int]) -> dict[int, Sharing]:
    """How the lines at these physical addresses are shared, by address; of those that have sites in the run in ``folder``.

    Raises:
        Failure: bad-input, when the table of sites cannot be read.
    """
    table = read_table(folder, "sites")
    wanted = pa.array(list(paddrs), pa.uint64())
    rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in table.filter(pc.is_in(table.column("paddr"), value_set=wanted)).to_pylist():
        rows[row["paddr"]].append(row)
    lines = read_table(folder, "lines", ["paddr", "card_reads", "card_writes"])
    found = {paddr: _sharing(paddr, sites) for paddr, sites in rows.items()}
    for row in lines.filter(pc.is_in(lines.column("paddr"), value_set=wanted)).to_pylist():
        if row["paddr"] in found:
            reads, writes = row["card_reads"] or 0, row["card_writes"] or 0
            found[row["paddr"]] = replace(found[row["paddr"]], card_reads=reads, card_writes=writes)
    return found


def _sharing(paddr: int, sites: Sequence[Mapping[str, Any]]) -> Sharing:
    grouped: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
    for site in sites:
        grouped[(site["offset"], site["size"])].append(site)
    parts = tuple(_bytes(offset, size, group) for (offset, size), group in sorted(grouped.items()))
    touched: dict[int, int] = defaultdict(int)  # core -> bytes
    written: dict[int, int] = defaultdict(int)
    for part in parts:
        for core in cores_of(part.readers | part.writers):
            touched[core] |= part.mask
        for core in cores_of(part.writers):
            written[core] |= part.mask
    true = false = 0
    for one, other in combinations(touched, 2):
        if written[one] & touched[other] or written[other] & touched[one]:
            true += 1
        elif written[one] or written[other]:
            false += 1
    return Sharing(paddr, parts, true, false)


def _bytes(offset: int, size: int, sites: Sequence[Mapping[str, Any]]) -> Bytes:
    readers = writers = 0
    fields: dict[str, int] = defaultdict(int)
    places: dict[str, int] = defaultdict(int)
    counts: Counts = dict.fromkeys(COUNTS)
    for site in sites:
        readers |= site["cores"] if site["accesses"] > site["writes"] else 0
        writers |= site["cores"] if site["writes"] else 0
        fields[site["field"]] += site["cycles"]
        places[str(Frame(site["function"], site["file"] or "", site["line"] or 0))] += site["cycles"]
        for name in COUNTS:
            if site[name] is not None:
                counts[name] = (counts[name] or 0) + site[name]
    total = {name: sum(site[name] for site in sites) for name in ("accesses", "writes", "cycles")}
    return Bytes(offset, size, readers, writers, **total, counts=counts, fields=_busiest(fields), places=_busiest(places))


def _busiest(weights: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(weights, key=lambda name: (-weights[name], name)))


def cores_of(mask: int) -> list[int]:
    """The numbers of the cores in a set."""
    return [core for core in range(mask.bit_length()) if mask >> core & 1]


def core_text(mask: int) -> str:
    """A set of cores as ``0-5, 12``; "none" for an empty one."""
    spans: list[list[int]] = []
    for core in cores_of(mask):
        if spans and spans[-1][1] == core - 1:
            spans[-1][1] = core
        else:
            spans.append([core, core])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans) or "none"

# SPDX-License-Identifier: BSD-3-Clause
"""What a run's traffic consists of: totals, origins, and the shares of bottlenecks and fields. Whole columns at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.attribute.hashing import numbered
from analysis.attribute.records import COUNTS
from analysis.attribute.subjects import FREED_USER, USER_KINDS, Kind
from analysis.attribute.tables import read_table
from analysis.report.bottlenecks import Bottleneck, Catalogue, entry_named
from analysis.report.callers import apportioned, chains

NAMES = 16
"""Fields and functions of a share that are kept."""

Counts = dict[str, int | None]
_Integers = npt.NDArray[np.int64]

_SYMBOLS = frozenset({Kind.STATIC, Kind.CODE})  # have a symbol even where the type is not known


@dataclass
class Share:
    """What one bottleneck or field costs: transfers between cores and cycles, absolute and of the whole run."""

    title: str
    entry: str
    """Identifier of its entry in the catalogue of bottlenecks."""
    same_socket: int = 0
    other_socket: int = 0
    cycles: int = 0
    lines: int = 0
    """How many lines moved between cores; not counted of bottlenecks."""
    transfers_share: float = 0.0
    cycles_share: float = 0.0
    fields: dict[str, int] = field(default_factory=dict)
    """Transfers of the `NAMES` fields with the most."""
    functions: dict[str, int] = field(default_factory=dict)
    """The same of functions."""

    @property
    def bottleneck(self) -> Bottleneck:
        """The entry itself."""
        return entry_named(self.entry)

    def top(self, what: str, count: int = 4) -> list[str]:
        """The ``count`` fields or functions with the most weight."""
        weights: dict[str, int] = getattr(self, what)
        return sorted(weights, key=lambda name: (-weights[name], name))[:count]


@dataclass(frozen=True)
class Summary:
    """Everything about a run's records that is small."""

    totals: Counts
    """Sum over all lines of each event, None where the engine does not know it."""
    origins: dict[str, float]
    """Shares of the cross-socket transfers: ``field`` (a kernel type.field or a variable is known), ``user`` (memory of the
    application), ``other`` (page tables, stacks, objects of unknown type, ...). Empty without any such transfers."""
    bottlenecks: list[Share]
    fields: list[Share]


def values(table: pa.Table, name: str) -> _Integers:
    """A column as signed integers, null as 0 (for ordering and sums)."""
    array: _Integers = table.column(name).fill_null(0).to_numpy().astype(np.int64)
    return array


def summarise(folder: Path) -> Summary:
    """Read the tables of a run directory once and keep what is small."""
    lines = read_table(folder, "lines", ["paddr", *COUNTS, "l1_misses", "l2_hits", "cycles"])
    totals = {name: _total(lines, name) for name in [*COUNTS, "l1_misses", "l2_hits", "cycles"]}
    types = read_table(folder, "memory-types", ["paddr", "kind", "type", "field"])
    columns = ["paddr", "pc", "field", "function", "kernel", "frames", "writes", "lines"]
    sites = read_table(folder, "sites", [*columns, "transfers_same_socket", "transfers_other_socket", "upgrades", "cycles"])
    catalogue = Catalogue()
    sites, callers = _split_by_callers(sites, folder, catalogue)
    entries, entry_of_site = _classify(sites, callers, catalogue)
    fields, field_of_site = _coded(sites, "field")
    functions, function_of_site = _coded(sites, "function")
    names = _Names(fields, field_of_site, functions, function_of_site)
    by_entry = _shares(sites, [entry.title for entry in entries], entries, entry_of_site, names)
    # A field's bottleneck is that of its first site.
    of_field = [entries[entry_of_site[row]] for row in _first_rows(field_of_site)]
    by_field = _shares(sites, fields, of_field, field_of_site, names)
    moved = dict(zip(fields, _lines_moved(sites, field_of_site, len(fields)), strict=True))
    for share in by_field:
        share.lines = moved[share.title]
    return Summary(totals, _origins(lines, types), by_entry, by_field)


@dataclass(frozen=True)
class _Names:
    """Fields and functions, and which of them each site has."""

    fields: list[str]
    field_of_site: _Integers
    functions: list[str]
    function_of_site: _Integers


def _total(table: pa.Table, name: str) -> int | None:
    column = table.column(name)
    return None if column.null_count == len(column) and len(column) else int(values(table, name).sum())


def _coded(table: pa.Table, name: str) -> tuple[list[str], _Integers]:
    """Distinct texts of a column (null is "unknown") and each row's number among them."""
    encoded = table.column(name).cast(pa.string()).fill_null("unknown").combine_chunks().dictionary_encode()
    codes: _Integers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return [str(text) for text in encoded.dictionary.to_pylist()], codes


def _first_rows(codes: _Integers) -> _Integers:
    """The first row of each number in ``codes``, which are 0, 1, ... without a gap."""
    rows = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]
    return rows


_Callers = dict[
    int, tuple[str, ...]
]  # of a row: by whom it was reached; rows that are not there: not known, or it does not matter


def _split_by_callers(sites: pa.Table, folder: Path, catalogue: Catalogue) -> tuple[pa.Table, _Callers]:
    """The sites, those of which the catalogue asks who called in a row for each way in which they were reached, and these ways.

    Counts and cycles of a site are split in the shares of what was seen of it; the parts add up to the whole.
    """
    fields, field_of_site = _coded(sites, "field")
    asked = np.nonzero(np.array([catalogue.asks_callers(name) for name in fields], np.bool_)[field_of_site])[0]
    if not len(asked):
        return sites, {}
    rows = sites.take(pa.array(asked)).to_pylist()
    known = chains(folder, sorted({row["paddr"] for row in rows}))
    amounts = ("transfers_same_socket", "transfers_other_socket", "upgrades", "cycles")
    kept = np.ones(len(sites), np.bool_)
    parts: list[dict[str, Any]] = []
    callers: list[tuple[str, ...]] = []
    for number, row in zip(asked.tolist(), rows, strict=True):
        ways = known.get((row["paddr"], row["pc"]))
        if ways is None:
            continue
        kept[number] = False
        weights = [way.walks for way in ways]
        split = {name: [None] * len(ways) if row[name] is None else apportioned(row[name], weights) for name in amounts}
        for place, way in enumerate(ways):
            parts.append({**row, **{name: split[name][place] for name in amounts}})
            callers.append(way.callers)
    table = pa.concat_tables([sites.filter(pa.array(kept)), pa.Table.from_pylist(parts, schema=sites.schema)])
    return table, dict(enumerate(callers, int(kept.sum())))


def _classify(sites: pa.Table, callers: _Callers, catalogue: Catalogue) -> tuple[list[Bottleneck], _Integers]:
    """Distinct bottlenecks, and each site's number among them; ``callers`` are those of `_split_by_callers`.

    A site that only reads waits because others write to its line, perhaps another field of it: it counts with the line's
    busiest writer.
    """
    rows = len(sites)
    fields, field_of_site = _coded(sites, "field")
    privileged, counters = values(sites, "kernel"), values(sites, "pc")
    entries: list[Bottleneck] = []
    numbers: dict[str, int] = {}
    found = np.zeros(rows, np.int64)
    if not rows:
        return entries, found
    place_of_site, _ = numbered(counters)
    keys = (place_of_site * len(fields) + field_of_site) * 2 + (privileged != 0)
    reached = np.array(sorted(callers), np.int64)
    keys[reached] = -1 - reached  # each for itself
    which, first = numbered(keys)
    stacks = sites.column("frames").take(pa.array(first)).to_pylist()
    codes = np.zeros(len(first), np.int64)
    for number, (row, stack) in enumerate(zip(first, stacks, strict=True)):
        frames = [frame.split(" ")[0] for frame in stack]
        entry = catalogue.classify(fields[field_of_site[row]], frames, bool(privileged[row]), callers.get(int(row), ()))
        if entry.id not in numbers:
            numbers[entry.id] = len(entries)
            entries.append(entry)
        codes[number] = numbers[entry.id]
    found = codes[which]

    paddr = values(sites, "paddr")
    writes = sites.column("writes")
    known = writes.is_valid().to_numpy()
    count = values(sites, "writes")
    traffic = values(sites, "transfers_same_socket") + values(sites, "transfers_other_socket") + values(sites, "upgrades")
    writers = np.nonzero(known & (count > 0) & (traffic > 0))[0]
    readers = np.nonzero(known & (count == 0))[0]
    # Per line the writer with the most traffic, the first in the table of equals.
    order = writers[np.lexsort((-writers, traffic[writers], paddr[writers]))]
    addresses = paddr[order]
    place = np.searchsorted(addresses, paddr[readers], side="right") - 1
    if len(order):
        has = (place >= 0) & (addresses[place] == paddr[readers])
        found[readers[has]] = found[order[place[has]]]
    return entries, found


def _shares(sites: pa.Table, titles: list[str], entries: Sequence[Bottleneck], code: _Integers, names: _Names) -> list[Share]:
    """One share per number in ``code`` that occurs; ``titles`` and ``entries`` are by that number."""
    same, other = values(sites, "transfers_same_socket"), values(sites, "transfers_other_socket")
    cycles, moved = values(sites, "cycles"), values(sites, "transfers_same_socket") + values(sites, "transfers_other_socket")
    size = len(titles)
    sums = {what: _sum_by(code, amount, size) for what, amount in (("same", same), ("other", other), ("cycles", cycles))}
    weights = (
        (names.fields, _weights(code, names.field_of_site, moved, len(names.fields))),
        (names.functions, _weights(code, names.function_of_site, moved, len(names.functions))),
    )
    transfers, total = int(other.sum()), int(cycles.sum())
    found: dict[int, Share] = {}
    for number in map(int, np.unique(code)):
        share = Share(titles[number], entries[number].id)
        share.same_socket, share.other_socket = int(sums["same"][number]), int(sums["other"][number])
        share.cycles = int(sums["cycles"][number])
        share.transfers_share = share.other_socket / transfers if transfers else 0.0
        share.cycles_share = share.cycles / total if total else 0.0
        for (texts, pairs), target in zip(weights, (share.fields, share.functions), strict=True):
            named = {texts[text]: weight for text, weight in pairs.get(number, ())}
            target.update(sorted(named.items(), key=lambda item: (-item[1], item[0]))[:NAMES])
        found[number] = share
    return sorted(found.values(), key=lambda share: (-share.other_socket, -share.same_socket, -share.cycles, share.title))


def _lines_moved(sites: pa.Table, field_of_site: _Integers, size: int) -> list[int]:
    """Per field how many lines have moved between cores for it; an address of lines that are alike is as many as they are."""
    moved = np.nonzero(values(sites, "transfers_same_socket") + values(sites, "transfers_other_socket"))[0]
    line_of_site, _ = numbered(values(sites, "paddr")[moved])
    pairs, first = np.unique(line_of_site * size + field_of_site[moved], return_index=True)
    return [int(count) for count in _sum_by(pairs % max(size, 1), values(sites, "lines")[moved[first]], size)]


def _sum_by(code: _Integers, amounts: _Integers, size: int) -> _Integers:
    result = np.zeros(size, np.int64)
    np.add.at(result, code, amounts)
    return result


def _weights(code: _Integers, text: _Integers, weight: _Integers, texts: int) -> dict[int, list[tuple[int, int]]]:
    """Per code the texts that occur with it, each with the sum of its weights."""
    both = code * texts + text
    which, first = numbered(both)
    pairs = both[first]
    sums = _sum_by(which, weight, len(pairs))
    found: dict[int, list[tuple[int, int]]] = {}
    for pair, amount in zip(pairs.tolist(), sums.tolist(), strict=True):
        found.setdefault(pair // texts, []).append((pair % texts, amount))
    return found


def _origins(lines: pa.Table, types: pa.Table) -> dict[str, float]:
    transfers = values(lines, "transfers_other_socket")
    total = int(transfers.sum())
    if not total:
        return {}
    kinds, kind_of = _coded(types, "kind")
    fields, field_of = _coded(types, "field")
    typed = types.column("type").is_valid().to_numpy()
    freed = np.array([kind == Kind.FREE for kind in kinds])[kind_of]
    named = np.array([field not in (FREED_USER, Kind.FREE) for field in fields])[field_of]
    symbol = np.array([kind in _SYMBOLS for kind in kinds])[kind_of] | typed | (freed & named)
    user = np.array([kind in USER_KINDS for kind in kinds])[kind_of] & ~symbol
    user |= np.array([field == FREED_USER for field in fields])[field_of]
    # Both tables have a row per line; each is looked up in the other by address.
    moved = np.nonzero(transfers)[0]
    known = values(types, "paddr")
    order = np.argsort(known)
    row = order[np.searchsorted(known[order], values(lines, "paddr")[moved])]
    sums: dict[str, Any] = {"field": transfers[moved][symbol[row]].sum(), "user": transfers[moved][user[row]].sum()}
    shares = {name: int(amount) / total for name, amount in sums.items()}
    return {**shares, "other": 1.0 - sum(shares.values()) if sum(map(int, sums.values())) < total else 0.0}

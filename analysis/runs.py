# SPDX-License-Identifier: BSD-3-Clause
"""A complete run directory as the tables and the report see it."""

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.attribution import USER_KINDS, Kind
from analysis.bottlenecks import Bottleneck, Catalogue
from harness.outcome import bad_input

COUNTS = [
    "l3_hits",
    "transfers_same_socket",
    "transfers_other_socket",
    "dram_local",
    "dram_remote",
    "upgrades",
]
"""The events of a line or site that tables show, in their order."""

_CANDIDATES = 500  # hottest lines that are looked at for a table of hot lines

Counts = dict[str, int | None]


@dataclass(frozen=True)
class CallSite:
    """One place in a program: ``where`` is file:line of the innermost frame in a source file, None in user code."""

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
    sites: list[CallSite]
    similar: int = 0
    """Further lines with the same label among the hottest of the run, not listed; their share is ``similar_share``."""
    similar_share: float = 0.0


@dataclass
class Share:
    """What one bottleneck or field costs: transfers between cores and cycles, absolute and of the whole run."""

    title: str
    bottleneck: Bottleneck
    same_socket: int = 0
    other_socket: int = 0
    cycles: int = 0
    lines: set[int] = field(default_factory=set)
    transfers_share: float = 0.0
    cycles_share: float = 0.0
    fields: dict[str, int] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)

    def top(self, what: str, count: int = 4) -> list[str]:
        """The ``count`` fields or functions with the most weight."""
        weights: dict[str, int] = getattr(self, what)
        return sorted(weights, key=lambda name: (-weights[name], name))[:count]


class Run:
    """Lazily read; every property is a function of the files in ``folder``.

    Raises:
        Failure: bad-input, when the folder is not a complete run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.point: dict[str, Any] = tomllib.loads((folder / "point.toml").read_text(encoding="utf-8"))
            self.metrics: dict[str, Any] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
            self.provenance: dict[str, Any] = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise bad_input(f"{folder} is not a complete run ({error}).", "Give a folder that `run.py run` made.") from None

    def _table(self, name: str) -> pa.Table:
        path = self.folder / f"{name}.parquet"
        try:
            return pq.read_table(path)
        except (OSError, pa.ArrowException) as error:
            raise bad_input(f"{path} cannot be read ({error}).", "Run the point again.") from None

    # ---- the point -----------------------------------------------------------------------------------------------------------

    @property
    def workload(self) -> str:
        """``micro:open-close``."""
        return f"{self.point['workload']}:{self.point['variant']}" if self.point.get("variant") else str(self.point["workload"])

    @property
    def parameters(self) -> str:
        """``iterations=100, size=4096``; empty if there are none."""
        return ", ".join(f"{key}={value}" for key, value in sorted(self.point.get("parameters", {}).items()))

    @property
    def cores(self) -> int:
        """Cores in use."""
        return int(self.point["cores"])

    @property
    def engine(self) -> str:
        """Which engine the figures come from."""
        return str(self.point["engine"])

    @property
    def machine(self) -> str:
        """Name of the simulated machine."""
        return str(self.point["machine"]["name"])

    @property
    def kernel(self) -> str:
        """``linux-6.1`` or ``linux-6.1 + fix, fix``."""
        fixes = self.point.get("fixes") or []
        return str(self.point["kernel"]) + (f" + {', '.join(fixes)}" if fixes else "")

    @property
    def series(self) -> str:
        """What runs that differ only in cores and trial have in common, besides the workload."""
        order = f", {self.point['order']}" if self.point.get("order", "seq") != "seq" else ""
        return f"{self.kernel}, {self.machine}{order}, {self.engine} engine"

    @property
    def per_core(self) -> float:
        """Units of work per second and core."""
        return float(self.metrics["units_per_second_core"])

    @property
    def unit(self) -> str:
        """What is counted: ``operations``, ``requests``, ..."""
        return str(self.metrics["unit"])

    def part(self, what: str) -> float | None:
        """Share of the cores' time in the region spent in ``user``, ``system`` or ``idle``; None if the engine does not know."""
        value = self.metrics.get(what)
        return None if value is None else float(value)

    @property
    def transfers_per_unit(self) -> float | None:
        """Lines that came from another socket per unit of work; None if the engine does not know."""
        total, units = self.totals["transfers_other_socket"], self.metrics.get("units")
        return None if total is None or not units else total / int(units)

    # ---- tables --------------------------------------------------------------------------------------------------------------

    @cached_property
    def lines(self) -> pa.Table:
        """lines.parquet."""
        return self._table("lines")

    @cached_property
    def sites(self) -> pa.Table:
        """sites.parquet."""
        return self._table("sites")

    @cached_property
    def matrix(self) -> pa.Table:
        """matrix.parquet."""
        return self._table("matrix")

    @cached_property
    def types(self) -> pa.Table:
        """memory-types.parquet."""
        return self._table("memory-types")

    @cached_property
    def samples(self) -> pa.Table:
        """samples.parquet."""
        return self._table("samples")

    @cached_property
    def totals(self) -> Counts:
        """Sum over all lines of each event, None where the engine does not know it."""
        return {name: _total(self.lines, name) for name in [*COUNTS, "l1_misses", "l2_hits", "cycles"]}

    # ---- what the tables show ------------------------------------------------------------------------------------------------

    def hot_lines(self, count: int, per_label: int = 2) -> list[HotLine]:
        """The ``count`` lines with the most cross-socket transfers (then same-socket ones, then cycles).

        Of lines with one label (a queue node of each CPU, say) only the first ``per_label`` are in the list; the last of these
        tells how many more there are among the run's hottest and what share they have.
        """
        lines = self.lines
        keys = [_values(lines, name) for name in ("paddr", "cycles", "transfers_same_socket", "transfers_other_socket")]
        order = np.lexsort((keys[0], -keys[1], -keys[2], -keys[3]))[: max(_CANDIDATES, count)]
        candidates = lines.take(pa.array(order)).to_pylist()
        types = self._rows_of(self.types, candidates)
        everything = self.totals["transfers_other_socket"] or 0
        shown: dict[str, list[dict[str, Any]]] = defaultdict(list)
        chosen: list[dict[str, Any]] = []
        similar: dict[int, tuple[int, int]] = {}
        for line in candidates:
            alike = shown[types[line["paddr"]][0]["field"]]
            if len(alike) < per_label and len(chosen) < count:
                alike.append(line)
                chosen.append(line)
            elif len(alike) == per_label:
                number, moved = similar.get(alike[-1]["paddr"], (0, 0))
                similar[alike[-1]["paddr"]] = (number + 1, moved + (line["transfers_other_socket"] or 0))
        sites = self._rows_of(self.sites, chosen)
        found = []
        for line in chosen:
            number, moved = similar.get(line["paddr"], (0, 0))
            hot = _hot_line(line, types[line["paddr"]][0], sites[line["paddr"]], everything)
            found.append(replace(hot, similar=number, similar_share=moved / everything if everything else 0.0))
        return found

    @staticmethod
    def _rows_of(table: pa.Table, lines: Sequence[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
        """The rows of ``table`` for these lines, by physical address."""
        wanted = pa.array([line["paddr"] for line in lines], pa.uint64())
        rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in table.filter(_is_in(table, wanted)).to_pylist():
            rows[row["paddr"]].append(row)
        return rows

    @cached_property
    def _classified(self) -> list[Bottleneck]:
        """The bottleneck of each row of ``sites``.

        A site that only reads waits because others write to its line, perhaps another field of it: it counts with the line's
        busiest writer.
        """
        catalogue = Catalogue()
        columns = ["paddr", "field", "kernel", "frames", "writes", "transfers_same_socket", "transfers_other_socket", "upgrades"]
        found: list[Bottleneck] = []
        readers: list[tuple[int, int]] = []
        writers: dict[int, tuple[int, Bottleneck]] = {}
        rows = zip(*(self.sites.column(name).to_pylist() for name in columns), strict=True)
        for number, (paddr, name, is_kernel, stack, writes, same, other, upgrades) in enumerate(rows):
            entry = catalogue.classify(name or "unknown", [frame.split(" ")[0] for frame in stack], bool(is_kernel))
            found.append(entry)
            traffic = (same or 0) + (other or 0) + (upgrades or 0)
            if writes == 0:
                readers.append((number, paddr))
            elif writes and traffic > writers.get(paddr, (0, entry))[0]:
                writers[paddr] = (traffic, entry)
        for number, paddr in readers:
            if paddr in writers:
                found[number] = writers[paddr][1]
        return found

    def bottlenecks(self) -> list[Share]:
        """What each bottleneck costs, most cross-socket transfers first; "unexplained" is one of them. Sites without traffic
        between cores count with their cycles only."""
        return self._shares(self._classified, [entry.title for entry in self._classified])

    def fields(self) -> list[Share]:
        """The same per type.field (over all objects), most cross-socket transfers first."""
        return self._shares(self._classified, [name or "unknown" for name in self.sites.column("field").to_pylist()])

    def _shares(self, entries: Sequence[Bottleneck], titles: Sequence[str]) -> list[Share]:
        found: dict[str, Share] = {}
        columns = ["paddr", "field", "function", "transfers_same_socket", "transfers_other_socket", "cycles"]
        rows = zip(*(self.sites.column(name).to_pylist() for name in columns), strict=True)
        for entry, title, (paddr, name, function, same, other, cycles) in zip(entries, titles, rows, strict=True):
            share = found.setdefault(title, Share(title, entry))
            share.same_socket += same or 0
            share.other_socket += other or 0
            share.cycles += cycles or 0
            if same or other:
                share.lines.add(paddr)
            weight = (same or 0) + (other or 0)
            share.fields[name] = share.fields.get(name, 0) + weight
            share.functions[function] = share.functions.get(function, 0) + weight
        transfers = sum(share.other_socket for share in found.values())
        cycles_all = sum(share.cycles for share in found.values())
        for share in found.values():
            share.transfers_share = share.other_socket / transfers if transfers else 0.0
            share.cycles_share = share.cycles / cycles_all if cycles_all else 0.0
        return sorted(found.values(), key=lambda share: (-share.other_socket, -share.same_socket, -share.cycles, share.title))

    @cached_property
    def origins(self) -> dict[str, float]:
        """Shares of the cross-socket transfers: ``field`` (a kernel type.field or a variable is known), ``user`` (memory of the
        application), ``other`` (page tables, stacks, objects of unknown type, ...). Empty without any such transfers."""
        lines, transfers = _values(self.lines, "paddr"), _values(self.lines, "transfers_other_socket")
        total = int(transfers.sum())
        if not total:
            return {}
        origin = [
            "field" if kind in _SYMBOLS or kind_type is not None else "user" if kind in USER_KINDS else "other"
            for kind, kind_type in zip(self.types.column("kind").to_pylist(), self.types.column("type").to_pylist(), strict=True)
        ]
        known = dict(zip(self.types.column("paddr").to_pylist(), origin, strict=True))
        sums = dict.fromkeys(("field", "user", "other"), 0)
        for row in np.nonzero(transfers)[0]:
            sums[known[int(lines[row])]] += int(transfers[row])
        return {name: value / total for name, value in sums.items()}

    @property
    def attributed(self) -> float | None:
        """Share of the cross-socket transfers with a kernel type.field or variable; None without any."""
        return self.origins.get("field")

    @cached_property
    def unexplained(self) -> float | None:
        """Share of the cross-socket transfers that no entry of the catalogue explains; None without any."""
        shares = self.bottlenecks()
        if not any(share.other_socket for share in shares):
            return None
        return sum(share.transfers_share for share in shares if share.bottleneck.id == "unexplained")

    def matrix_of(self, kinds: Iterable[str], what: str = "messages") -> npt.NDArray[np.int64]:
        """``what`` (messages or bytes) of these kinds: shape (sockets, sockets), [requester, home]."""
        table = self.matrix
        sockets = int(self.point["machine"].get("sockets", 0)) or int(_values(table, "home").max(initial=0)) + 1
        result = np.zeros((sockets, sockets), np.int64)
        chosen = set(kinds)
        columns = (table.column(name).to_pylist() for name in ("home", "requester", "kind", what))
        for home, requester, kind, value in zip(*columns, strict=True):
            if kind in chosen and home < sockets and requester < sockets:
                result[requester, home] += value
        return result

    def profile(self, count: int) -> list[tuple[str, str | None, float]]:
        """(function, file, share of the busy samples), the ``count`` largest."""
        weights: dict[tuple[str, str | None], int] = defaultdict(int)
        columns = (self.samples.column(name).to_pylist() for name in ("function", "file", "count"))
        for function, file, samples in zip(*columns, strict=True):
            weights[(function, None if function == "user" else file)] += samples
        merged: dict[str, tuple[str | None, int]] = {}
        for (function, file), weight in sorted(weights.items(), key=lambda item: -item[1]):
            known = merged.get(function, (file, 0))
            merged[function] = (known[0], known[1] + weight)
        total = sum(weight for _, weight in merged.values())
        ranked = sorted(merged.items(), key=lambda item: (-item[1][1], item[0]))[:count]
        return [(function, file, weight / total) for function, (file, weight) in ranked]


_SYMBOLS = frozenset({Kind.STATIC, Kind.CODE})  # have a symbol even where the type is not known


def _values(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    """A column as signed integers, null as 0 (for ordering and sums)."""
    array: npt.NDArray[np.int64] = table.column(name).fill_null(0).to_numpy().astype(np.int64)
    return array


def _total(table: pa.Table, name: str) -> int | None:
    column = table.column(name)
    return None if column.null_count == len(column) and len(column) else int(_values(table, name).sum())


def _is_in(table: pa.Table, addresses: pa.Array) -> pa.Array:
    return pc.is_in(table.column("paddr"), value_set=addresses)


def _hot_line(line: dict[str, Any], what: dict[str, Any], sites: list[dict[str, Any]], everything: int) -> HotLine:
    cycles = sum(site["cycles"] or 0 for site in sites)
    merged: dict[tuple[str, str | None], CallSite] = {}
    for site in sorted(sites, key=lambda row: (-(row["cycles"] or 0), row["pc"])):
        where = f"{site['file']}:{site['line']}" if site["file"] else None
        before = merged.get((site["function"], where))
        counts = {name: _plus(before.counts[name] if before else None, site[name]) for name in COUNTS}
        spent = (before.cycles if before else 0) + (site["cycles"] or 0)
        merged[(site["function"], where)] = CallSite(site["function"], where, counts, spent, spent / cycles if cycles else 0.0)
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
    )


def _plus(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else left + right


def load_runs(folders: Iterable[Path]) -> list[Run]:
    """The runs in ``folders``, by workload, series and cores; of several trials of a point the best (as in the paper)."""
    best: dict[tuple[str, str, str, int], Run] = {}
    for folder in folders:
        run = Run(folder)
        key = (run.workload, run.parameters, run.series, run.cores)
        if key not in best or run.per_core > best[key].per_core:
            best[key] = run
    return [best[key] for key in sorted(best)]


def by_workload(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs grouped by workload."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.workload, []).append(run)
    return groups

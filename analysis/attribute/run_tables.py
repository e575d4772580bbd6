# SPDX-License-Identifier: BSD-3-Clause
"""From an engine's raw output to the Parquet tables of a run directory.

``engine/records.bin`` and ``engine/memory.elf`` -> ``lines.parquet``, ``sites.parquet``, ``matrix.parquet``,
``memory-types.parquet``, ``samples.parquet``, ``cores.parquet``, ``callers.parquet``, ``site-callers.parquet`` and
``sample-callers.parquet``; docs/reference/records.md has their columns.
"""

import json
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from analysis.attribute.alike import together
from analysis.attribute.freed_memory import Accesses, name_freed
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.hashing import distinct, is_in
from analysis.attribute.locate import Attribution
from analysis.attribute.nodes import full_nodes, node_memory
from analysis.attribute.object_names import Instances
from analysis.attribute.processes import USER_END
from analysis.attribute.records import MESSAGE_KINDS, read_records
from analysis.attribute.snapshot import Snapshot
from analysis.attribute.source_lines import CodeMap
from analysis.attribute.subjects import USER_KINDS, Kind, Located
from analysis.attribute.tables import write_table
from analysis.attribute.user_names import Code, Files, UserNames, name_user_data

U64 = npt.NDArray[np.uint64]
Order = npt.NDArray[np.int64]
"""Rows of a table in another order. Sites may be tens of millions: the table itself is put in order only as it is written."""

_INFERRED_LINES = 20_000  # of unknown type, by traffic: for how many a pointer is looked for
_IN_LINE = np.uint64(63)
_NAMED_LINES = 2_000  # by traffic: how many get the name of the very object


def _no_files(path: str) -> Path | None:
    return None


@dataclass(frozen=True)
class OfMemory:
    """What the guest's memory says besides the tables: a part of metrics.json.

    ``abandoned_walks`` counts walks through it that were given up, by what they looked for (`analysis.attribute.walks`);
    ``full_nodes`` and ``node_memory`` are as `analysis.attribute.nodes` finds them.
    """

    abandoned_walks: Mapping[str, int]
    full_nodes: Sequence[int]
    node_memory: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def write_run_tables(run_folder: Path, vmlinux: Path, files: Files = _no_files) -> OfMemory:
    """Write the Parquet tables of the run in ``run_folder``, which ran the kernel ``vmlinux``; ``files`` are the guest's.

    Raises:
        Failure: engine-crash, if the records or the snapshot are missing or damaged; bad-input, if they are of another kernel.
    """
    records = read_records(run_folder / "engine" / "records.bin")
    kernel = GuestKernel(vmlinux, Snapshot(run_folder / "engine" / "memory.elf"))
    attribution = Attribution(kernel)
    user = UserNames(attribution.processes, files)
    code = Code(CodeMap(vmlinux, kernel.program, kernel.symbols), user)
    lines, sites = records.table("lines"), records.table("sites")
    hottest = _hottest_first(sites)
    paddr, site_lines = _column(lines, "paddr"), _column(sites, "paddr")[hottest]
    site_addresses = site_lines + _column(sites, "offset")[hottest]
    attribution.infer(_busiest(np.concatenate([site_addresses, paddr[~is_in(paddr, site_lines)]])))
    site_labels = _name_freed(sites, hottest, _Labels(attribution, attribution.locate(site_addresses)))
    name_user_data(site_labels, _virtual(lines, site_addresses), user)
    origin = {
        "engine": records.engine,
        "machine": records.machine,
        "roi_cycles": str(records.roi_cycles),
        "point": _point(run_folder),
    }
    write = partial(write_table, run_folder, origin=origin)
    write("lines", lines)
    site_callers = records.table("site-callers")
    write("sites", _sites(sites, hottest, site_labels, code, lines, _column(site_callers, "paddr")))
    write("matrix", _matrix(records.table("matrix")))
    write("cores", records.table("cores"))
    write("samples", _samples(records.table("samples"), code))
    write("callers", _callers(records.table("callers"), code))
    write("site-callers", site_callers)
    write("sample-callers", records.table("sample-callers"))
    write("memory-types", _memory_types(attribution, lines, site_lines, site_addresses, site_labels, user))
    return OfMemory(dict(sorted(kernel.walks.abandoned.items())), full_nodes(kernel), node_memory(kernel))


def _point(run_folder: Path) -> str:
    """The run's point.toml as JSON: the machine's values and everything else that was decided."""
    return json.dumps(tomllib.loads((run_folder / "point.toml").read_text(encoding="utf-8")), sort_keys=True)


def _column(table: pa.Table, name: str) -> U64:
    array: U64 = table.column(name).to_numpy().astype(np.uint64, copy=False)
    return array


def _numbers(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    """A column of counts; 0 where the engine does not know it (for ordering only, never for output)."""
    array: npt.NDArray[np.int64] = table.column(name).fill_null(0).to_numpy().astype(np.int64)
    return array


def _hottest_first(sites: pa.Table) -> Order:
    """Sites by transfers between cores, then cycles, most first; ties by address, so that the order is always the same."""
    order: Order = np.lexsort((_column(sites, "pc"), _column(sites, "paddr"), -_numbers(sites, "cycles"), -_transfers(sites)))
    return order


def _transfers(sites: pa.Table) -> npt.NDArray[np.int64]:
    return _numbers(sites, "transfers_same_socket") + _numbers(sites, "transfers_other_socket") + _numbers(sites, "upgrades")


def _busiest(addresses: U64) -> U64:
    return addresses[:_INFERRED_LINES]


class _Labels:
    """Labels of located addresses, each distinct (subject, offset) named once.

    ``texts`` are the distinct labels, ``codes`` the number of each row's among them, ``typed`` whether a label is a field of an
    object whose type is known.
    """

    def __init__(self, attribution: Attribution, located: Located) -> None:
        pairs, inverse = _distinct(located.subject, located.offset)
        each = [attribution.label(subject, offset) for subject, offset in pairs]
        self.texts = list(dict.fromkeys(each))
        number = {text: place for place, text in enumerate(self.texts)}
        self.codes = np.array([number[text] for text in each], np.int64)[inverse]
        known = {text for text, (subject, _) in zip(each, pairs, strict=True) if attribution.subjects[subject].type_name}
        self.typed = [text in known for text in self.texts]

    def array(self) -> pa.Array:
        """The labels of all rows."""
        return _dictionary(self.codes, self.texts)


def _name_freed(sites: pa.Table, order: Order, labels: _Labels) -> _Labels:
    """``labels`` of the sites in ``order``, with what free memory was where that is known."""
    accesses = Accesses(
        _column(sites, "paddr")[order],
        _column(sites, "pc")[order],
        sites.column("kernel").to_numpy()[order] == 1,
        _numbers(sites, "accesses")[order],
        labels.codes,
    )
    labels.texts, labels.codes = name_freed(accesses, labels.texts, labels.typed)
    return labels


def _dictionary(indices: npt.NDArray[Any], values: Sequence[str | None]) -> pa.Array:
    """Strings by index, as plain strings (a null stays null)."""
    return pa.array(values, pa.string()).take(pa.array(indices.astype(np.int64)))


def _per_subject(attribution: Attribution, located: Located, what: str) -> pa.Array:
    values = [getattr(subject, what) for subject in attribution.subjects]
    return _dictionary(located.subject, [None if value is None else str(value) for value in values])


def _virtual(lines: pa.Table, addresses: U64) -> U64:
    """The virtual address of each physical one, from that of its line; 0 where that is not known."""
    paddr, virtual = _column(lines, "paddr"), lines.column("vaddr").fill_null(0).to_numpy().astype(np.uint64, copy=False)
    order = np.argsort(paddr)
    place = np.minimum(np.searchsorted(paddr[order], addresses & ~_IN_LINE), max(len(paddr) - 1, 0))
    row = order[place] if len(paddr) else place
    known = (paddr[row] == addresses & ~_IN_LINE) & (virtual[row] != 0) if len(paddr) else np.zeros(len(addresses), np.bool_)
    result = np.zeros(len(addresses), np.uint64)
    result[known] = (virtual[row[known]] & ~_IN_LINE) + (addresses[known] & _IN_LINE)
    return result


def _add_code(table: pa.Table, code: Code) -> pa.Table:
    """The table with the columns function, frames, file and line, from its columns pc and kernel."""
    return _add_code_at(table, _column(table, "pc"), code)


def _callers(callers: pa.Table, code: Code) -> pa.Table:
    """The function of a caller is that of its call, the last byte of which is before the return address."""
    return _add_code_at(callers, _column(callers, "address") - np.uint64(1), code)


def _add_code_at(table: pa.Table, counters: U64, code: Code) -> pa.Table:
    """The table with what is known of the code at ``counters``, one for each of its rows."""
    kernel = table.column("kernel").to_numpy()
    known = (kernel == 1) | (counters < np.uint64(USER_END))
    unique, inverse = distinct(np.where(known, counters, np.uint64(0)))
    sites = code.sites(unique.tolist())
    table = table.append_column("function", _dictionary(inverse, [site.function for site in sites]))
    frames = pa.array([[str(frame) for frame in site.frames] for site in sites], pa.list_(pa.string()))
    table = table.append_column("frames", frames.take(pa.array(inverse)))
    table = table.append_column("file", _dictionary(inverse, [site.inner.file or None for site in sites]))
    lines = pa.array([site.inner.line or None for site in sites], pa.uint32())
    return table.append_column("line", lines.take(pa.array(inverse)))


def _sites(sites: pa.Table, labelled: Order, labels: _Labels, code: Code, lines: pa.Table, apart: U64) -> pa.Table:
    """The table of sites, in the order of its file. ``labels`` are in the order ``labelled``; lines at addresses ``apart`` have
    rows of their own."""
    order = _order_on_disk(sites)
    fields = np.empty_like(labels.codes)
    fields[labelled] = labels.codes
    fields = fields[order]
    rows, kept = together(sites, order, fields, lines, apart.tolist())
    return _add_code(rows, code).append_column("field", _dictionary(fields[kept], labels.texts))


def _order_on_disk(sites: pa.Table) -> Order:
    """Most transfers first, as in memory, then by instruction and address: all that is said of an instruction is then said once,
    and the file is half as large."""
    order: Order = np.lexsort((_column(sites, "paddr"), _column(sites, "pc"), -_transfers(sites)))
    return order


def _matrix(matrix: pa.Table) -> pa.Table:
    kinds = matrix.column("kind").to_numpy()
    return matrix.set_column(matrix.schema.get_field_index("kind"), "kind", _dictionary(kinds, MESSAGE_KINDS))


def _samples(samples: pa.Table, code: Code) -> pa.Table:
    return _add_code(samples, code).sort_by([("count", "descending"), ("core", "ascending"), ("pc", "ascending")])


def _memory_types(
    attribution: Attribution, lines: pa.Table, site_lines: U64, site_addresses: U64, site_labels: _Labels, user: UserNames
) -> pa.Table:
    """One row per line: what it is. A line that several objects share is named after the one with the most traffic."""
    paddr = _column(lines, "paddr")
    # Sites are hottest first, so the first of a line is its busiest.
    with_sites, first = np.unique(site_lines, return_index=True)
    place = np.minimum(np.searchsorted(with_sites, paddr), max(len(with_sites) - 1, 0))
    has = with_sites[place] == paddr if len(with_sites) else np.zeros(len(paddr), np.bool_)
    rows = np.full(len(paddr), -1, np.int64)
    rows[has] = first[place[has]]
    addresses = paddr.copy()
    addresses[has] = site_addresses[rows[has]]
    located = attribution.locate(addresses)
    labels = _Labels(attribution, located)
    name_user_data(labels, _virtual(lines, addresses), user)
    busiest = _dictionary(np.where(has, site_labels.codes[rows], 0), site_labels.texts) if len(with_sites) else labels.array()
    start = located.offset - (addresses - paddr).astype(np.int64)
    covering, covering_of_line = _fields_of_lines(attribution, located, start)
    fields = pa.concat_arrays([_fields_of_sites(with_sites, site_lines, site_labels), covering])
    names = Instances(attribution).names(located, _order(rows)[:_NAMED_LINES])
    # What an application's own memory is, its virtual address says.
    vaddr = lines.column("vaddr").to_pylist()
    for index in np.nonzero(np.isin(located.subject, _numbers_of(attribution, USER_KINDS)))[0].tolist():
        if vaddr[index] is not None and vaddr[index] < USER_END:
            names[index] = f"{vaddr[index]:#x}"
    unknown = located.offset < 0
    return pa.table(
        {
            "paddr": pa.array(paddr),
            "kind": _per_subject(attribution, located, "kind"),
            "name": _per_subject(attribution, located, "name"),
            "instance": pa.array(names, pa.string()),
            "type": _types(attribution, located),
            "type_inferred": pa.array([subject.inferred for subject in attribution.subjects], pa.bool_()).take(
                pa.array(located.subject)
            ),
            "cpu": pa.array(located.cpu, mask=located.cpu < 0),
            "object": pa.array(located.object, mask=unknown),
            "offset": pa.array(start, mask=unknown),
            "field": pc.if_else(pa.array(has), busiest, labels.array()),
            "fields": fields.take(pa.array(np.where(has, place, len(with_sites) + covering_of_line))),
        }
    )


def _numbers_of(attribution: Attribution, kinds: Collection[Kind]) -> list[int]:
    return [number for number, subject in enumerate(attribution.subjects) if subject.kind in kinds]


def _order(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Lines that have sites, the busiest first."""
    with_sites = np.nonzero(rows >= 0)[0]
    return with_sites[np.argsort(rows[with_sites], kind="stable")]


def _types(attribution: Attribution, located: Located) -> pa.Array:
    """The C type of each line's object: of a variable its declared type."""
    values = [
        None if subject.type_name is None else attribution.fields.spelling(subject.type_name) for subject in attribution.subjects
    ]
    return _dictionary(located.subject, values)


def _fields_of_sites(with_sites: U64, site_lines: U64, labels: _Labels) -> pa.Array:
    """For each of the lines ``with_sites`` (sorted) the list of its sites' fields, each once, the busiest site's first."""
    texts, text_of_site = labels.texts, labels.codes
    keys, first = np.unique(np.searchsorted(with_sites, site_lines) * len(texts) + text_of_site, return_index=True)
    order = np.lexsort((first, keys // max(len(texts), 1)))
    keys = keys[order]
    starts = np.searchsorted(keys // max(len(texts), 1), np.arange(len(with_sites) + 1))
    values = pa.array(texts, pa.string()).take(pa.array(keys % max(len(texts), 1)))
    return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), values)


def _fields_of_lines(
    attribution: Attribution, located: Located, start: npt.NDArray[np.int64]
) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Lists of the fields that overlap a line, of the one object that is named (null where the type is not known), and which
    of these lists each line has."""
    typed = np.array([subject.type_name is not None for subject in attribution.subjects], np.bool_)
    pairs, inverse = _distinct(located.subject, start)
    found = [attribution.labels_in(subject, offset, offset + 64) if typed[subject] else None for subject, offset in pairs]
    return pa.array(found, pa.list_(pa.string())), inverse


def _distinct(
    subject: npt.NDArray[np.int32], offset: npt.NDArray[np.int64]
) -> tuple[list[tuple[int, int]], npt.NDArray[np.int64]]:
    """The distinct (subject, offset) pairs, and for each row the index of its pair. Offsets are within 2^39 of 0."""
    keys = (subject.astype(np.int64) << 40) + (offset + (1 << 39))
    unique, inverse = distinct(keys)
    return [(key >> 40, (key & (1 << 40) - 1) - (1 << 39)) for key in unique.tolist()], inverse

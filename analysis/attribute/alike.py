# SPDX-License-Identifier: BSD-3-Clause
"""Lines that are alike and that nobody looks at one by one: the table sites has them together.

An application run of 48 cores touches millions of lines, most of them a few times. What is shown of single lines is shown of the
busiest; of the others what counts is what they hold and which instruction waits. So the busiest `OWN` lines, by transfers and by
cycles, have rows of their own: one for each instruction. The others are put together where they cannot be told apart by what is
asked of them:

- the fields that moved between cores are the same,
- so is who wrote to them with the most transfers and upgrades, instruction and field: a reader's wait is put down to it,
- and either all cores in use stored to them or not.

Then all have one address, that of the busiest, the column ``lines`` says how many they are, and the accesses of an instruction to
one field are one row with the sum: one of stores and another of loads. Sums over sites, by field, instruction, function or
bottleneck, and numbers of lines by field are what they are without this.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.attribute.hashing import is_in, numbered
from analysis.attribute.records import COUNTS

OWN = 20_000
"""Lines with the most transfers, and lines with the most cycles, that have rows of their own."""

U64 = npt.NDArray[np.uint64]
_Integers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]

_SUMS = ("accesses", "writes", *COUNTS, "cycles")


def together(
    sites: pa.Table, order: _Integers, fields: _Integers, lines: pa.Table, apart: Collection[int] = (), own: int = OWN
) -> tuple[pa.Table, _Integers]:
    """``sites`` in ``order`` with the rows of lines that are alike put together, and a column ``lines``; the place in ``order``
    of the first of each.

    ``fields`` is, in that order, the number of each one's field, ``lines`` the engine's table of that name, ``apart`` further
    addresses of lines that get their own rows, ``own`` as `OWN`. Sites may be tens of millions: only what is left is put in
    order.
    """
    paddr = _unsigned(sites, "paddr")[order]
    alone = is_in(paddr, np.concatenate([_busiest(lines, own), np.array(sorted(apart), np.uint64)]))
    many = np.nonzero(~alone)[0]
    if not len(many):
        sites = sites.take(pa.array(order))
        return sites.append_column("lines", pa.array(np.ones(len(sites), np.uint32))), np.arange(len(sites))
    at = order[many]
    line, first_of_line = numbered(paddr[many].view(np.int64))
    stores = _signed(sites, "writes", at) > 0
    moved = _signed(sites, "transfers_same_socket", at) + _signed(sites, "transfers_other_socket", at)
    traffic = moved + _signed(sites, "upgrades", at)
    code = _pairs(_pairs(numbered(_unsigned(sites, "pc")[at].view(np.int64))[0], _signed(sites, "kernel", at)), fields[many])
    everywhere = is_in(paddr[many][first_of_line], _stored_by_all(lines)).astype(np.int64)
    kind = _kinds(line, _pairs(_writers(line, code, np.where(stores, traffic, 0)), everywhere), fields[many], moved > 0)

    key, first = numbered(_pairs(_pairs(kind[line], code), stores.astype(np.int64)))
    by_key = np.argsort(key, kind="stable")
    starts = np.searchsorted(key[by_key], np.arange(len(first)))
    members = at[by_key]
    chosen = np.sort(np.concatenate([np.nonzero(alone)[0], many[first]]))
    result, merged = sites.take(pa.array(order[chosen])), np.searchsorted(chosen, many[first])
    for name in _SUMS:
        if not sites.column(name).null_count:
            result = _with(result, name, merged, np.add.reduceat(_unsigned(sites, name)[members], starts))
    result = _with(result, "cores", merged, np.bitwise_or.reduceat(_unsigned(sites, "cores")[members], starts))
    # Kinds are numbered in the order of their first lines.
    leader = first_of_line[np.unique(kind, return_index=True)[1]]
    of_kind = kind[line[first]]
    result = _with(result, "paddr", merged, paddr[many][leader][of_kind])
    number = np.ones(len(chosen), np.uint32)
    number[merged] = np.bincount(kind)[of_kind]
    return result.append_column("lines", pa.array(number)), chosen


def _busiest(lines: pa.Table, own: int) -> U64:
    """Addresses of the lines with the most transfers, other sockets' first as in the tables of hot lines, and the most cycles."""
    paddr, cycles = _unsigned(lines, "paddr"), -_signed(lines, "cycles")
    same, other = -_signed(lines, "transfers_same_socket"), -_signed(lines, "transfers_other_socket")
    orders = (np.lexsort((paddr, cycles, same, other)), np.lexsort((paddr, cycles)))
    chosen: U64 = paddr[np.unique(np.concatenate([order[:own] for order in orders]))]
    return chosen


def _stored_by_all(lines: pa.Table) -> U64:
    """Addresses of the lines to which each core that touched any line stored."""
    everyone = np.bitwise_or.reduce(_unsigned(lines, "cores"))
    chosen: U64 = _unsigned(lines, "paddr")[_unsigned(lines, "writers") == everyone]
    return chosen


def _writers(line: _Integers, code: _Integers, traffic: _Integers) -> _Integers:
    """For each line 1 + the code of the site with the most ``traffic``, the first of equals; 0 where none has any."""
    has = np.nonzero(traffic > 0)[0]
    order = has[np.lexsort((has, -traffic[has], line[has]))]
    found, first = np.unique(line[order], return_index=True)
    writers = np.zeros(int(line.max()) + 1, np.int64)
    writers[found] = code[order[first]] + 1
    return writers


def _kinds(line: _Integers, beginning: _Integers, fields: _Integers, moved: _Flags) -> _Integers:
    """A number for each line, the same for lines with the same ``beginning`` and the same set of fields that moved.

    Fields are taken one after another, in the order of their numbers: lines that differ in any, or in how many, part.
    """
    width = int(fields.max()) + 1
    pairs = np.unique(line[moved] * width + fields[moved])
    lines, held = pairs // width, pairs % width
    place = np.arange(len(pairs)) - np.searchsorted(lines, lines)
    kind = _pairs(beginning, np.bincount(lines, minlength=len(beginning)))
    for step in range(int(place.max(initial=-1)) + 1):
        at = place == step
        parted = np.zeros(len(kind), np.int64)
        parted[lines[at]] = held[at] + 1
        kind = _pairs(kind, parted)
    return kind


def _pairs(left: _Integers, right: _Integers) -> _Integers:
    """Numbers of the distinct pairs, from 0 in the order of their first rows."""
    return numbered(left * (int(right.max(initial=0)) + 1) + right)[0]


def _with(table: pa.Table, name: str, rows: _Integers, values: npt.NDArray[np.generic]) -> pa.Table:
    """The table with other values in some rows of a column."""
    place = table.schema.get_field_index(name)
    column = table.column(place).to_numpy().copy()
    column[rows] = values
    kind = table.schema.field(place).type
    return table.set_column(place, name, pa.array(column, kind))


def _unsigned(table: pa.Table, name: str) -> U64:
    array: U64 = table.column(name).to_numpy().astype(np.uint64, copy=False)
    return array


def _signed(table: pa.Table, name: str, rows: _Integers | slice = slice(None)) -> _Integers:
    """Rows of a column of counts, 0 where the engine does not know it."""
    array: _Integers = table.column(name).fill_null(0).to_numpy()[rows].astype(np.int64)
    return array

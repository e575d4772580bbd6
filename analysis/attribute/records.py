# SPDX-License-Identifier: BSD-3-Clause
"""Reader of ``engine/records.bin``, the coherence records of one run.

Layout: ``MOSBENCHREC`` and the number of the format on a line, one line of JSON (the header), then table after table, column
after column, little-endian arrays without padding, then the CRC-32 (zlib) of everything before as a little-endian u32. Tables and
columns are those of native/records/schema.toml; docs/reference/records.md shows them.
"""

import json
import mmap
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.attribute import schema
from analysis.attribute.schema import Schema
from common.outcome import Failure, Outcome

MAGIC = b"MOSBENCHREC"
WINDOWS = "windows.json"
"""Beside the records of a region that was measured in windows: what each of these counted (docs/reference/run-directory.md)."""

Array = npt.NDArray[Any]

NUMPY = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8"}
_ARROW = {"u8": pa.uint8(), "u16": pa.uint16(), "u32": pa.uint32(), "u64": pa.uint64()}

COUNTS = ("l3_hits", "transfers_same_socket", "transfers_other_socket", "dram_local", "dram_remote", "upgrades")
"""Columns of lines and sites: the events beyond L2, in the order in which tables show them."""

MESSAGE_KINDS = schema.load().tables["matrix"].by_name["kind"].values
"""Names of the numbers in ``matrix.kind``."""


@dataclass(frozen=True)
class Records:
    """One records file.

    ``tables[name][column]`` is a one-dimensional array; all columns of a table have the same length, ``rows[name]``. A column
    that the engine does not know is not there (`column` says so in a sentence). ``roi_cycles`` is the length of the region of
    interest in core cycles, ``period_cycles`` the sampling period of ``samples``.
    """

    path: Path
    engine: str
    machine: str
    period_cycles: int
    roi_cycles: int
    tables: Mapping[str, Mapping[str, Array]]
    rows: Mapping[str, int]

    def column(self, table: str, name: str) -> Array:
        """A column that the caller cannot do without.

        Raises:
            Failure: bad-input, where the engine does not know it.
        """
        found = self.tables[table].get(name)
        if found is None:
            raise schema.not_counted(self.path, table, name)
        return found

    def table(self, name: str) -> pa.Table:
        """The table with all columns that the schema has of an engine, null where it does not know one."""
        present, rows = self.tables[name], self.rows[name]
        columns = {
            column.name: pa.array(present[column.name]) if column.name in present else pa.nulls(rows, _ARROW[column.type])
            for column in schema.load().tables[name].of_engine
        }
        return pa.table(columns)


@dataclass(frozen=True)
class _Header:
    """What the first lines of a file say of one table."""

    name: str
    rows: int
    columns: Sequence[tuple[str, str]]
    unknown: Sequence[str]


def _broken(path: Path, what: str) -> Failure:
    return Failure(
        Outcome.ENGINE_CRASH,
        f"{path} {what}.",
        "The engine did not finish writing it: look at the logs beside it and run the point again.",
    )


def _unlike_schema(path: Path, what: str) -> Failure:
    return Failure(
        Outcome.ENGINE_CRASH,
        f"{path} {what}.",
        "The engine was built from another native/records/schema.toml: build it again and run the point again.",
    )


def read_records(path: Path) -> Records:
    """Read and check a records file. The arrays are the file itself, mapped: they take no memory of their own.

    Raises:
        Failure: engine-crash, for a file that is missing, truncated or altered, or whose tables and columns are not those of the
            schema; bad-input for one of another format.
    """
    try:
        data = _mapped(path)
    except OSError as error:
        raise _broken(path, f"cannot be read ({error.strerror})") from None
    magic = re.match(rb"%b(\d+)\n" % MAGIC, data)
    if magic is None:
        raise _broken(path, f"is not a records file (it starts with {bytes(data[:13])!r})")
    if int(magic[1]) != schema.load().format:
        raise schema.another_format(str(path), magic[1].decode(), schema.load().format)
    newline = data.find(b"\n", magic.end())
    if newline < 0:
        raise _broken(path, f"is truncated inside its header ({len(data)} bytes)")
    try:
        header = json.loads(data[magic.end() : newline])
        layout = [
            _Header(
                str(table["name"]),
                int(table["rows"]),
                [(str(name), str(kind)) for name, kind in table["columns"]],
                list(map(str, table["unknown"])),
            )
            for table in header["tables"]
        ]
        engine, machine = str(header["engine"]), str(header["machine"])
        period, cycles = int(header["period_cycles"]), int(header["roi_cycles"])
        sizes = [table.rows * int(NUMPY[kind][2]) for table in layout for _, kind in table.columns]
    except (ValueError, KeyError, TypeError) as error:
        raise _broken(path, f"has a header that cannot be understood ({type(error).__name__}: {error})") from None
    expected = newline + 1 + sum(sizes) + 4
    if len(data) != expected:
        word = "truncated" if len(data) < expected else "too long"
        raise _broken(path, f"is {word}: {len(data)} bytes where its header promises {expected}")
    if zlib.crc32(memoryview(data)[:-4]) != int.from_bytes(data[-4:], "little"):
        raise _broken(path, "is damaged: its contents do not have the CRC-32 it ends with")
    if (fault := _fault(layout, engine, schema.load())) is not None:
        raise _unlike_schema(path, fault)
    tables: dict[str, dict[str, Array]] = {}
    position = newline + 1
    for table in layout:
        tables[table.name] = {}
        for column, kind in table.columns:
            tables[table.name][column] = array = np.frombuffer(data, NUMPY[kind], table.rows, position)
            position += array.nbytes
            values = schema.load().tables[table.name].by_name[column].values
            if values and int(array.max(initial=0)) >= len(values):
                raise _unlike_schema(path, f"has {array.max()} in {table.name}.{column}, for which the schema has no name")
    for name, columns in tables.items():
        if (fault := _sum_fault(name, columns)) is not None:
            raise _broken(path, fault)
    return Records(path, engine, machine, period, cycles, tables, {table.name: table.rows for table in layout})


def _mapped(path: Path) -> mmap.mmap | bytes:
    """The file's content; an empty file cannot be mapped."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""


def write_records(records: Records) -> None:
    """Write a records file to ``records.path``."""
    known = schema.load()
    layout, body = list[dict[str, Any]](), bytearray()
    for table in known.of_engine:
        there = records.tables[table.name]
        present = [column for column in table.of_engine if column.name in there]
        body += b"".join(there[column.name].astype(NUMPY[column.type]).tobytes() for column in present)
        layout.append(
            {
                "name": table.name,
                "rows": records.rows[table.name],
                "columns": [[column.name, column.type] for column in present],
                "unknown": [column.name for column in table.of_engine if column.name not in there],
            }
        )
    header = {
        "engine": records.engine,
        "machine": records.machine,
        "period_cycles": records.period_cycles,
        "roi_cycles": records.roi_cycles,
        "tables": layout,
    }
    content = b"%b%d\n%b\n" % (MAGIC, known.format, json.dumps(header).encode()) + body
    records.path.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))


def _sum_fault(name: str, columns: Mapping[str, Array]) -> str | None:
    """A row of a table in which the parts of something do not sum up to it, in words; None where they do or are not all known."""
    for whole, parts in schema.load().tables[name].sums.items():
        known = [columns[part.name] for part in parts if part.name in columns]
        if len(known) < len(parts):
            continue
        total = sum(known, np.zeros_like(columns[whole]))
        wrong = (total != columns[whole]) | np.any([part > columns[whole] for part in known], axis=0)  # no part below 0
        for row in np.nonzero(wrong)[0][:1].tolist():
            said = ", ".join(f"{part.name} {values[row]}" for part, values in zip(parts, known, strict=True))
            return f"has a row {row} in {name} whose parts do not sum up to {whole} = {columns[whole][row]} ({said})"
    return None


def _fault(layout: Sequence[_Header], engine: str, known: Schema) -> str | None:
    """In which way tables and columns of a file are not those of the schema, in words; None if they are."""
    wanted = {table.name for table in known.of_engine}
    found = [table.name for table in layout]
    for name in found:
        if name not in wanted:
            return f"has a table {name!r}, which the schema does not know"
    for name in sorted(wanted):
        if found.count(name) != 1:
            return f"has {'no' if name not in found else 'more than one'} table {name!r}"
    for table in layout:
        columns = {column.name: column for column in known.tables[table.name].of_engine}
        there = [name for name, _ in table.columns]
        for name in [*there, *table.unknown]:
            if name not in columns:
                return f"has a column {table.name}.{name}, which the schema does not know"
        for name, column in columns.items():
            if there.count(name) + table.unknown.count(name) != 1:
                times = "neither has" if name not in there and name not in table.unknown else "has twice"
                return f"{times} the column {table.name}.{name}" + (" nor says that it is unknown" if "neither" in times else "")
            if name in table.unknown and not column.optional:
                return f"says that the engine {engine} does not know {table.name}.{name}, which every engine has to know"
        for name, kind in table.columns:
            if kind != columns[name].type:
                return f"has the column {table.name}.{name} as {kind}, where the schema says {columns[name].type}"
    return None

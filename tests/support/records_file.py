# SPDX-License-Identifier: BSD-3-Clause
"""Writers of ``engine/records.bin`` and of Parquet tables for tests that have no engine."""

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analysis.attribute import schema, tables

_NUMPY = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8"}

Columns = Mapping[str, npt.ArrayLike | Sequence[int]]


def write_records(
    path: Path,
    given: Mapping[str, Columns],
    *,
    engine: str = "fast",
    machine: str = "opteron-8431",
    period_cycles: int = 9973,
    roi_cycles: int = 0,
) -> None:
    """Write the columns given. Of the others, those that an engine may not know are unknown and the rest are zeros; tables that
    are not given have no rows."""
    headers, body = [], b""
    for table in schema.load().of_engine:
        there = given.get(table.name, {})
        rows = len(np.asarray(next(iter(there.values())))) if there else 0
        header: dict[str, Any] = {"name": table.name, "rows": rows, "columns": [], "unknown": []}
        for column in table.of_engine:
            if column.name not in there and column.optional:
                header["unknown"].append(column.name)
                continue
            header["columns"].append([column.name, column.type])
            body += np.asarray(there.get(column.name, [0] * rows), _NUMPY[column.type]).tobytes()
        headers.append(header)
    write_file(
        path,
        {"engine": engine, "machine": machine, "period_cycles": period_cycles, "roi_cycles": roi_cycles, "tables": headers},
        body,
    )


def write_file(path: Path, header: Mapping[str, Any], body: bytes, form: int | None = None) -> None:
    """Write a file with this header and body, whatever is in them; ``form`` is the format's number."""
    number = schema.load().format if form is None else form
    content = f"MOSBENCHREC{number}\n{json.dumps(header)}\n".encode() + body
    path.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))


def read_parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """Header and body of a file that `write_records` wrote, for tests that change one of them."""
    _, line, body = path.read_bytes()[:-4].split(b"\n", 2)
    return json.loads(line), body


def write_parquet(folder: Path, name: str, columns: Mapping[str, Sequence[Any]], *, unknown: Sequence[str] = ()) -> None:
    """Write ``NAME.parquet`` with these columns. Of the others, the ``unknown`` are null, texts are empty and the rest zeros."""
    rows = len(next(iter(columns.values())))
    arrays = {}
    for column in schema.load().tables[name].columns:
        kind = tables.ARROW[column.parquet_type]
        blank = {"text": "", "texts": []}.get(column.parquet_type, 0)
        values = [None] * rows if column.name in unknown else columns.get(column.name, [blank] * rows)
        arrays[column.name] = pa.array(values, kind) if column.type != "bool" else pa.array(map(bool, values), kind)
    tables.write_table(folder, name, pa.table(arrays), {"engine": "fast"})

# SPDX-License-Identifier: BSD-3-Clause
"""Reader (and, for tests, writer) of ``engine/records.bin``, the coherence records of one run.

Layout: ``MOSBENCHREC1\\n``, one line of JSON (the header), then table after table, column after column, little-endian arrays
without padding, then the CRC-32 (zlib) of everything before as a little-endian u32. docs/reference/records.md has the columns.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from common.outcome import Failure, Outcome

MAGIC = b"MOSBENCHREC1\n"

Array = npt.NDArray[Any]

_NUMPY = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8"}
_ARROW = {"u8": pa.uint8(), "u16": pa.uint16(), "u32": pa.uint32(), "u64": pa.uint64()}

# Where an access beyond L2 was served from, in the order tables show them. "Transfers" are lines that came from another core.
_SERVED = ["l3_hits", "transfers_same_socket", "transfers_other_socket", "dram_local", "dram_remote"]
_CORE_EVENTS = ["l1_misses", "l2_hits", *_SERVED, "upgrades", "invalidations", "writebacks"]

# What a Parquet table holds, present in the records file or not: an engine that cannot know a column leaves it out of the file
# and it is null here.
COLUMNS: dict[str, dict[str, str]] = {
    "lines": {
        "paddr": "u64",
        "vaddr": "u64",
        "kernel": "u8",
        "reads": "u32",
        "writes": "u32",
        "atomics": "u32",
        **dict.fromkeys(_CORE_EVENTS, "u32"),
        "cycles": "u64",
        "cores": "u64",
        "writers": "u64",
    },
    "sites": {
        "paddr": "u64",
        "pc": "u64",
        "kernel": "u8",
        "offset": "u8",
        "accesses": "u32",
        "writes": "u32",
        **dict.fromkeys(_SERVED, "u32"),
        "upgrades": "u32",
        "cycles": "u64",
    },
    "matrix": {"home": "u16", "requester": "u16", "kind": "u8", "messages": "u64", "bytes": "u64"},
    "cores": {
        "core": "u16",
        **dict.fromkeys(["cycles", "instructions", "idle_cycles", *_CORE_EVENTS, "wait_cycles"], "u64"),
    },
    "samples": {"core": "u16", "pc": "u64", "kernel": "u8", "count": "u32"},
}

# Columns without which a row has no meaning.
_KEYS = {
    "lines": ["paddr"],
    "sites": ["paddr", "pc"],
    "matrix": ["home", "requester", "kind"],
    "cores": ["core"],
    "samples": ["core", "pc", "count"],
}

# Meaning of ``matrix.kind``.
MESSAGE_KINDS = [
    "read",
    "write",
    "upgrade",
    "directed probe",
    "broadcast probe",
    "data from core",
    "data from memory",
    "writeback",
    "back-invalidation",
    "DMA",
]


@dataclass(frozen=True)
class Records:
    """One records file.

    ``tables[name][column]`` is a one-dimensional array; all columns of a table have the same length.
    ``roi_cycles`` is the length of the region of interest in core cycles, ``period_cycles`` the sampling period of ``samples``.
    """

    engine: str
    machine: str
    period_cycles: int | None
    roi_cycles: int | None
    tables: Mapping[str, Mapping[str, Array]]

    def table(self, name: str) -> pa.Table:
        """The table with the columns of :data:`COLUMNS`, null where the engine does not know one."""
        present = self.tables.get(name, {})
        rows = len(next(iter(present.values()))) if present else 0
        columns = {
            column: pa.array(present[column]) if column in present else pa.nulls(rows, _ARROW[kind])
            for column, kind in COLUMNS[name].items()
        }
        return pa.table(columns)


def _broken(path: Path, what: str) -> Failure:
    return Failure(
        Outcome.ENGINE_CRASH,
        f"{path} {what}.",
        "The engine did not finish writing it: look at engine/qemu.log or engine/stats.txt beside it and run the point again.",
    )


def read_records(path: Path) -> Records:
    """Read and check a records file.

    Raises:
        Failure: outcome engine-crash, for a file that is missing, truncated, altered or of another format.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _broken(path, f"cannot be read ({error.strerror})") from None
    if not data.startswith(MAGIC):
        raise _broken(path, f"is not a records file of this version (it starts with {data[:13]!r})")
    newline = data.find(b"\n", len(MAGIC))
    if newline < 0:
        raise _broken(path, f"is truncated inside its header ({len(data)} bytes)")
    try:
        header = json.loads(data[len(MAGIC) : newline])
        layout = [
            (str(table["name"]), int(table["rows"]), [(str(name), str(kind)) for name, kind in table["columns"]])
            for table in header["tables"]
        ]
        engine, machine = str(header["engine"]), str(header["machine"])
        sizes = [rows * int(_NUMPY[kind][2]) for _, rows, columns in layout for _, kind in columns]
    except (ValueError, KeyError, TypeError) as error:
        raise _broken(path, f"has a header that cannot be understood ({type(error).__name__}: {error})") from None
    expected = newline + 1 + sum(sizes) + 4
    if len(data) != expected:
        word = "truncated" if len(data) < expected else "too long"
        raise _broken(path, f"is {word}: {len(data)} bytes where its header promises {expected}")
    if zlib.crc32(memoryview(data)[:-4]) != int.from_bytes(data[-4:], "little"):
        raise _broken(path, "is damaged: its contents do not have the CRC-32 it ends with")
    tables: dict[str, dict[str, Array]] = {}
    position = newline + 1
    for name, rows, columns in layout:
        if name not in COLUMNS:
            raise _broken(path, f"has a table {name!r} that this version does not know")
        if missing := [column for column in _KEYS[name] if column not in dict(columns)]:
            raise _broken(path, f"has a table {name!r} without its column {missing[0]!r}")
        tables[name] = {}
        for column, kind in columns:
            array = np.frombuffer(data, _NUMPY[kind], rows, position)
            position += array.nbytes
            if column in COLUMNS[name]:
                tables[name][column] = array.astype(_NUMPY[COLUMNS[name][column]], copy=False)
    return Records(engine, machine, header.get("period_cycles"), header.get("roi_cycles"), tables)


def write_records(
    path: Path,
    tables: Mapping[str, Mapping[str, npt.ArrayLike | Sequence[int]]],
    *,
    engine: str = "fast",
    machine: str = "opteron-8431",
    period_cycles: int = 9973,
    roi_cycles: int = 0,
) -> None:
    """Write a records file; what a test needs to have one without an engine. Columns take the types of :data:`COLUMNS`."""
    arrays = {
        name: {column: np.asarray(values, _NUMPY[COLUMNS[name][column]]) for column, values in columns.items()}
        for name, columns in tables.items()
    }
    header = {
        "engine": engine,
        "machine": machine,
        "period_cycles": period_cycles,
        "roi_cycles": roi_cycles,
        "tables": [
            {
                "name": name,
                "rows": len(next(iter(columns.values()))),
                "columns": [[column, COLUMNS[name][column]] for column in columns],
            }
            for name, columns in arrays.items()
        ],
    }
    body = MAGIC + json.dumps(header).encode() + b"\n"
    body += b"".join(array.tobytes() for columns in arrays.values() for array in columns.values())
    path.write_bytes(body + zlib.crc32(body).to_bytes(4, "little"))

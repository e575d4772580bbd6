# SPDX-License-Identifier: BSD-3-Clause
"""Lines that are alike are put together in the table sites, and nothing that is shown of them changes."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from records_file import write_parquet

from analysis.attribute.alike import together
from analysis.attribute.tables import read_table
from analysis.report import kept_tables

FIELDS = ["inode.i_lock", "inode.i_count", "page.flags", "user memory: heap"]
CALLED = 7 * 64  # a line whose callers are known


def _random(seed: int, lines: int, cores: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns of sites, most transfers first, and of the lines that they are of; every site of a line is another instruction."""
    random = np.random.default_rng(seed)
    rows = np.unique(np.column_stack([random.integers(0, lines, 3 * lines), random.integers(0, 9, 3 * lines)]), axis=0)
    line, pc = rows[:, 0], rows[:, 1]
    count = len(rows)
    other = random.integers(0, 3, count) * (line % 3)
    same = random.integers(0, 2, count) * (line % 2)
    upgrades = random.integers(0, 2, count)
    accesses = other + same + upgrades + random.integers(0, 3, count)
    columns: dict[str, Any] = {
        "paddr": line * 64,
        "pc": pc,
        "kernel": pc % 2,
        "offset": random.integers(0, 8, count) * 8,
        "size": np.full(count, 8),
        "cores": random.integers(1, 1 << cores, count),
        "accesses": accesses,
        "writes": np.where(pc % 3 == 0, accesses, 0),
        "transfers_same_socket": same,
        "transfers_other_socket": other,
        "upgrades": upgrades,
        "cycles": 100 * (other + same) + 30 * upgrades + random.integers(0, 40, count),
        "field": [FIELDS[number] for number in (line + pc // 4) % len(FIELDS)],
        "function": [f"function_{number}" for number in pc],
        "frames": [[f"function_{number} a.c:{number}"] for number in pc],
        "lines": np.ones(count, np.int64),
    }
    order = np.lexsort((columns["paddr"], pc, -(other + same + upgrades)))
    sites = {name: [column[row] for row in order] for name, column in columns.items()}
    whole = {
        "paddr": np.arange(lines) * 64,
        "cores": np.full(lines, (1 << cores) - 1),
        "writers": random.integers(0, 1 << cores, lines),
        **{
            name: np.bincount(line, columns[name], lines).astype(np.int64)
            for name in ("transfers_same_socket", "transfers_other_socket", "upgrades", "cycles")
        },
    }
    return sites, whole


def _write(folder: Path, sites: dict[str, Any] | pa.Table, lines: dict[str, Any]) -> Path:
    folder.mkdir()
    columns = sites.to_pydict() if isinstance(sites, pa.Table) else sites
    write_parquet(folder, "sites", columns)
    write_parquet(folder, "lines", lines)
    types = {"paddr": lines["paddr"], "kind": ["slab"] * len(lines["paddr"]), "field": ["inode.i_lock"] * len(lines["paddr"])}
    write_parquet(folder, "memory-types", types)
    write_parquet(folder, "samples", {"core": [0], "pc": [1], "function": ["f"], "file": ["a.c"], "count": [3]})
    write_parquet(folder, "matrix", {"home": [0], "requester": [0], "kind": ["read"], "messages": [1]})
    write_parquet(folder, "callers", {"caller": [1], "function": ["outer"]})
    write_parquet(folder, "site-callers", {"paddr": [CALLED], "pc": [3], "caller": [1], "walks": [2], "cycles": [9]})
    return folder


def _together(folder: Path, own: int) -> pa.Table:
    """The table sites of ``folder``, of the engine's columns put together, with those that are added."""
    table = read_table(folder, "sites").drop_columns(["lines"])
    fields = np.array([FIELDS.index(name) for name in table.column("field").to_pylist()], np.int64)
    return together(table, np.arange(len(table)), fields, read_table(folder, "lines"), [CALLED], own)[0]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_shown_stays(tmp_path: Path, seed: int) -> None:
    sites, lines = _random(seed, 2000, 4)
    one = _write(tmp_path / "one", sites, lines)
    # As many as a report looks at one by one.
    table = _together(one, 500)
    assert len(table) < 0.8 * len(sites["paddr"])
    assert max(table.column("lines").to_pylist()) > 9
    assert kept_tables.make(_write(tmp_path / "two", table, lines)) == kept_tables.make(one)


def test_busy_lines_have_rows_of_their_own(tmp_path: Path) -> None:
    sites, lines = _random(1, 300, 4)
    one = _write(tmp_path / "one", sites, lines)
    table = _together(one, 20)
    order = np.lexsort((lines["paddr"], -lines["cycles"], -lines["transfers_same_socket"], -lines["transfers_other_socket"]))
    busy = {*order[:20].tolist(), *np.lexsort((lines["paddr"], -lines["cycles"]))[:20].tolist(), CALLED // 64}
    before, after = read_table(one, "sites").to_pylist(), table.to_pylist()
    assert [row for row in after if row["paddr"] // 64 in busy] == [row for row in before if row["paddr"] // 64 in busy]
    assert any(row["lines"] > 1 for row in after)
    assert not {row["paddr"] for row in after if row["lines"] > 1} & {64 * line for line in busy}


def test_all_of_a_small_run_has(tmp_path: Path) -> None:
    one = _write(tmp_path / "one", *_random(2, 100, 2))
    assert _together(one, 1000).equals(read_table(one, "sites").select(_together(one, 1000).column_names))


def _site(paddr: int, pc: int, **columns: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("accesses", "writes", "l3_hits", "transfers_same_socket", "dram_local", "dram_remote", "upgrades"), 0)
    return {"paddr": paddr, "pc": pc, "kernel": 1, "cores": 1, "cycles": 5, "transfers_other_socket": 0, **counts, **columns}


def test_what_tells_lines_apart() -> None:
    """Another field that moved, another writer, stores of all cores; not another reader that only waited for the memory."""
    rows = [
        _site(0, 1, writes=1, accesses=1, transfers_other_socket=1, cores=1),
        _site(0, 2, accesses=2, cores=1),
        _site(64, 1, writes=3, accesses=3, transfers_other_socket=2, cores=2),  # like the first
        _site(64, 3, accesses=1, cores=4),
        _site(128, 1, writes=1, accesses=1, transfers_other_socket=1),  # its field is another
        _site(192, 4, writes=1, accesses=1, transfers_other_socket=1),  # its writer is another
        _site(256, 1, writes=1, accesses=1, transfers_other_socket=1),  # all cores store
    ]
    sites = pa.Table.from_pylist(rows)
    cycles = [0, 0, 0, 0, 0]
    columns = {
        "paddr": [0, 64, 128, 192, 256],
        "transfers_same_socket": cycles,
        "transfers_other_socket": cycles,
        "cycles": cycles,
        "cores": [7] * 5,
        "writers": [1, 2, 1, 1, 7],
    }
    lines = pa.table({name: pa.array(values, pa.uint64()) for name, values in columns.items()})
    fields = np.array([0, 0, 0, 0, 1, 0, 0])
    table, kept = together(sites, np.arange(len(sites)), fields, lines, own=0)
    shuffled = np.array([3, 0, 6, 2, 5, 1, 4])
    assert together(sites.take(pa.array(shuffled)), np.argsort(shuffled), fields, lines, own=0)[0].equals(table)
    found = [(row["paddr"], row["pc"], row["accesses"], row["cores"], row["cycles"], row["lines"]) for row in table.to_pylist()]
    together_ones = [(0, 1, 4, 3, 10, 2), (0, 2, 2, 1, 5, 2), (0, 3, 1, 4, 5, 2)]
    assert found == [*together_ones, *((place, pc, 1, 1, 5, 1) for place, pc in ((128, 1), (192, 4), (256, 1)))]
    assert kept.tolist() == [0, 1, 3, 4, 5, 6]

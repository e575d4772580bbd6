# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the bottlenecks that a kernel still has: what a run on its lines decides, and which rows there are."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from records_file import write_parquet

from common.outcome import Failure
from harness.checks.verify import bottleneck_table as table
from harness.spec import workload

(ROWS,) = table.tables(None).values()
UNITS = 10


def line(paddr: int, label: str | None, *, cores: int, writers: int, stores: int, transfers: int) -> dict[str, object]:
    """A line with half of its stores atomic and all of its transfers from other sockets."""
    return {
        "paddr": paddr,
        "cores": cores,
        "writers": writers,
        "writes": stores // 2,
        "atomics": stores - stores // 2,
        "transfers_same_socket": 0,
        "transfers_other_socket": transfers,
        "field": label or "",
        "fields": [label] if label else None,
    }


def write_run(folder: Path, lines: list[dict[str, object]], unknown: Sequence[str] = ()) -> Path:
    """A run directory as far as `measure` reads it."""
    columns = {name: [line[name] for line in lines] for name in lines[0]}
    of_types = {"paddr": columns["paddr"], "field": columns.pop("field"), "fields": columns.pop("fields")}
    write_parquet(folder, "lines", columns, unknown=unknown)
    write_parquet(folder, "memory-types", of_types)
    (folder / "metrics.json").write_text(json.dumps({"units": UNITS}))
    (folder / "point.toml").write_text("core_list = [0, 1]\n")
    (folder / "provenance.json").write_text("{}")
    return folder


def test_only_lines_that_every_core_writes_count_as_stores(tmp_path: Path) -> None:
    run = write_run(
        tmp_path,
        [
            line(0, "struct dentry.d_lockref.lock_count", cores=3, writers=3, stores=25, transfers=12),
            line(64, "dentry.d_lockref.lock_count", cores=3, writers=1, stores=1000, transfers=1),
            line(128, "inode.i_lock", cores=3, writers=3, stores=1000, transfers=500),
            line(192, None, cores=1, writers=1, stores=7, transfers=0),
        ],
    )
    seen = table.measure(run, ["dentry.d_lockref*"])
    assert seen == table.Seen(2.5, 1.3, "struct dentry.d_lockref.lock_count", 51.3)
    assert seen.verdict == "there"
    assert table.measure(run, ["sock.*"]) == table.Seen(0.0, 0.0, "", 51.3)


@pytest.mark.parametrize(
    ("stores", "transfers", "verdict"),
    [(2.0, 3.9, "there"), (0.0, 0.0, "gone"), (0.01, 0.04, "gone"), (2.0, 0.0, "undecided"), (0.1, 0.1, "undecided")],
)
def test_verdict(stores: float, transfers: float, verdict: str) -> None:
    assert table.Seen(stores, transfers, "", transfers).verdict == verdict


def test_a_run_without_counted_hits_is_refused(tmp_path: Path) -> None:
    lines = [line(0, "inode.i_lock", cores=1, writers=1, stores=2, transfers=1)]
    write_run(tmp_path, lines, unknown=["reads", "writes", "atomics"])
    with pytest.raises(Failure, match=r"no numbers in the column lines.writes.*set.count_hits=1"):
        table.measure(tmp_path, ["*"])


def test_every_row_names_a_workload_that_exists_and_says_why() -> None:
    for row in ROWS:
        workload.parse(row.workload)
        assert row.why


def test_rows_are_chosen_by_number_or_by_being_quick() -> None:
    assert table.choose(ROWS, []) == ROWS
    assert {row.number for row in table.choose(ROWS, ["2", "14"])} == {2, 14}
    assert table.choose(ROWS, ["quick"]) == [row for row in ROWS if row.quick] != []
    with pytest.raises(Failure, match="no row '17'"):
        table.choose(ROWS, ["17"])


def test_a_broken_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.toml"
    path.write_text('[[row]]\nnumber = 2\nworkload = "micro:stat"\nlines = []\nverdict = "there"\nnote = "x"\n')
    with pytest.raises(Failure, match="row 2, micro:stat, has no verdict or no lines"):
        table.read_rows(path)
    path.write_text("[[row]]\nnumber = 2\n")
    with pytest.raises(Failure, match="no table of bottlenecks"):
        table.read_rows(path)

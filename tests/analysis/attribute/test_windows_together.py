# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from records_file import Columns, write_records

from analysis.attribute import records
from analysis.attribute.records import Records, read_records
from analysis.attribute.windows import merged
from common.outcome import Failure

pytestmark = pytest.mark.unit


def window(folder: Path, number: int, tables: Mapping[str, Columns]) -> Records:
    path = folder / f"{number}.bin"
    write_records(path, tables, engine="gem5", roi_cycles=1000)
    return read_records(path)


def test_counts_are_summed_up_and_sets_of_cores_united(tmp_path: Path) -> None:
    columns = ("paddr", "vaddr", "kernel", "upgrades", "cores", "writers")
    one = dict(zip(columns, ([64, 128], [7, 0], [1, 0], [3, 4], [0b1, 0b10], [0, 0b10]), strict=True))
    two = dict(zip(columns, ([0, 64], [5, 9], [0, 0], [10, 20], [0b100, 0b110], [0, 0b100]), strict=True))
    made = merged([window(tmp_path, 1, {"lines": one}), window(tmp_path, 2, {"lines": two})], tmp_path / "all.bin")
    lines = {name: made.tables["lines"][name].tolist() for name in columns}
    assert lines == {
        "paddr": [0, 64, 128],
        "vaddr": [5, 7, 0],  # the first that was seen
        "kernel": [0, 1, 0],
        "upgrades": [10, 23, 4],
        "cores": [0b100, 0b111, 0b10],
        "writers": [0, 0b100, 0b10],
    }
    assert made.roi_cycles == 2000
    assert made.rows["lines"] == 3


def test_rows_are_told_apart_by_all_of_their_key(tmp_path: Path) -> None:
    samples = {"core": [0, 0, 1], "pc": [16, 32, 16], "kernel": [0, 0, 0], "count": [1, 2, 3]}
    made = merged([window(tmp_path, number, {"samples": samples}) for number in (1, 2)], tmp_path / "all.bin")
    assert {name: values.tolist() for name, values in made.tables["samples"].items()} == {
        **samples,
        "count": [2, 4, 6],
    }


def test_callers_are_numbered_anew_and_chains_meet(tmp_path: Path) -> None:
    # b() and c() call from below a(): windows number them as they come
    a, b, c = 0x100, 0x200, 0x300
    one = {
        "callers": {"caller": [1, 2], "parent": [0, 1], "address": [a, b], "kernel": [1, 1]},
        "site-callers": {"paddr": [64], "pc": [5], "caller": [2], "walks": [1], "cycles": [10]},
        "sample-callers": {"pc": [5], "kernel": [1], "caller": [0], "count": [4]},
    }
    two = {
        "callers": {"caller": [1, 2, 3], "parent": [0, 1, 1], "address": [a, c, b], "kernel": [1, 1, 1]},
        "site-callers": {"paddr": [64, 64], "pc": [5, 5], "caller": [2, 3], "walks": [7, 2], "cycles": [70, 20]},
        "sample-callers": {"pc": [5, 5], "kernel": [1, 1], "caller": [0, 2], "count": [1, 2]},
    }
    made = merged([window(tmp_path, 1, one), window(tmp_path, 2, two)], tmp_path / "all.bin")
    callers = made.tables["callers"]
    chain: dict[int, tuple[int, ...]] = {}
    for number, parent, address in zip(*(callers[name].tolist() for name in ("caller", "parent", "address")), strict=True):
        assert parent < number
        chain[number] = (*chain.get(parent, ()), address)
    assert sorted(chain.values()) == [(a,), (a, b), (a, c)]
    sites = made.tables["site-callers"]
    walks = {chain[caller]: walks for caller, walks in zip(sites["caller"].tolist(), sites["walks"].tolist(), strict=True)}
    assert walks == {(a, b): 3, (a, c): 7}
    assert made.tables["sample-callers"]["count"].tolist() == [5, 2]


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    lines = {"paddr": [64], "vaddr": [1 << 63], "upgrades": [9]}
    made = merged([window(tmp_path, 1, {"lines": lines})], tmp_path / "all.bin")
    records.write_records(made)
    again = read_records(tmp_path / "all.bin")
    assert (again.engine, again.machine, again.period_cycles, again.roi_cycles) == ("gem5", "opteron-8431", 9973, 1000)
    for name, columns in made.tables.items():
        assert again.tables[name].keys() == columns.keys()
        assert all(np.array_equal(again.tables[name][column], values) for column, values in columns.items())
    assert (tmp_path / "all.bin").read_bytes() == (tmp_path / "1.bin").read_bytes()


def test_a_sum_that_its_column_does_not_hold_is_refused(tmp_path: Path) -> None:
    one = window(tmp_path, 1, {"lines": {"paddr": [64], "upgrades": [2**32 - 1]}})
    with pytest.raises(Failure, match=r"lines\.upgrades of all windows together is 8589934590"):
        merged([one, replace(one)], tmp_path / "all.bin")

# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of two engines' runs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from records_file import write_parquet

from analysis.report.agreement import Agreement, Side, read_side, tables, together

pytestmark = pytest.mark.unit


def side(engine: str, units: float, cycles: float, by_field: dict[str, float], written: float = 0.0) -> Side:
    transfers = sum(by_field.values())
    return Side(engine, units, cycles, transfers, 3.0, by_field, written or transfers, {"transfers": transfers}, transfers)


def test_runs_together_are_weighed_by_their_work() -> None:
    both = together([side("gem5", 100, 10.0, {"a": 30.0, "b": 1.0}), side("gem5", 300, 50.0, {"b": 69.0, "a": 20.0})])
    assert (both.engine, both.units, both.transfers, both.invalidations) == ("gem5", 400, 120.0, 6.0)
    assert both.cycles_per_unit == pytest.approx(40.0)
    assert both.transfers_per_unit == pytest.approx(0.3)
    assert list(both.by_field) == ["b", "a"]
    assert (both.counts, both.requests) == ({"transfers": 120.0}, 120.0)


def test_a_line_that_one_engine_does_not_see_is_no_common_one() -> None:
    agreement = Agreement(side("fast", 100, 1.0, {"a": 90.0, "b": 10.0}), side("gem5", 100, 1.0, {"a": 80.0}))
    assert agreement.deviation == pytest.approx(0.2)
    assert (agreement.telling, agreement.common) == (["a", "b"], 1)


def test_what_was_measured_in_windows_says_how_sure_it_is() -> None:
    measured = replace(side("gem5", 100, 1.0, {"a": 80.0}), sure={"transfers": 0.38, "core cycles": 0.2})
    figures, _ = tables(Agreement(side("fast", 100, 1.0, {"a": 90.0}), measured), "a point")
    assert [column.header for column in figures.columns] == ["", "fast", "gem5", "gem5 / fast", "gem5, 95 %"]
    told = dict(zip(figures.columns[0].cells, figures.columns[-1].cells, strict=True))
    assert (told["all transfers per unit"], told["core cycles per unit"], told["L3 hits per unit"]) == ("± 38 %", "± 20 %", "")
    whole, _ = tables(Agreement(side("fast", 100, 1.0, {"a": 90.0}), side("gem5", 100, 1.0, {"a": 80.0})), "a point")
    assert len(whole.columns) == 4


def test_lines_that_are_only_read_are_told_apart(tmp_path: Path) -> None:
    for engine, moved in (("fast", [30, 5, 0]), ("gem5", [29, 45, 9])):
        folder = tmp_path / engine
        folder.mkdir()
        lines = {
            "paddr": [64, 128, 192],
            "transfers_same_socket": moved,
            "transfers_other_socket": [3, 0, 0],
            "invalidations": [30, 0, 0],
            "writers": [1 << 63 | 1, 0, 0],
        }
        write_parquet(folder, "lines", lines)
        write_parquet(folder, "memory-types", {"paddr": [64, 128], "field": ["dentry.d_lockref", "code"]})
        cores = {
            "l3_hits": [7, 0],
            "transfers_same_socket": [sum(moved), 0],
            "transfers_other_socket": [3, 0],
            "dram_local": [5, 1],
            "dram_remote": [2, 0],
            "upgrades": [11, 0],
            "invalidations": [30, 0],
        }
        write_parquet(folder, "cores", cores)
        kinds: dict[str, list[str] | list[int]] = {
            "kind": ["directed probe", "broadcast probe", "directed probe"],
            "messages": [4, 24, 1],
        }
        write_parquet(folder, "matrix", kinds)
        (folder / "metrics.json").write_text(json.dumps({"engine": engine, "units": 10, "per_core": [{"cycles": 50}]}))
        (folder / "point.toml").write_text("core_list = [0, 1, 6, 7]\n")
        said = {"engine": {"name": engine, "note": "no L3" if engine == "gem5" else ""}}
        (folder / "provenance.json").write_text(json.dumps(said))
    agreement = Agreement(read_side(tmp_path / "fast"), read_side(tmp_path / "gem5"))
    assert (agreement.first.transfers_per_unit, agreement.second.transfers_per_unit) == (3.8, 8.6)
    assert (agreement.first.written_per_unit, agreement.second.written_per_unit) == (3.3, 3.2)
    assert agreement.first.cycles_per_unit == 50 * 4 / 10  # one entry for all four cores, as of clients behind the card
    assert agreement.deviation == pytest.approx(4.8 / 8.6)
    assert agreement.deviation_written == pytest.approx(0.1 / 3.3)
    assert agreement.second.by_field == {"dentry.d_lockref": 32}
    assert agreement.first.counts == {
        "transfers": 33,
        "L3 hits": 7,
        "memory reads": 8,
        "directed probes": 5,
        "broadcast probes": 24,
        "invalidations": 30,
    }
    assert (agreement.first.requests, agreement.second.requests) == (64, 112)
    assert set(agreement.deviations) == set(agreement.first.counts)
    assert [column.header for column in tables(agreement, "work")[0].columns[1:3]] == ["fast", "gem5 (no L3)"]
    assert list(tables(agreement, "work")[0].columns[1].cells)[:3] == ["3.800", "3.300", "0.500"]


def test_nothing_moved_on_either_is_no_deviation() -> None:
    agreement = Agreement(side("fast", 100, 1.0, {}), side("gem5", 100, 1.0, {}))
    assert (agreement.deviation, agreement.deviation_written) == (0.0, 0.0)

# SPDX-License-Identifier: BSD-3-Clause
"""No check passes because there is nothing to see: a column taken away, an empty list, a run without traffic."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from records_file import read_parts, write_file, write_parquet, write_records

from analysis.report import agreement
from analysis.report.agreement import Agreement, Side
from analysis.report.paper import load_paper
from common.outcome import Failure
from harness.checks.registry import Check
from harness.checks.verify import agree, known_answers, latencies, matrix, tap
from harness.checks.verify.measuring import Measured
from harness.run import runner
from harness.run.console import ConsoleResult
from harness.run.runner import Ran
from harness.spec import machine
from harness.spec import point as points
from harness.spec.point import Point


def test_a_check_that_judged_nothing_has_not_passed() -> None:
    assert Check(True, "x: 3 of 3 right", 3).passed
    assert not Check(False, "x: 2 of 3 right", 3).passed
    assert not Check(True, "x: 0 of 0 right", 0).passed
    assert "nothing was judged" in Check(True, "x: 0 of 0 right", 0).line
    assert Check(True, "x: skipped", None).passed


# ---- known-answers ----

COUNTED = ("transfers_same_socket", "upgrades", "reads", "writes", "atomics")


def ran(wanted: Point, folder: Path) -> Measured:
    """A run of a microbenchmark whose one line saw what was expected of it."""
    (folder / "engine").mkdir(parents=True)
    columns: dict[str, list[int]] = {"paddr": [64], "vaddr": [0x7040], "kernel": [0], **{name: [100] for name in COUNTED}}
    if not wanted.machine.count_hits:
        columns = {name: values for name, values in columns.items() if name not in ("reads", "writes", "atomics")}
    write_records(folder / "engine" / "records.bin", {"lines": columns})
    expected = dict.fromkeys(("transfers", "upgrades", "reads", "writes", "atomics"), 100)
    result = {"event": "result", "lines": {"ball": "0x7040"}, "expected": expected, "units": 100}
    return Measured(wanted, folder, ConsoleResult((result,)))


def change(measured: Measured, column: str, *, unknown: bool) -> Measured:
    """The run with a column of its lines taken away, or said to be unknown."""
    path = measured.folder / "engine" / "records.bin"
    header, body = read_parts(path)
    position, kept = 0, b""
    for table in header["tables"]:
        for name, kind in table["columns"]:
            size = table["rows"] * int(kind[1:]) // 8
            if (table["name"], name) != ("lines", column):
                kept += body[position : position + size]
            position += size
    (lines,) = (table for table in header["tables"] if table["name"] == "lines")
    lines["columns"] = [one for one in lines["columns"] if one[0] != column]
    lines["unknown"] += [column] * unknown
    write_file(path, header, kept)
    return measured


def known(monkeypatch: pytest.MonkeyPatch, column: str = "", *, unknown: bool = False) -> Check:
    """`verify known-answers` on made-up runs, with that column taken away."""

    def execute(wanted: Point, folder: Path) -> Measured:
        made = ran(wanted, folder)
        return change(made, column, unknown=unknown) if column else made

    monkeypatch.setattr(known_answers, "execute", execute)
    monkeypatch.setattr(known_answers, "prepare_host", lambda: None)
    return known_answers.run(argparse.Namespace(engine="fast"))


def test_known_answers_of_whole_records_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = known(monkeypatch)
    assert ended.passed and ended.judged == 6 * 5 + 2  # one case does not count hits


@pytest.mark.parametrize("column", ["transfers_same_socket", "transfers_other_socket", "upgrades", "reads", "writes", "atomics"])
def test_known_answers_fail_without_a_column(monkeypatch: pytest.MonkeyPatch, column: str) -> None:
    with pytest.raises(Failure, match=f"neither has the column lines.{column}"):
        known(monkeypatch, column)


@pytest.mark.parametrize("column", ["reads", "writes", "atomics"])
def test_known_answers_fail_where_hits_were_to_be_counted_and_are_unknown(monkeypatch: pytest.MonkeyPatch, column: str) -> None:
    with pytest.raises(Failure, match=rf"no numbers in the column lines.{column}"):
        known(monkeypatch, column, unknown=True)


def test_known_answers_without_a_case_or_an_expectation_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = ran(points.resolve({"workload": "micro:ping-pong"}), tmp_path / "run")
    made.result["expected"] = {"reads": 5}  # which the point does not count
    with pytest.raises(Failure, match="expects nothing that was counted"):
        known_answers.answers("ping-pong", made)
    monkeypatch.setattr(known_answers, "CASES", {})
    assert not known(monkeypatch).passed


# ---- matrix ----


@pytest.fixture
def applications(tmp_path: Path) -> dict[str, Path]:
    """A made-up run of each application of the paper, in which one site waits."""
    found = {}
    for name in load_paper().applications:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "point.toml").write_text(
            f'engine = "fast"\nkernel = "linux-2.6.35"\nfix_set = "stock"\nworkload = "{name}"\ncores = 48\ntrial = 1\n'
            '[machine]\nname = "opteron-8431"\n'
        )
        (folder / "metrics.json").write_text('{"units_per_second_core": 1.0, "abandoned_walks": {}}')
        (folder / "provenance.json").write_text("{}")
        write_parquet(folder, "lines", {"paddr": [64], "cycles": [100], "transfers_other_socket": [3]})
        write_parquet(folder, "memory-types", {"paddr": [64]})
        site: dict[str, list[Any]] = {
            "paddr": [64],
            "kernel": [1],
            "cycles": [100],
            "field": ["dentry.d_lockref"],
            "function": ["dput"],
        }
        write_parquet(folder, "sites", site)
        found[name] = folder
    return found


def judged(monkeypatch: pytest.MonkeyPatch, folders: Mapping[str, Path]) -> Check:
    """`verify matrix` on these runs."""
    monkeypatch.setattr(matrix, "prepare_host", lambda: None)
    monkeypatch.setattr(runner, "run_point", lambda wanted, root, reuse: Ran(folders.get(wanted.workload, folders["exim"]), True))
    return matrix.run(argparse.Namespace(source="linux-2.6.35", cores=[48]))


def without(folder: Path, name: str, column: str) -> None:
    path = folder / f"{name}.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)


def test_matrix_judges_every_application(monkeypatch: pytest.MonkeyPatch, applications: dict[str, Path]) -> None:
    ended = judged(monkeypatch, applications)
    assert ended.judged == 7 * 16
    assert "no run of" not in ended.figure and "waited for nothing" not in ended.figure
    del applications["metis"]
    assert "no run of metis" in judged(monkeypatch, applications).figure
    assert not judged(monkeypatch, applications).passed


@pytest.mark.parametrize(
    ("table", "column"), [("sites", "cycles"), ("sites", "field"), ("lines", "cycles"), ("lines", "l3_hits")]
)
def test_matrix_fails_without_a_column(
    monkeypatch: pytest.MonkeyPatch, applications: dict[str, Path], table: str, column: str
) -> None:
    without(applications["gmake"], table, column)
    with pytest.raises(Failure, match=rf"gmake/{table}.parquet: the column {column} of {table} is missing"):
        judged(monkeypatch, applications)


def test_matrix_fails_where_a_run_waited_for_nothing(monkeypatch: pytest.MonkeyPatch, applications: dict[str, Path]) -> None:
    write_parquet(applications["metis"], "lines", {"paddr": [64]})
    ended = judged(monkeypatch, applications)
    assert "metis waited for nothing" in ended.figure and not ended.passed


# ---- the others ----


def test_latencies_that_the_guest_did_not_measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(latencies, "prepare_host", lambda: None)
    monkeypatch.setattr(
        latencies,
        "execute",
        lambda wanted, folder: Measured(wanted, folder, ConsoleResult(({"event": "result", "latencies": []},))),
    )
    assert not latencies.run(argparse.Namespace(engine="fast")).passed
    assert list(latencies.latencies({"latencies": []}, machine.load("opteron-8431"), has_l3=True)) == []


def test_engines_that_both_saw_nothing_do_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Agreement(*(Side(engine, 10, 1.0, 0.0, 0.0, {}, 0.0) for engine in ("fast", "gem5")))
    monkeypatch.setattr(agree, "prepare_host", lambda: None)
    monkeypatch.setattr(agree, "skipped", lambda name: None)
    monkeypatch.setattr(runner, "run_point", lambda wanted, folder: Ran(Path(wanted.engine), True))
    sides: Iterator[Side] = iter([nothing.first, nothing.second] * 100)
    monkeypatch.setattr(agreement, "read_side", lambda folder: next(sides))
    ended = agree.run(argparse.Namespace(cores=(8,)))
    assert not ended.passed and "no transfers" in ended.figure


def test_statistics_without_a_time_are_refused() -> None:
    with pytest.raises(Failure, match="do not say simTicks"):
        tap.ticks("")

# SPDX-License-Identifier: BSD-3-Clause
"""No check passes because there is nothing to see: a column taken away, an empty list, a run without traffic."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from records_file import read_parts, write_file, write_parquet, write_records

from analysis.report import agreement
from analysis.report.agreement import Agreement, Side
from analysis.report.evidence import Figure
from analysis.report.paper import Difference, load_paper, the_sixteen
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
    return known_answers.run(argparse.Namespace(engine="fast", set=[]))


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
            '[machine]\nname = "opteron-8431"\n[parameters]\n'
        )
        (folder / "metrics.json").write_text(
            '{"units": 1, "seconds": 0.01, "units_per_second_core": 1.0, "idle": 0.1, "abandoned_walks": {}}'
        )
        (folder / "provenance.json").write_text("{}")
        write_parquet(folder, "lines", {"paddr": [64], "cycles": [100], "transfers_other_socket": [3]})
        write_parquet(folder, "memory-types", {"paddr": [64]})
        write_parquet(folder, "samples", {"core": [0], "function": ["dput"], "count": [1]})
        write_parquet(folder, "matrix", {"home": [0], "kind": ["read"], "messages": [1]})
        write_parquet(folder, "callers", {"caller": [1], "parent": [0], "function": ["dput"]})
        write_parquet(folder, "site-callers", {"paddr": [64], "pc": [1], "caller": [1], "walks": [1], "cycles": [5]})
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


def differing(*change: Difference) -> list[Difference]:
    """A reason that holds for each cell in which the made-up runs differ; those in ``change`` in place of theirs."""
    found = {}
    for name, application in load_paper().applications.items():
        for entry in the_sixteen():
            share = 1.0 if entry.paper == 2 else 0.0
            if entry.paper is not None and (share > 0) != (application.title in entry.applications):
                figure = Figure("cycles", 48, share, 0.01, (entry.id,))
                found[name, entry.paper] = Difference(name, entry.paper, "linux-2.6.35", "Made up.", (figure,))
    return list({**found, **{(one.application, one.bottleneck): one for one in change}}.values())


def judged_with(monkeypatch: pytest.MonkeyPatch, folders: Mapping[str, Path], known: Sequence[Difference]) -> Check:
    """`verify matrix` on these runs where these reasons are known."""
    paper = replace(load_paper(), differences=tuple(known))
    with monkeypatch.context() as patch:
        for module in ("analysis.report.paper", "harness.checks.verify.matrix"):
            patch.setattr(f"{module}.load_paper", lambda: paper)
        return judged(patch, folders)


def test_matrix_passes_where_every_reason_holds(monkeypatch: pytest.MonkeyPatch, applications: dict[str, Path]) -> None:
    assert judged_with(monkeypatch, applications, differing()).passed


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        (Figure("cycles", 48, 0.9, 0.05, ("dentry-reference-count",)), "on 48 cores: 100.00% (expected 90.00% +- 5.00%)"),
        (Figure("idle", 48, 0.3, 0.1), "idle of the run on 48 cores: 10.00% (expected 30.00% +- 10.00%)"),
        (Figure("milliseconds", 48, 20, 5), "milliseconds of the run on 48 cores: 10 ms (expected 20 ms +- 5 ms)"),
        (Figure("transfers", 48, 1, 0.5, fields=("dentry.d_lockref",)), "on 48 cores: 0 (expected 1 +- 0.5)"),
        (Figure("cycles", 12, 1.0, 0.05, ("dentry-reference-count",)), "on 12 cores: not measured (expected 100.00% +- 5.00%)"),
    ],
)
def test_matrix_fails_where_a_figure_is_another_or_missing(
    monkeypatch: pytest.MonkeyPatch,
    applications: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    figure: Figure,
    said: str,
) -> None:
    holds = Figure("idle", 48, 0.1, 0.01)
    ended = judged_with(monkeypatch, applications, differing(Difference("gmake", 2, "", "Made up.", (holds, figure))))
    assert not ended.passed and "1 with one that holds no more" in ended.figure
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("gmake, 2: "))
    assert line.endswith(said)


def test_matrix_fails_where_a_cell_with_a_reason_differs_no_more(
    monkeypatch: pytest.MonkeyPatch, applications: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    agrees = Difference("exim", 2, "linux-2.6.35", "Made up.", (Figure("idle", 48, 0.1, 0.01),))
    ended = judged_with(monkeypatch, applications, differing(agrees))
    assert not ended.passed and "1 with one that holds no more" in ended.figure
    assert "exim, 2: the cell agrees with the paper's: take the reason out" in capsys.readouterr().out


def test_matrix_fails_where_a_cell_differs_without_a_reason(
    monkeypatch: pytest.MonkeyPatch, applications: dict[str, Path]
) -> None:
    known = differing()
    ended = judged_with(monkeypatch, applications, known[1:])
    assert not ended.passed and "1 of them without a known reason" in ended.figure
    ended = judged_with(monkeypatch, applications, [])
    assert not ended.passed and f"{len(known)} of them without a known reason" in ended.figure


# ---- the others ----


def test_latencies_that_the_guest_did_not_measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(latencies, "prepare_host", lambda: None)
    monkeypatch.setattr(
        latencies,
        "execute",
        lambda wanted, folder: Measured(wanted, folder, ConsoleResult(({"event": "result", "latencies": []},))),
    )
    assert not latencies.run(argparse.Namespace(engine="fast", set=[])).passed
    assert list(latencies.latencies({"latencies": []}, machine.load("opteron-8431"), has_l3=True)) == []


def test_engines_that_both_saw_nothing_do_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Agreement(*(Side(engine, 10, 1.0, 0.0, 0.0, {}, 0.0) for engine in ("fast", "gem5")))
    monkeypatch.setattr(agree, "prepare_host", lambda: None)
    monkeypatch.setattr(agree, "skipped", lambda name: None)
    monkeypatch.setattr(runner, "run_point", lambda wanted, folder: Ran(Path(wanted.engine), True))
    sides: Iterator[Side] = iter([nothing.first, nothing.second] * 100)
    monkeypatch.setattr(agreement, "read_side", lambda folder: next(sides))
    ended = agree.run(argparse.Namespace(cores=(8,), trials=3))
    assert not ended.passed and "nothing was counted" in ended.figure


def test_engines_that_count_differently_do_not_agree() -> None:
    def side(engine: str, cycles: float, **counts: float) -> Side:
        named = {name.replace("_", " "): value for name, value in counts.items()}
        return Side(engine, 10, cycles, 100.0, 0.0, {"a": 100.0}, 100.0, {"transfers": 100.0, **named}, 200.0)

    fast = side("fast", 100.0, L3_hits=50.0, memory_reads=4.0)
    assert list(agree.disagreements(Agreement(fast, side("gem5", 120.0, L3_hits=55.0, memory_reads=9.0)))) == []
    apart = list(agree.disagreements(Agreement(fast, side("gem5", 140.0, L3_hits=40.0, memory_reads=40.0))))
    assert apart == ["L3 hits 20.0 %", "memory reads 90.0 %", "cycles 28.6 %"]
    without_l3 = Agreement(fast, side("gem5", 100.0, memory_reads=4.0))
    assert "L3 hits" not in without_l3.deviations and list(agree.disagreements(without_l3)) == []


def test_statistics_without_a_time_are_refused() -> None:
    with pytest.raises(Failure, match="do not say simTicks"):
        tap.ticks("")

# SPDX-License-Identifier: BSD-3-Clause
"""What runs and builds took is kept in a file that reads back as it was written."""

from pathlib import Path

import msgspec
import pytest
from fake_runs import builds as fake_builds
from fake_runs import point

from analysis.attribute.run_tables import OfMemory
from common import cache
from common.outcome import Failure
from harness.cli import main as command_line
from harness.run import known_costs, runner
from harness.run.catalogue import Row


def row(seconds: float, parameters: str, state: str = "ok") -> Row:
    return Row(
        "a",
        state,
        "",
        workload="micro:stat",
        engine="fast",
        parameters=parameters,
        cores=2,
        seconds=seconds,
        processor_seconds=2 * seconds,
        bytes=int(seconds),
        peak_bytes=10,
    )


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "costs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    rows = [row(10, "a=1,b=2"), row(30, "a=1,b=2"), row(5, "a=2"), row(99, "a=2", state="workload-failed")]
    builds = {("kernels", "linux"): (400.0, 7), ("sources", "linux"): (5.0, 7)}
    found = known_costs.read(written(tmp_path, known_costs.text(rows, builds, "a host")))
    assert found.builds == {("kernels", "linux"): (400.0, 7)}
    assert [(one.parameters, one.processor_seconds, one.bytes, one.cores) for one in found.runs] == [
        ("a=1,b=2", 40, 30, 2),
        ("a=2", 10, 5, 2),
    ]


def test_what_this_host_has_not_stays_at_its_pace(tmp_path: Path) -> None:
    now = "fault=none,iterations=5,warmup=2"
    socket = msgspec.structs.replace(row(8, now), workload="micro:socket")
    earlier = known_costs.Known([row(10, "a=1"), socket, row(9, "no=longer")], {("kernels", "one"): (4.0, 7)})
    rows, builds = known_costs.with_earlier([row(30, "a=1")], {("kernels", "two"): (5.0, 7)}, earlier)
    assert [(one.workload, one.parameters, one.processor_seconds) for one in rows] == [
        ("micro:stat", "a=1", 60),
        ("micro:socket", now, 48),
    ]
    assert builds == {("kernels", "one"): (4.0, 7), ("kernels", "two"): (5.0, 7)}


@pytest.mark.parametrize("text", ["", "a,b\n", known_costs.text([], {}, "") + "fast,micro:stat,,x,1,1,1,1\n"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(Failure, match=r"costs\.csv is not as"):
        known_costs.read(written(tmp_path, text))


def test_the_file_of_the_project_reads() -> None:
    known = known_costs.read()
    assert known.runs and all(one.processor_seconds > 0 and one.bytes > 0 for one in known.runs)
    assert ("kernels", "linux-6.1") in known.builds


def test_the_command_keeps_what_runs_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "prepare", lambda _: fake_builds("ok"))
    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", lambda folder, *more: OfMemory({}, []))
    monkeypatch.setattr("harness.run.catalogue.note", lambda folder: None)
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(known_costs, "FILE", tmp_path / "costs.csv")
    monkeypatch.setattr("harness.cli.runs.REPOSITORY", tmp_path)
    with pytest.raises(Failure, match="no complete run"):
        command_line.dispatch(["runs", "costs", "--output", str(tmp_path / "runs")])
    runner.run_point(point(1), tmp_path / "runs")
    assert command_line.dispatch(["runs", "costs", "--output", str(tmp_path / "runs")]) == 0
    assert capsys.readouterr().out.startswith("costs.csv: what 1 runs")

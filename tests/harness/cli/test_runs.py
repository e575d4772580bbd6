# SPDX-License-Identifier: BSD-3-Clause
"""`run.py runs list|prune`: what the filters let through, and what prune leaves alone."""

import os
import time
from pathlib import Path

import pytest
from fake_runs import builds, point

from analysis.attribute.run_tables import OfMemory
from common.outcome import Failure, Outcome
from harness.cli.main import main
from harness.run import catalogue, leftovers, run_directory, runner

ONE, TWO = point(1), point(2)


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Complete runs on one and two cores; of the former an older one, and of a third point a panic."""
    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", lambda *given: OfMemory({}, []))
    monkeypatch.setattr("analysis.report.kept_tables.find", lambda folder: None)
    for wanted in (ONE, TWO):
        runner.run_point(wanted, tmp_path, builds=builds("ok"))
    runner.run_point(ONE, tmp_path, builds=builds("ok", "kernel-2"))
    with pytest.raises(Failure):
        runner.run_point(point(3), tmp_path, builds=builds("panic"))
    return tmp_path


def listed(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> set[str]:
    """The folders that `runs list` names."""
    capsys.readouterr()
    assert main(["runs", "list", "--output", str(root), *arguments]) == 0
    out = capsys.readouterr().out
    return {path.name for path in root.iterdir() if f" {path.name}\n" in out}


def there(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if not path.name.startswith(".")}


OLD, PANIC = f"{ONE.id}.old-1", f"{point(3).id}.guest-panic-1"


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ([], {ONE.id, TWO.id, OLD, PANIC}),
        (["--outcome", "ok"], {ONE.id, TWO.id}),
        (["--outcome", "old,guest-panic"], {OLD, PANIC}),
        (["--cores", "1"], {ONE.id, OLD}),
        (["--workload", "micro:*", "--cores", "2,3"], {TWO.id, PANIC}),
        (["--workload", "micro:lseek"], set()),
        (["--kernel", "linux-6.1:*,x", "--machine", "small*", "--engine", "fast", "--cores", "2"], {TWO.id}),
        (["--machine", "opteron*"], set()),
        (["--since", "1d", "--outcome", "old"], {OLD}),
        (["--before", "2020-01-01"], set()),
        (["--larger", "1G"], set()),
        (["--check", "--outcome", "ok"], {ONE.id, TWO.id}),
    ],
)
def test_filters(filters: list[str], wanted: set[str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(root, capsys, *filters) == wanted


@pytest.mark.parametrize("filters", [["--cores", "one"], ["--outcome", "fine"]])
def test_a_filter_that_is_none_is_refused(filters: list[str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "prune", "--output", str(root), *filters]) == Outcome.BAD_INPUT.exit_status
    assert filters[1] in capsys.readouterr().err
    assert there(root) == {ONE.id, TWO.id, OLD, PANIC}


@pytest.mark.parametrize("filters", [["--larger", "1X"], ["--since", "yesterday"]])
def test_nonsense_is_refused(filters: list[str], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["runs", "list", "--output", str(root), *filters])
    assert filters[1] in capsys.readouterr().err


def test_check_reads_the_files(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    console = root / TWO.id / "console.log"
    console.write_bytes(console.read_bytes()[:-1] + b"?")
    assert main(["runs", "list", "--output", str(root), "--check"]) == 1
    out = capsys.readouterr().out
    assert "damaged: console.log is not what MANIFEST.sha256 says" in out
    assert "1 of them complete runs (all files read)" in out


def test_prune_removes_what_is_no_complete_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / f".{TWO.id}.lock").touch()
    (root / "notes").mkdir()  # somebody's
    assert main(["runs", "prune", "--output", str(root), "--dry-run"]) == 0
    assert there(root) == {ONE.id, TWO.id, OLD, PANIC, "notes"}
    assert main(["runs", "prune", "--output", str(root)]) == 0
    assert there(root) == {ONE.id, TWO.id, "notes"}
    assert not list(root.glob(".*.lock"))
    assert "3 removed" in capsys.readouterr().out
    assert catalogue.complete_runs(root) == sorted([root / ONE.id, root / TWO.id])


def test_prune_does_not_count_what_stays(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    part = root / f".{TWO.id}.part"
    part.mkdir()
    found = leftovers.find(root)
    monkeypatch.setattr(leftovers, "find", lambda root: found)
    with run_directory.locked(root, TWO):  # it has begun since
        assert main(["runs", "prune", "--output", str(root)]) == 0
    assert part.is_dir()
    assert "2 removed" in capsys.readouterr().out


def test_prune_removes_complete_runs_that_are_named(root: Path) -> None:
    assert main(["runs", "prune", "--output", str(root), "--cores", "1"]) == 0
    assert there(root) == {ONE.id, TWO.id, PANIC}
    assert main(["runs", "prune", "--output", str(root), "--cores", "2", "--outcome", "ok"]) == 0
    assert there(root) == {ONE.id, PANIC}


def test_dates_are_of_the_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = time.time() - 10 * 86400
    os.utime(root / TWO.id, (old, old))
    assert listed(root, capsys, "--outcome", "ok", "--since", "3d") == {ONE.id}
    assert listed(root, capsys, "--before", "3d") == {TWO.id}

# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue of a folder of runs: rows are right, made again when they must be, and nothing damaged counts as complete."""

import os
import shutil
from pathlib import Path

import pytest
from fake_runs import builds, point

from analysis.attribute.run_tables import OfMemory
from analysis.report.beside import CATALOGUE
from common import locks
from common.outcome import Failure
from harness.run import catalogue, leftovers, run_directory, runner
from harness.run.executors.queue import LOCK, QUEUES

POINT = point()


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a complete run and one that failed."""
    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", lambda *given: OfMemory({}, []))
    monkeypatch.setattr("analysis.report.kept_tables.find", lambda folder: None)
    runner.run_point(POINT, tmp_path, builds=builds("ok"))
    with pytest.raises(Failure):
        runner.run_point(point(1), tmp_path, builds=builds("panic"))
    return tmp_path


def states(root: Path) -> dict[str, str]:
    return {row.name: row.state for row in catalogue.rows(root)}


def test_rows(root: Path) -> None:
    assert states(root) == {POINT.id: "ok", f"{point(1).id}.guest-panic-1": "guest-panic"}
    row = next(row for row in catalogue.rows(root) if row.state == "ok")
    assert (row.workload, row.kernel, row.machine, row.cores, row.trial) == ("micro:stat", "linux-6.1:stock", "small-2x2", 2, 1)
    assert row.point == POINT.id
    assert row.processor_seconds > 0 and row.peak_bytes > 1 << 20
    assert row.bytes == sum(path.stat().st_size for path in (root / POINT.id).rglob("*") if path.is_file())
    assert row.builds == catalogue.builds_key(builds("ok").digests()) != catalogue.builds_key(builds("ok", "kernel-2").digests())


def test_the_index_alone_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = catalogue.rows(root)
    monkeypatch.setattr(catalogue, "_row", lambda folder, key: pytest.fail(f"{folder} was opened"))
    monkeypatch.setattr(run_directory, "fault", lambda folder: pytest.fail(f"{folder} was read"))
    assert catalogue.rows(root) == before
    assert catalogue.complete_runs(root) == [root / POINT.id]


def test_a_copied_run_is_read_once(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copytree(root / POINT.id, other / POINT.id)
    (row,) = catalogue.rows(other)
    assert (row.state, row.files) == ("ok", "")
    assert catalogue.complete_runs(other) == [other / POINT.id]
    (row,) = catalogue.rows(other)
    assert row.files


def test_a_file_that_changes_is_noticed(root: Path) -> None:
    console = root / POINT.id / "console.log"
    changed = console.read_bytes()[:-1] + b"?"
    times = console.stat()
    console.write_bytes(changed)
    os.utime(console, ns=(times.st_atime_ns, times.st_mtime_ns))  # as old and as large as before
    assert catalogue.complete_runs(root) == []


def test_a_folder_that_is_named_after_another_point_is_no_run(root: Path) -> None:
    (root / POINT.id).rename(root / "renamed")
    (root / "notes").mkdir()
    assert states(root)["renamed"] == states(root)["notes"] == "unknown"
    assert catalogue.complete_runs(root) == []


def test_a_run_without_its_manifest_is_broken(root: Path) -> None:
    (root / POINT.id / "MANIFEST.sha256").unlink()
    assert states(root)[POINT.id] == "broken"


@pytest.mark.parametrize("damage", [b"", b"not a line", b'{"name": 1}'])
def test_a_damaged_index_is_made_again(damage: bytes, root: Path) -> None:
    index = root / CATALOGUE / "index.jsonl"
    before = catalogue.rows(root)
    index.write_bytes(index.read_bytes()[:-30] + damage if damage else b"")
    assert {row.name for row in catalogue.rows(root)} == {row.name for row in before}


def test_rows_of_another_version_are_made_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = catalogue.rows(root)
    monkeypatch.setattr(catalogue, "_code", lambda: "another")
    after = catalogue.rows(root)
    assert [row.name for row in after] == [row.name for row in before]
    assert all(row.key.endswith("another") for row in after)


def test_a_folder_without_catalogue_is_only_slower(root: Path) -> None:
    shutil.rmtree(root / CATALOGUE)
    (root / CATALOGUE).write_text("a file in its place")
    assert catalogue.complete_runs(root) == [root / POINT.id]


def test_leftovers(root: Path) -> None:
    assert leftovers.find(root) == []
    (root / f".{POINT.id}.lock").touch()
    (root / f".{point(1).id}.part").mkdir()
    (root / CATALOGUE / "gone.json.gz").write_bytes(b"1234")
    found = leftovers.find(root)
    assert [left.path.name for left in found] == ["gone.json.gz", f".{point(1).id}.part", f".{POINT.id}.lock"]
    with run_directory.locked(root, POINT), run_directory.locked(root, point(1)):
        assert [left.path.name for left in leftovers.find(root)] == ["gone.json.gz"]
    for left in leftovers.find(root):
        left.remove()
    assert leftovers.find(root) == []
    assert catalogue.complete_runs(root) == [root / POINT.id]


def test_a_queue_is_left_when_nobody_looks_after_it(root: Path) -> None:
    queue = root / QUEUES / "1-abc"
    queue.mkdir(parents=True)
    (queue / "0.1.out").write_text("said")
    with locks.locked(queue / LOCK, "its queue"):
        assert leftovers.find(root) == []
    (left,) = leftovers.find(root)
    assert (left.path, left.bytes) == (queue, 4)


def test_what_a_process_has_begun_to_work_on_stays(root: Path) -> None:
    begun, left = root / f".{point(1).id}.part", root / f".{point(2).id}.part"
    queue = root / QUEUES / "1-abc"
    for folder in (begun, left, queue):
        folder.mkdir(parents=True)
    found = leftovers.find(root)
    with run_directory.locked(root, point(1)), locks.locked(queue / LOCK, "its queue"):
        removed = {one.path: one.remove() for one in found}
        assert removed == {begun: False, left: True, queue: False}
        assert begun.is_dir() and begun.with_suffix(".lock").exists() and queue.is_dir() and not left.exists()
    assert [one.remove() for one in leftovers.find(root)] == [True, True]
    assert not list(root.glob(".*.lock")) and not begun.exists() and not queue.exists()


def test_a_run_leaves_no_lock(root: Path) -> None:
    assert list(root.glob(".*.lock")) == []

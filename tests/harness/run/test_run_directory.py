# SPDX-License-Identifier: BSD-3-Clause
"""Run directories: complete or not, reused or not, and what is kept aside."""

import errno
import hashlib
from pathlib import Path

import pytest
from fake_runs import FakeEngine, builds, point

from analysis.attribute.run_tables import OfMemory
from analysis.report.beside import CATALOGUE, MANIFEST
from common.json_files import read_json
from common.outcome import Failure, Outcome
from common.progress import Step
from harness.build.image import Image
from harness.build.kernel import Kernel
from harness.run import catalogue, run_directory, runner
from harness.spec.point import Point

POINT = point()


@pytest.fixture(autouse=True)
def fake_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    set_guest(monkeypatch, "ok")
    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", lambda *given: OfMemory({}, []))
    monkeypatch.setattr("analysis.report.kept_tables.find", lambda folder: None)


def set_guest(monkeypatch: pytest.MonkeyPatch, mode: str, kernel_digest: str = "kernel-1") -> None:
    monkeypatch.setattr(runner, "prepare", lambda _: builds(mode, kernel_digest))


def there(root: Path) -> list[str]:
    """Everything but the catalogue."""
    return sorted(path.name for path in root.iterdir() if path.name != CATALOGUE)


def test_a_run_is_complete_and_has_its_files(tmp_path: Path) -> None:
    ran = runner.run_point(POINT, tmp_path)
    assert ran.folder == tmp_path / POINT.id
    assert run_directory.fault(ran.folder) is None
    names = {path.name for path in ran.folder.iterdir()}
    wanted = {"point.toml", "provenance.json", "console.log", "metrics.json", "outcome.json", "engine", MANIFEST}
    assert wanted <= names
    assert sorted(path.name for path in (ran.folder / "engine").iterdir()) == ["qemu.log", "records.sha256"]
    assert catalogue.complete_runs(tmp_path) == [ran.folder]


def test_what_the_engine_wrote_is_kept_on_request(tmp_path: Path) -> None:
    folder = runner.run_point(POINT, tmp_path, keep=["records", "memory"]).folder
    records = (folder / "engine" / "records.bin").read_bytes()
    assert (folder / "engine" / "records.sha256").read_text().split()[0] == hashlib.sha256(records).hexdigest()
    assert (folder / "engine" / "memory.elf").read_bytes() == b"guest memory"
    assert run_directory.fault(folder) is None
    again = runner.run_point(POINT, tmp_path, reuse="none").folder
    assert (again / "engine" / "records.sha256").read_text().split()[0] == hashlib.sha256(records).hexdigest()
    assert not (again / "engine" / "records.bin").exists()


def test_a_relative_folder_of_runs_is_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    execute = FakeEngine.execute

    def noted(self: FakeEngine, point: Point, kernel: Kernel, image: Image, folder: Path, step: Step) -> None:
        asked.append(folder)
        execute(self, point, kernel, image, folder, step)

    monkeypatch.setattr(FakeEngine, "execute", noted)
    monkeypatch.chdir(tmp_path)
    assert runner.run_point(POINT, Path("runs")).folder == tmp_path / "runs" / POINT.id
    assert asked == [tmp_path / "runs" / f".{POINT.id}.part"], "the engine works in another folder"


def test_a_run_without_what_is_to_be_kept_is_refused(tmp_path: Path) -> None:
    runner.run_point(POINT, tmp_path)
    for reuse in ("same", "any"):
        with pytest.raises(Failure, match=r"is there already, without engine/memory\.elf\. Give --reuse none") as caught:
            runner.run_point(POINT, tmp_path, reuse=reuse, keep=["memory"])
        assert caught.value.outcome is Outcome.BAD_INPUT
    assert not runner.run_point(POINT, tmp_path, reuse="none", keep=["memory"]).reused
    assert runner.run_point(POINT, tmp_path, keep=["memory"]).reused
    with pytest.raises(Failure, match=r"without engine/records\.bin\."):
        runner.run_point(POINT, tmp_path, keep=["memory", "records"])


def test_provenance_and_metrics(tmp_path: Path) -> None:
    folder = runner.run_point(POINT, tmp_path).folder
    known = read_json(folder / "provenance.json")
    assert known["digests"] == {"kernel": "kernel-1", "image": "image-1", "engine": "engine-1"}
    assert known["engine"] == {"name": "fast", "versions": {"fake": "1"}, "note": "made up", "cycles": "nobody's"}
    assert known["host"]["processors"] > 0
    metrics = read_json(folder / "metrics.json")
    assert metrics["seconds"] == pytest.approx(480000 / 2.4e9)  # the core that took longest
    assert metrics["units_per_second"] == pytest.approx(2000 / 0.0002)
    assert metrics["units_per_second_core"] == pytest.approx(1000 / 0.0002)
    assert metrics["per_core"][0]["units_per_second"] == pytest.approx(1000 / 0.0001)
    assert (metrics["user"], metrics["system"], metrics["idle"]) == pytest.approx((0.75 * 0.25, 0.75 * 0.75, 0.25))
    assert metrics["per_core"][0]["core"] == 0
    time = metrics["microseconds_per_unit"]
    whole = 2 * 480000 / 2400 / 2000  # two cores, in cycles per microsecond, for each of the units
    assert time == pytest.approx({"user": whole * 0.75 * 0.25, "system": whole * 0.75 * 0.75, "idle": whole * 0.25})


def test_a_workload_need_not_know_its_cycles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_guest(monkeypatch, "without_cycles")
    metrics = read_json(runner.run_point(POINT, tmp_path).folder / "metrics.json")
    assert metrics["roi_cycles"] > 0
    assert [one["cycles"] for one in metrics["per_core"]] == [metrics["roi_cycles"]] * 2
    assert metrics["seconds"] == pytest.approx(metrics["roi_cycles"] / 2.4e9)


def test_a_complete_run_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = runner.run_point(POINT, tmp_path)
    set_guest(monkeypatch, "panic")
    again = runner.run_point(POINT, tmp_path)
    assert again.reused
    assert not first.reused


def test_it_is_run_again_when_asked_or_when_the_builds_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.run_point(POINT, tmp_path)
    set_guest(monkeypatch, "ok", "kernel-2")
    assert runner.run_point(POINT, tmp_path, reuse="any").reused
    other = runner.run_point(POINT, tmp_path)
    assert not other.reused
    assert "other builds" in other.notes[0]
    assert not runner.run_point(POINT, tmp_path, reuse="none").reused
    assert there(tmp_path) == [POINT.id, f"{POINT.id}.old-2"]  # of those set aside only the last is kept
    assert catalogue.complete_runs(tmp_path) == [tmp_path / POINT.id]


@pytest.mark.parametrize("harm", ["change", "remove", "add", "no manifest", "cut manifest"])
def test_a_damaged_run_is_noticed_set_aside_and_run_again(harm: str, tmp_path: Path) -> None:
    folder = runner.run_point(POINT, tmp_path).folder
    console, manifest = folder / "console.log", folder / MANIFEST
    if harm == "change":
        console.write_bytes(console.read_bytes()[:-1] + b"?")
    elif harm == "remove":
        console.unlink()
    elif harm == "add":
        (folder / "engine" / "more").touch()
    elif harm == "no manifest":
        manifest.unlink()
    else:
        manifest.write_text(manifest.read_text()[:100])
    assert run_directory.fault(folder) is not None
    assert catalogue.complete_runs(tmp_path) == []
    ran = runner.run_point(POINT, tmp_path)
    assert not ran.reused
    assert f"{POINT.id}.broken-1" in ran.notes[0]
    assert (tmp_path / f"{POINT.id}.broken-1").is_dir()
    assert run_directory.fault(ran.folder) is None


@pytest.mark.parametrize(("mode", "outcome"), [("panic", "guest-panic"), ("wrong", "wrong-result"), ("segv", "engine-crash")])
def test_a_failed_run_is_kept_aside_with_its_outcome(
    mode: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_guest(monkeypatch, mode)
    with pytest.raises(Failure) as caught:
        runner.run_point(POINT, tmp_path)
    aside = tmp_path / f"{POINT.id}.{outcome}-1"
    assert read_json(aside / "outcome.json")["outcome"] == outcome
    assert (aside / "console.log").exists()
    assert ".part" not in str(caught.value)  # the sentence names the place where the files are now
    assert catalogue.complete_runs(tmp_path) == []
    set_guest(monkeypatch, "ok")
    assert not runner.run_point(POINT, tmp_path).reused


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_no_room_for_a_result_leaves_nothing(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*given: object) -> None:
        raise OSError(code, "no room")

    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", no_room)
    with pytest.raises(Failure) as caught:
        runner.run_point(POINT, tmp_path)
    assert caught.value.outcome is Outcome.DISK_FULL
    assert there(tmp_path) == []


def test_an_interrupt_while_analysing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", interrupt)
    with pytest.raises(Failure) as caught:
        runner.run_point(POINT, tmp_path)
    assert caught.value.outcome is Outcome.INTERRUPTED
    assert there(tmp_path) == []

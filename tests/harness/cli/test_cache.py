# SPDX-License-Identifier: BSD-3-Clause
"""The cache command: what it may remove and what not, and that it counts everything."""

import os
import time
from pathlib import Path

import pytest

from common import cache
from common.locks import locked_now
from harness.cli import cache as command
from harness.cli import main


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path))
    return tmp_path


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.glob("*/*") if path.is_dir()}


def made(kind: str, name: str, inputs: int = 0, days: float = 0) -> Path:
    """An entry that was last used so many days ago."""
    folder = cache.cached(kind, name, {"x": inputs}, lambda building: None)
    then = time.time() - days * 86400
    os.utime(folder, (then, then))
    return folder


def test_prune_removes_what_has_not_been_used_for_long(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, other = made("packages", "bookworm", 1, days=31), made("source-programs", "exim4", days=400)
    kept = {made("packages", "bookworm", 2, days=29), made("packages", "bookworm", 3), made("kernels", "linux-6.1", days=29)}
    before = names(root)
    assert main.main(["cache"]) == 0
    assert names(root) == before
    assert "(not used for 31 days)" in capsys.readouterr().out
    assert main.main(["cache", "prune"]) == 0
    assert names(root) == before - {str(path.relative_to(root)) for path in (old, other)}
    assert all(path.is_dir() for path in kept)
    assert main.main(["cache", "prune", "--days", "7"]) == 0
    assert names(root) == {"packages/" + made("packages", "bookworm", 3).name}


def test_what_is_taken_from_the_cache_is_used(root: Path) -> None:
    old = made("kernels", "linux-6.1", days=100)
    assert cache.cached("kernels", "linux-6.1", {"x": 0}, lambda building: pytest.fail("built again")) == old
    assert main.main(["cache", "prune"]) == 0
    assert old.is_dir()


def test_what_is_being_built_and_what_was_taken_meanwhile_stay(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "sources").mkdir()
    (root / "sources" / ".building-qemu-killed").mkdir()

    def while_building(folder: Path) -> None:
        assert main.main(["cache", "prune"]) == 0
        assert folder.is_dir()

    running = cache.cached("images", "bookworm", {}, while_building)
    assert names(root) == {str(running.relative_to(root))}
    assert "left by a killed build" in capsys.readouterr().out
    old = made("images", "bookworm", 1, days=100)
    assert command.why_old(old, 30)
    made("images", "bookworm", 1)
    assert not command._remove(old, 30)
    made("images", "bookworm", 1, days=100)
    with locked_now(cache.lock_of(old)):
        assert not command._remove(old, 30)
    assert old.is_dir()


def test_everything_is_counted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def build(folder: Path) -> None:
        (folder / "big").write_bytes(bytes(3 << 20))

    entry = cache.cached("clusters", "postgresql-15", {}, build)
    (root / "ccache" / "0").mkdir(parents=True)
    (root / "ccache" / "0" / "object").write_bytes(bytes(5 << 20))
    (root / "clusters" / "failed.log").write_bytes(bytes(2 << 20))
    assert main.main(["cache"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[:3] for line in lines[:-1]] == [
        ["5", "MiB", "ccache"],
        ["3", "MiB", f"clusters/{entry.name}"],
        ["2", "MiB", "clusters"],
    ]
    assert lines[-1][:2] == ["10", "MiB"]

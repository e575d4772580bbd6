# SPDX-License-Identifier: BSD-3-Clause
"""The cache command: what it may remove and what not."""

import os
from pathlib import Path

import pytest

from common import cache
from harness.cli import main


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.glob("*/*") if path.is_dir()}


def test_prune_keeps_the_newest_and_what_is_being_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path))
    made = [cache.cached("kernels", "linux-6.1", {"x": x}, lambda folder: (folder / "vmlinux").touch()) for x in range(3)]
    for age, folder in enumerate(reversed(made)):
        os.utime(folder, (1000 - age, 1000 - age))
    other = cache.cached("kernels", "linux-2.6.35", {}, lambda folder: None)
    (tmp_path / "kernels" / ".building-linux-6.1-killed").mkdir()
    before = names(tmp_path)
    assert main.main(["cache"]) == 0
    assert names(tmp_path) == before

    def while_building(folder: Path) -> None:
        assert main.main(["cache", "prune"]) == 0

    running = cache.cached("images", "bookworm", {}, while_building)
    assert names(tmp_path) == {str(path.relative_to(tmp_path)) for path in (made[2], other, running)}
    assert "left by a killed build" in capsys.readouterr().out

# SPDX-License-Identifier: BSD-3-Clause
import os
from pathlib import Path

from common.disk_use import bytes_of


def test_holes_take_nothing(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(os.urandom(1 << 20))
    (tmp_path / "hollow").touch()
    os.truncate(tmp_path / "hollow", 1 << 30)
    assert 1 << 20 <= bytes_of(tmp_path.rglob("*")) < 2 << 20


def test_folders_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert bytes_of(tmp_path.rglob("*")) == 0

# SPDX-License-Identifier: BSD-3-Clause
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.build import partition


def test_the_partition_is_the_file_system(tmp_path: Path) -> None:
    content = bytes(range(256)) * 4096
    (tmp_path / "fs").write_bytes(content)
    partition.write(tmp_path / "fs", tmp_path / "disk", 0x6D6F7362)
    disk = (tmp_path / "disk").read_bytes()
    assert disk[2048 * 512 :] == content
    assert not any(disk[512 : 2048 * 512])


def test_other_tools_read_the_table(tmp_path: Path) -> None:
    sfdisk = shutil.which("sfdisk") or shutil.which("sfdisk", path="/usr/sbin:/sbin")
    if sfdisk is None:
        pytest.skip("sfdisk is not there (Debian package fdisk)")
    (tmp_path / "fs").write_bytes(bytes(3 << 20))
    partition.write(tmp_path / "fs", tmp_path / "disk", 0x6D6F7362)
    said = subprocess.run([sfdisk, "--dump", tmp_path / "disk"], check=True, capture_output=True, text=True).stdout
    assert "label: dos" in said
    assert "label-id: 0x6d6f7362" in said
    assert "start=        2048, size=        6144, type=83" in said


def test_a_part_of_a_sector_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fs").write_bytes(bytes(513))
    with pytest.raises(ValueError, match="513 bytes"):
        partition.write(tmp_path / "fs", tmp_path / "disk", 1)
    assert not (tmp_path / "disk").exists()

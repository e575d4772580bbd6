# SPDX-License-Identifier: BSD-3-Clause
"""The source of lwIP: Debian's package in the one version that native/load is written for."""

from pathlib import Path

import pytest

from common.outcome import Failure
from harness.build import debian_archive, lwip


class NoApt:
    """A source package that is there, without a network."""

    def __init__(self, *arguments: object, **options: object) -> None:
        pass

    def update(self) -> None:
        pass

    def download_source(self, name: str, folder: Path) -> None:
        assert name == "lwip" and folder.is_dir()


@pytest.mark.parametrize("version", ["2.1.3+dfsg1-2", "2.2.0+dfsg1-1"])
def test_only_the_known_version_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    def unpack(files: Path, tree: Path, log: Path) -> str:
        tree.mkdir()
        return version

    monkeypatch.setattr(lwip, "Apt", NoApt)
    monkeypatch.setattr(debian_archive, "unpack_source", unpack)
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "apt").mkdir()
    if version.startswith("2.1.3"):
        lwip._download(folder)
        assert [path.name for path in folder.iterdir()] == ["tree"]
    else:
        with pytest.raises(Failure, match=r"lwip is 2\.2\.0"):
            lwip._download(folder)

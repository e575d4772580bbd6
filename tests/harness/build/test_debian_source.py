# SPDX-License-Identifier: BSD-3-Clause
"""Debian's source packages in the one version that what is built from them is written for."""

from pathlib import Path

import pytest

from common.outcome import Failure
from harness.build import debian_archive, debian_source


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

    monkeypatch.setattr(debian_source, "Apt", NoApt)
    monkeypatch.setattr(debian_archive, "unpack_source", unpack)
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "apt").mkdir()
    if version.startswith("2.1.3"):
        debian_source._download("lwip", "2.1.3", folder)
        assert sorted(path.name for path in folder.iterdir()) == ["tree", "version"]
    else:
        with pytest.raises(Failure, match=r"lwip is 2\.2\.0"):
            debian_source._download("lwip", "2.1.3", folder)

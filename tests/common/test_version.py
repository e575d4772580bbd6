# SPDX-License-Identifier: BSD-3-Clause
"""The checkout's commit, and whether files differ from it."""

import subprocess
from pathlib import Path

import pytest

from common import version
from common.version import Revision, revision


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a file in its root and one in a folder, and nothing changed."""
    (tmp_path / "pages").mkdir()
    for name in ("source.py", "pages/one.md"):
        (tmp_path / name).write_text("first\n")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "First"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(version, "REPOSITORY", tmp_path)
    return tmp_path


def test_a_folder_may_differ(checkout: Path) -> None:
    assert revision().changed is False
    (checkout / "pages" / "one.md").write_text("second\n")
    (checkout / "pages" / "two.md").write_text("new\n")
    assert revision().changed is True
    assert revision(without=checkout / "pages").changed is False
    (checkout / "source.py").write_text("second\n")
    assert revision(without=checkout / "pages").changed is True


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "REPOSITORY", tmp_path)
    assert revision() == Revision(None, None)

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py record`: the page of a command, and what is refused."""

from pathlib import Path

import pytest

from common.outcome import Outcome
from common.version import Revision, release
from harness.cli import main, record

CLEAN = Revision("0123456789abcdef", False)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    monkeypatch.setattr(record, "revision", lambda without: CLEAN)
    return tmp_path


def test_the_page_of_a_command(results: Path) -> None:
    assert main.main(["record", "machines", "list", "machines"]) == 0
    page = (results / "machines.md").read_text()
    assert "| command | `./run.py list machines` |" in page
    assert "| commit | 0123456789ab |" in page
    assert "| opteron-8431 | 8 | 48 |" in page


@pytest.mark.parametrize(
    ("words", "checkout", "said"),
    [
        (["Not a name", "list", "machines"], CLEAN, "no name of a page"),
        (["empty"], CLEAN, "needs a command"),
        (["inner", "record", "again", "list"], CLEAN, "needs a command"),
        (["dirty", "list", "machines"], Revision("0123", True), "has changes"),
        (["nowhere", "list", "machines"], Revision(None, None), "no git checkout"),
    ],
)
def test_refused(
    words: list[str],
    checkout: Revision,
    said: str,
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(record, "revision", lambda without: checkout)
    assert main.main(["record", *words]) == Outcome.BAD_INPUT.exit_status
    assert said in capsys.readouterr().err
    assert list(results.iterdir()) == []


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"mosbench-gem5 {release()}")

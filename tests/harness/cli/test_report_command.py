# SPDX-License-Identifier: BSD-3-Clause
"""`run.py report`: which runs it takes."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.attribute import schema
from common.outcome import Outcome
from harness.cli import main, report
from harness.run import catalogue


def run(folder: Path, number: str | None) -> Path:
    """A folder whose table of lines says that it is of format ``number``."""
    folder.mkdir()
    table = pa.table({"paddr": [64]}).replace_schema_metadata({} if number is None else {"format": number})
    pq.write_table(table, folder / "lines.parquet")
    return folder


def test_runs_of_another_format_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = run(tmp_path / "old", None), run(tmp_path / "new", str(schema.load().tables_format))
    taken: list[Path] = []
    monkeypatch.setattr(report, "present", lambda folders, page, arguments, diff: taken.extend(folders))
    monkeypatch.setattr(catalogue, "complete_runs", lambda root: [old, new])
    assert main.main(["report"]) == 0
    assert taken == [new]
    assert "Left out: 1 run whose" in capsys.readouterr().out
    monkeypatch.setattr(catalogue, "complete_runs", lambda root: [old])
    assert main.main(["report"]) == Outcome.BAD_INPUT.exit_status

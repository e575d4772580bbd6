# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a run beside it: the same as what is made from its tables, and made again when it must be."""

import gzip
import shutil
from pathlib import Path

import pytest

from analysis.report import kept_tables
from analysis.report.beside import CATALOGUE, MANIFEST, kept_in
from analysis.report.kept_tables import KeptTables
from analysis.report.runs import Run
from common.outcome import Failure


@pytest.fixture
def folder(runs: list[Path], tmp_path: Path) -> Path:
    """A run that counts as complete."""
    copy = tmp_path / "runs" / "one"
    shutil.copytree(runs[2], copy)
    (copy / MANIFEST).write_text("0123  lines.parquet\n")
    return copy


def without_tables(folder: Path) -> None:
    for path in folder.glob("*.parquet"):
        path.unlink()


def test_what_is_kept_is_what_the_tables_say(folder: Path) -> None:
    made = kept_tables.make(folder)
    assert kept_tables.find(folder) == made
    without_tables(folder)
    kept = Run(folder)
    assert kept.kept == made
    assert kept.hot_lines(3)[0].sites and kept.profile(2) == made.profile[:2]
    assert kept.matrix_of(["write"])[1, 0] == 23
    assert kept.bottlenecks()[0].bottleneck.title == kept.bottlenecks()[0].title


def test_it_is_small(folder: Path) -> None:
    kept_tables.find(folder)
    assert kept_in(folder).stat().st_size < 8192


def test_more_than_is_kept_is_read_from_the_tables(folder: Path) -> None:
    assert len(Run(folder).hot_lines(kept_tables.LINES + 1)) == len(Run(folder).hot_lines(kept_tables.LINES))
    one_each = Run(folder).hot_lines(5, per_label=1)
    assert len({line.label for line in one_each}) == len(one_each)
    without_tables(folder)
    for more in ("hot_lines", "profile"):
        with pytest.raises(Failure, match="cannot be read"):
            getattr(Run(folder), more)(1000)


@pytest.mark.parametrize("change", ["manifest", "code", "torn", "not packed"])
def test_it_is_made_again(change: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_tables.find(folder)
    kept = kept_in(folder)
    if change == "manifest":
        (folder / MANIFEST).write_text("4567  lines.parquet\n")
    elif change == "code":
        monkeypatch.setattr(kept_tables, "_code", lambda: "another")
    elif change == "torn":
        kept.write_bytes(kept.read_bytes()[:-20])
    else:
        kept.write_bytes(gzip.compress(b"{}"))
    made: list[Path] = []
    make = kept_tables.make

    def count(folder: Path) -> KeptTables:
        made.append(folder)
        return make(folder)

    monkeypatch.setattr(kept_tables, "make", count)
    assert kept_tables.find(folder) == kept_tables.find(folder)  # the second is kept again
    assert made == [folder]


def test_of_what_is_no_complete_run_nothing_is_kept(folder: Path) -> None:
    (folder / MANIFEST).unlink()
    assert kept_tables.find(folder) == kept_tables.make(folder)
    assert not (folder.parent / CATALOGUE).exists()


def test_where_nothing_can_be_written(folder: Path) -> None:
    (folder.parent / CATALOGUE).write_text("a file in its place")
    assert kept_tables.find(folder) == kept_tables.make(folder)

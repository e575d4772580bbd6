# SPDX-License-Identifier: BSD-3-Clause
"""Which files of two runs of one point have to be the same."""

import json
from pathlib import Path

import pytest

from analysis.attribute import schema
from analysis.report.beside import MANIFEST
from common.paths import REPOSITORY
from harness.run import reproduction

PAGE = REPOSITORY / "docs" / "reference" / "run-directory.md"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two run directories that are the same but for what is each run's own."""
    for name in ("a", "b"):
        (tmp_path / name / "engine").mkdir(parents=True)
        for file in (
            "console.log",
            "metrics.json",
            "engine/records.sha256",
            *(f"{table}.parquet" for table in schema.load().tables),
        ):
            (tmp_path / name / file).write_text(file)
        for file in ("outcome.json", "engine/engine.json", "engine/qemu.log", MANIFEST):
            (tmp_path / name / file).write_text(name)
        digests = {"kernel": "k", "image": "i", "engine": name}
        (tmp_path / name / "provenance.json").write_text(json.dumps({"digests": digests}))
    return tmp_path / "a", tmp_path / "b"


def test_what_is_each_runs_own_is_left_out(pair: tuple[Path, Path]) -> None:
    found = reproduction.files(*pair)
    assert len(found) == 3 + len(schema.load().tables)
    assert all(one.same for one in found)


def test_what_differs_or_is_missing_is_named(pair: tuple[Path, Path]) -> None:
    first, second = pair
    (second / "engine" / "records.sha256").write_text("other")
    (first / "zones.parquet").write_text("only here")
    for folder in pair:
        (folder / "cores.parquet").unlink()  # in neither, and every run has to have it
    found = [one.name for one in reproduction.files(first, second) if not one.same]
    assert found == ["cores.parquet", "engine/records.sha256", "zones.parquet"]


def test_lines_of_gem5_about_the_host_are_left_out(pair: tuple[Path, Path]) -> None:
    first, second = (folder / "engine" for folder in pair)
    (first / "stats.txt").write_text("simTicks 5 # ticks\nhostSeconds 1.14 # s\nhostMemory 10 # B\n")
    (second / "stats.txt").write_text("simTicks 5 # ticks\nhostSeconds 1.43 # s\nhostMemory 12 # B\n")
    (first / "config.ini").write_text("mem_mode=timing\nreadfile=/one/job\nreadonly=1\n")
    (second / "config.ini").write_text("mem_mode=timing\nreadfile=/two/job\nreadonly=1\n")
    assert all(one.same for one in reproduction.files(*pair))
    (second / "stats.txt").write_text("simTicks 6 # ticks\nhostSeconds 1.43 # s\n")
    (second / "config.ini").write_text("mem_mode=atomic\nreadfile=/two/job\nreadonly=1\n")
    assert [one.name for one in reproduction.files(*pair) if not one.same] == ["engine/config.ini", "engine/stats.txt"]


def test_builds(pair: tuple[Path, Path]) -> None:
    assert {one.name: one.same for one in reproduction.builds(*pair)} == {"engine": False, "image": True, "kernel": True}


def test_the_page_names_the_files_that_may_differ() -> None:
    text = PAGE.read_text(encoding="utf-8")
    part = text[text.index("## The same run again") :].partition("\n## ")[0]
    for name in (*reproduction.OWN, *reproduction.OWN_LINES):
        assert f"`{name}`" in part, name

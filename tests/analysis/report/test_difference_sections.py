# SPDX-License-Identifier: BSD-3-Clause
"""Sections of the report with two runs beside each other: when there are some, and what they say."""

import shutil
from pathlib import Path

import pytest

from analysis.report import page
from analysis.report.content import Section
from analysis.report.difference_sections import section, sections
from analysis.report.runs import Run
from analysis.report.series import load_runs


def chosen(folders: list[Path], application: str) -> list[Run]:
    return [run for run in load_runs(folders) if run.application == application]


def figures(found: Section, table: int) -> list[list[object]]:
    return [list(row) for row in found.tables[table].values()]


def test_two_kernels_are_compared_on_the_most_cores(compared: list[Path]) -> None:
    (found,) = sections(chosen(compared, "exim"), "exim")
    assert found.about == "linux-6.1 pk beside linux-6.1 stock"
    assert "A is exim:open-close (iterations=100), 48 cores, linux-6.1 stock" in found.explanation
    assert "B does 3.00 of what A does (one trial each): 300 against 100 opens/s/core." in found.explanation
    assert figures(found, 0) == [["fixes", "none", "a+b+c"]]
    fields = figures(found, 1)
    assert fields[0][0] == "dentry.d_lockref.lock_count" or fields[0][3] == 1.0
    assert {row[-1] for row in fields} == {"as before"}


def test_of_one_kernel_or_more_than_two_there_is_none(runs: list[Path], compared: list[Path]) -> None:
    assert sections(chosen(compared, "micro"), "micro") == []
    assert sections(chosen(runs, "micro"), "micro") == []


@pytest.fixture
def machines(runs: list[Path], tmp_path: Path) -> list[Run]:
    """A run on 12 and one on 48 cores, and both on a machine with longer hops."""
    folders = list(runs[1:3])
    for folder in runs[1:3]:
        other = tmp_path / folder.name
        shutil.copytree(folder, other)
        text = (other / "point.toml").read_text()
        (other / "point.toml").write_text(text + "hop_cycles = 127\n[machine_changes]\nhop_cycles = 127\n")
        folders.append(other)
    return load_runs(folders)


def test_two_machines(machines: list[Run]) -> None:
    (found,) = sections(machines, "micro")
    assert found.anchor == "micro-diff-machine-1"
    assert ", 48 cores, " in found.explanation and "12 cores" not in found.explanation
    assert figures(found, 0) == [["machine.hop_cycles", "none", "127"]]
    assert found.about == "opteron-8431 with hop_cycles=127 beside opteron-8431"


def test_two_runs_that_were_asked_for(runs: list[Path]) -> None:
    loaded = load_runs(runs)
    one, other = (run for run in loaded if run.cores in (12, 48))
    report = page.content(loaded, diff=(one, other))
    (chapter,) = [chapter for chapter in report.chapters if chapter.anchor == "diff"]
    assert chapter.sections == (section(one, other, "diff-fields"),)
    assert figures(chapter.sections[0], 0) == [["cores", "12", "48"]]
    assert 'href="#diff-fields"' in page.html(report)

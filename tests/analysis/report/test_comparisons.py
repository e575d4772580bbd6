# SPDX-License-Identifier: BSD-3-Clause
"""Runs beside each other and beside the paper."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from analysis.report import page
from analysis.report.comparisons import ablation_labels, ablations, change, kept
from analysis.report.paper import Difference, kernel_shares, load_paper, matrix, merge, the_sixteen
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.tables import ablation_table, show


@pytest.fixture(scope="module")
def loaded(compared: list[Path]) -> list[Run]:
    return load_runs(compared)


def test_what_is_left_of_one_core(loaded: list[Run]) -> None:
    entries = {entry.series.split(",")[0]: entry for entry in kept(loaded)}
    assert set(entries) == {"linux-6.1 stock", "linux-6.1 pk"}  # the microbenchmark has no run on one core
    assert entries["linux-6.1 stock"].ratio == pytest.approx(0.25)
    assert entries["linux-6.1 pk"].ratio == pytest.approx(0.75)


def test_fixes_one_after_another(loaded: list[Run]) -> None:
    (group,) = ablations(loaded)
    assert [run.per_core for run in group] == [10, 20, 25, 50]
    assert ablation_labels(group) == ["stock", "+ b", "+ c", "+ a (pk)"]


def test_a_set_that_does_not_contain_the_one_before(loaded: list[Run]) -> None:
    (group,) = ablations(loaded)
    assert ablation_labels([group[0], group[2], group[1]]) == ["stock", "+ b, c", "b"]


def test_steps_of_an_ablation_in_a_table(loaded: list[Run]) -> None:
    (group,) = ablations(loaded)
    out = StringIO()
    show(group, Console(file=out, width=200))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.getvalue().splitlines() if line.startswith("│ ")]
    steps = {row[0]: row[1:4] for row in rows if len(row) == 5}
    assert steps["stock"] == ["10", "", ""]
    assert steps["+ b"] == ["20", "2 x", "2 x"]
    assert steps["+ c"] == ["25", "+25.0 %", "2.5 x"]
    assert steps["+ a (pk)"] == ["50", "2 x", "5 x"]


def test_trials_of_an_ablation(loaded: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (group,) = ablations(loaded)
    worse = Run(group[1].folder)
    worse.metrics["units_per_second_core"] = 5.0
    monkeypatch.setattr(group[1], "trials", (group[1], worse))
    cells = [list(column.cells) for column in ablation_table(group).columns]
    assert [column[1] for column in cells[1:4]] == ["12", "+25.0 %", "+25.0 %"]  # of the mean, 12.5
    assert [column[1] for column in cells[5:]] == ["2", "5", "20", "", "20"]
    page.write(group, tmp_path / "report.html")
    assert "the mean of up to 2 trials, whose range is the dark line across its end" in (tmp_path / "report.html").read_text()


def test_changes_in_words() -> None:
    assert [change(10, after) for after in (10, 9.5, 5, 19.9, 4, 25, 1234, 0)] == [
        "+0.0 %",
        "-5.0 %",
        "-50.0 %",
        "+99.0 %",
        "0.4 x",
        "2.5 x",
        "123 x",
        "0 x",
    ]
    assert (change(0, 1), change(0, 0)) == ("from 0", "+0.0 %")


def test_two_kernels_are_no_ablation(loaded: list[Run]) -> None:
    assert ablations([run for run in loaded if run.application == "exim"]) == []


def test_kernel_share_on_one_core(loaded: list[Run]) -> None:
    shares = kernel_shares(loaded)
    assert [(item.application.title, item.run.fix_set) for item in shares] == [("Exim", "stock"), ("Exim", "pk")]
    assert shares[0].share == pytest.approx(0.75)  # of the busy time
    assert shares[0].application.kernel_share_one_core == 0.69


def test_the_matrix_of_the_paper(loaded: list[Run]) -> None:
    assert [entry.paper for entry in the_sixteen()] == list(range(1, 17))
    column = next(column for column in matrix(loaded) if column.run.fix_set == "stock" and column.run.cores == 48)
    by_number = {cell.bottleneck.paper: cell for cell in column.cells}
    # The toy guest's hot line is a dentry's count, which figure 1 has Exim meet.
    assert by_number[2].meets and by_number[2].paper and by_number[2].agrees
    # Nothing in it is of a mount: a disagreement, and nobody knows a reason.
    assert not by_number[7].meets and by_number[7].paper and not by_number[7].agrees
    assert by_number[16].agrees  # neither
    assert {run.application for run in loaded} - {column.run.application for column in matrix(loaded)} == {"micro"}


def test_a_bottleneck_counts_where_it_is_largest(loaded: list[Run]) -> None:
    """Of two runs of an application each cell is that of the run in which it has the larger share."""
    stock = [column for column in matrix(loaded) if column.run.fix_set == "stock" and column.run.application == "exim"]
    few, many = sorted(stock, key=lambda column: column.run.cores)
    larger = [replace(cell, cycles_share=cell.cycles_share + (number == 6)) for number, cell in enumerate(few.cells)]
    (merged,) = merge(
        [replace(few, cells=tuple(larger)), replace(many, cells=(replace(many.cells[0], cycles_share=0.5), *many.cells[1:]))]
    )
    assert (merged.cells[6].cores, merged.cells[0].cores) == (1, 48)
    assert merged.cells[0].cycles_share == 0.5


def test_every_reason_is_about_a_cell_that_exists() -> None:
    paper = load_paper()
    for difference in paper.differences:
        assert difference.application in paper.applications
        assert 1 <= difference.bottleneck <= 16
        assert difference.reason.endswith(".")


def test_in_the_report(loaded: list[Run], tmp_path: Path) -> None:
    page.write(loaded, tmp_path / "report.html")
    said = (tmp_path / "report.html").read_text()
    for text in (
        "All together",
        "One fix after another",
        "+ a (pk)",
        "Kernel time on one core",
        "69.0 %",
        'class="n says meets"',
    ):
        assert text in said
    assert 'class="n says meets"' in said
    assert said.count("shares with a server") == 1  # the microbenchmark has no clients


def test_known_reasons_are_in_the_report(loaded: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = replace(load_paper(), differences=(Difference("exim", 7, "linux-6.1", "Nothing in it is of a mount."),))
    monkeypatch.setattr("analysis.report.paper.load_paper", lambda: known)
    page.write(loaded, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count("Nothing in it is of a mount.") == 1  # once, of the stock kernel

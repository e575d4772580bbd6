# SPDX-License-Identifier: BSD-3-Clause
"""Runs beside each other and beside the paper."""

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.report import page
from analysis.report.comparisons import change, comparisons, kept
from analysis.report.evidence import Figure
from analysis.report.paper import Difference, kernel_shares, load_paper, matrix, merge, the_sixteen
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.tables import overview_table


@pytest.fixture(scope="module")
def loaded(compared: list[Path]) -> list[Run]:
    return load_runs(compared)


def test_what_is_left_of_one_core(loaded: list[Run]) -> None:
    entries = {entry.series.split(",")[0]: entry for entry in kept(loaded)}
    assert set(entries) == {"linux-6.1 stock", "linux-6.1 pk"}  # the microbenchmark has no run on one core
    assert entries["linux-6.1 stock"].ratio == pytest.approx(0.25)
    assert entries["linux-6.1 pk"].ratio == pytest.approx(0.75)


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
    def times_said(*figures: Figure) -> int:
        known = replace(load_paper(), differences=(Difference("exim", 7, "linux-6.1", "Nothing in it is of a mount.", figures),))
        with monkeypatch.context() as patch:
            patch.setattr("analysis.report.paper.load_paper", lambda: known)
            page.write(loaded, tmp_path / "report.html")
        return (tmp_path / "report.html").read_text().count("Nothing in it is of a mount.")

    holds = Figure("cycles", 48, 0, 0.01, ("mount-table-lock",))
    assert times_said(holds) == 1  # of the stock kernel, not of the other
    assert times_said(holds, replace(holds, cores=12, expected=0.5)) == 1  # nothing says what it is on 12 cores
    assert times_said(holds, Figure("cycles", 48, 0.5, 0.01, ("dentry-reference-count",))) == 0
    assert times_said(replace(holds, cores=12)) == times_said() == 0


def test_series_against_series(loaded: list[Run]) -> None:
    (entry,) = comparisons([run for run in loaded if run.application == "exim"])
    assert entry.base == "linux-6.1 stock"
    assert sorted(ratio.mean for ratio in entry.ratios.values()) == [pytest.approx(1), pytest.approx(3)]
    assert not any(ratio.trials for ratio in entry.ratios.values())


def test_machine_and_kernel_are_compared_each_with_all_else_alike(loaded: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    exim = [run for run in loaded if run.application == "exim" and run.cores == 48]
    other = [Run(run.folder) for run in exim]
    for number, run in enumerate(other):
        monkeypatch.setitem(run.point["machine"], "name", "other")
        run.metrics["units_per_second_core"] *= 2
        run.folder = run.folder / f"other-{number}"  # a name of its own; its files were read
    by_thing = {entry.base: entry.ratios for entry in comparisons([*exim, *other])}
    assert set(by_thing) == {"linux-6.1 stock", "opteron-8431"}
    assert {folder: ratio.mean for folder, ratio in by_thing["opteron-8431"].items()} == {run.folder: 2 for run in other}
    assert by_thing["linux-6.1 stock"].keys() == {exim[1].folder, other[1].folder}


def test_a_ratio_has_the_range_of_its_trials(loaded: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    stock, fixed = (
        next(r for r in loaded if r.application == "exim" and r.cores == 48 and r.fix_set == s) for s in ("stock", "pk")
    )
    for run, rate in ((stock, 200.0), (fixed, 600.0)):
        again = Run(run.folder)
        again.metrics["units_per_second_core"] = rate
        monkeypatch.setattr(run, "trials", (run, again))
    ratio = comparisons([stock, fixed])[0].ratios[fixed.folder]
    assert (ratio.mean, ratio.low, ratio.high, ratio.trials) == (3, 1.5, 6, True)
    (_, row) = overview_table([stock, fixed], 160).rows_of_figures()
    assert row[5] == "3.00\n1.50 to\n6.00"

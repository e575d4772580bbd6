# SPDX-License-Identifier: BSD-3-Clause
"""Trials of one point: a mean with its range, an interval from three on, and the best only where it says so."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.report.cells import whole_heading
from analysis.report.comparisons import kept
from analysis.report.detail_tables import time_table, trials_table
from analysis.report.estimate import estimate, ratio, shift
from analysis.report.page import write
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.tables import overview_table
from analysis.report.throughput import scaling

Make = Callable[[int, int, float], Path]
_BEST = '<th scope="col" class="n">best, as the paper</th>'


@pytest.fixture
def make(runs: list[Path], tmp_path: Path) -> Make:
    """A run of a number of cores, a trial and a rate; tables are those of a toy run."""

    def run(cores: int, trial: int, rate: float) -> Path:
        folder = tmp_path / f"c{cores}-t{trial}"
        folder.mkdir()
        for path in (*runs[0].glob("*.parquet"), runs[0] / "provenance.json"):
            (folder / path.name).symlink_to(path)
        metrics = json.loads((runs[0] / "metrics.json").read_text()) | {"units_per_second_core": rate, "user": 0.1 * trial}
        (folder / "metrics.json").write_text(json.dumps(metrics))
        text = (runs[0] / "point.toml").read_text()
        (folder / "point.toml").write_text(text.replace("trial = 1", f"trial = {trial}").replace("cores = 1", f"cores = {cores}"))
        return folder

    return run


def cells(run: Run, width: float | None = None) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in (trials_table([run], width=width), overview_table([run], 160, width)):
        (row,) = table.rows_of_figures()
        headings = [whole_heading(str(column.header)) for column in table.columns]
        found |= dict(zip(headings, row, strict=True))
    return found


def test_mean_range_and_interval() -> None:
    seen = estimate([10.0, 12.0, 17.0])
    assert (seen.mean, seen.low, seen.high, seen.count) == (13.0, 10.0, 17.0, 3)
    # s = sqrt(13), standard error sqrt(13 / 3), t(0.975, 2) = 4.303
    assert seen.half_width == pytest.approx(4.303 * (13 / 3) ** 0.5)
    assert seen.width == pytest.approx(4.303 * (13 / 3) ** 0.5 / 13)


def test_two_trials_have_no_interval() -> None:
    assert estimate([10.0, 12.0]).half_width is None
    assert not estimate([10.0, 10.0]).within(0.5)
    assert estimate([10.0]).half_width is None


def test_many_trials() -> None:
    values = [9.0, 11.0] * 30
    assert estimate(values[:31]).half_width == pytest.approx(2.042 * 1.0 / 31**0.5, rel=0.02)
    assert estimate(values).half_width == pytest.approx(2.042 * (60 / 59) ** 0.5 / 60**0.5)
    assert estimate([3.0] * 5).within(0.0)
    assert estimate([0.0] * 3).within(0.0)
    assert not estimate([-1.0, 0.0, 1.0]).within(0.9)


def test_a_row_is_the_mean_of_its_trials(make: Make, tmp_path: Path) -> None:
    (run,) = load_runs([make(48, 3, 20.0), make(48, 1, 14.0), make(48, 2, 11.0)])
    assert run.trial == 1
    row = cells(run)
    assert row["opens/s/core"] == "15"
    assert row["best, as the paper"] == "20"
    assert row["range (trials)"] == "11 to\n20 (3)"
    assert row["95 % interval"] == "\N{PLUS-MINUS SIGN} 11.4"  # s = sqrt(21), 4.303 * sqrt(21 / 3) = 11.4
    assert run.means["user"] == pytest.approx(0.2)
    write([run], tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "mean of 3, ± 11" in text
    assert "11 to 20" in text
    assert _BEST in text


def test_one_trial_has_no_columns_about_trials(make: Make, tmp_path: Path) -> None:
    (run,) = load_runs([make(48, 1, 14.0)])
    assert len(overview_table([run], 160).columns) == 5
    write([run], tmp_path / "report.html")
    assert _BEST not in (tmp_path / "report.html").read_text()


def test_what_is_not_known_of_one_trial_is_not_known_of_all(make: Make) -> None:
    (run,) = load_runs([make(48, 1, 14.0), make(48, 2, 16.0)])
    run.trials[1].metrics["user"] = None
    assert time_table([run]).rows_of_figures()[0][1] == "\N{EN DASH}"


def test_a_mean_that_is_not_known_well_enough_says_so(make: Make, tmp_path: Path) -> None:
    good, bad = load_runs([*(make(1, trial, 100.0 + trial) for trial in (1, 2, 3)), *(make(48, t, 10.0 * t) for t in (1, 2, 3))])
    assert "converge" not in cells(good, 0.05)["95 % interval"]
    assert cells(bad, 0.05)["95 % interval"] == "\N{PLUS-MINUS SIGN} 24.8\ndid not\nconverge"
    assert "converge" not in cells(bad)["95 % interval"]
    write([good, bad], tmp_path / "report.html", 0.05)
    assert (tmp_path / "report.html").read_text().count("did not converge") == 1


def test_comparisons_are_of_means_and_curves_show_the_range(make: Make) -> None:
    loaded = load_runs([make(1, 1, 100.0), make(1, 2, 300.0), make(48, 1, 50.0), make(48, 2, 50.0)])
    (entry,) = kept(loaded)
    assert entry.ratio == pytest.approx(0.25)
    one = load_runs([loaded[0].folder, loaded[1].folder])
    with_range, without = (scaling(group, "f").figures[0].draw().count("LineCollection") for group in (loaded, one))
    assert with_range > without == 0


def test_two_means_apart_by_students_t_of_the_pooled_spread() -> None:
    found = shift((12, 14, 16), (10, 11, 12, 13))
    assert found.share == pytest.approx(2.5 / 11.5)
    # 13 / 5 of variance, over three and four values; t of five degrees of freedom.
    assert found.half_width == pytest.approx(2.571 * math.sqrt(2.6 * 7 / 12) / 11.5)
    assert found.least == 0
    assert shift((12, 14, 16), (6, 7, 8, 9)).least == pytest.approx(6.5 / 7.5 - 2.571 * math.sqrt(2.6 * 7 / 12) / 7.5)


@pytest.mark.parametrize(("values", "base"), [((), (1, 2, 3, 4)), ((1,), (1, 2)), ((1, 2), (0, 0))])
def test_too_few_values_say_nothing_of_two_means(values: tuple[float, ...], base: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"too few|that is 0"):
        shift(values, base)


def test_a_ratio_of_sums_and_how_sure_it_is() -> None:
    seen = ratio([10.0, 20.0, 36.0], [1.0, 2.0, 3.0])
    assert seen.mean == 11.0
    assert (seen.low, seen.high, seen.count) == (10.0, 12.0, 3)
    # Residuals -1, -2, 3: their squares are 14; of three samples with a mean of 2 units of work.
    assert seen.half_width == pytest.approx(4.303 * math.sqrt(14 / 6) / 2)


def test_a_sample_without_work_counts_with_what_it_spent() -> None:
    seen = ratio([10.0, 10.0, 10.0], [0.0, 1.0, 1.0])
    assert (seen.mean, seen.low, seen.high) == (15.0, 10.0, 10.0)
    with pytest.raises(ValueError, match="no work"):
        ratio([1.0], [0.0])

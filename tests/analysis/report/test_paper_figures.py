# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figures: what the file may say, what is drawn of runs. The runs are made up."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from analysis.report import paper_figures
from analysis.report.claims import Selection
from analysis.report.paper_figures import PaperFigures
from analysis.report.runs import Run
from common.outcome import Failure

_GOOD = """
cores = [1, 24, 48]
[[figure]]
number = 4
title = "Exim"
says = "It falls."
breakdown = true
curve = [
    { label = "Stock", workload = "exim", kernel = "stock" },
    { label = "PK", workload = "exim", kernel = "pk", cores = [1, 48] },
]
[[summary]]
application = "Exim"
figure = 4
before = "Stock"
after = "PK"
"""


def read(folder: Path, text: str = _GOOD) -> PaperFigures:
    path = folder / "figures.toml"
    path.write_text(text, encoding="utf-8")
    return paper_figures.load(path)


def run(cores: int, per_core: float) -> Run:
    """As much of a run as figures look at: a quarter of the time is the kernel's, half the user's."""
    shares = {"user": 0.5, "system": 0.25, "idle": 0.25}
    return cast(Run, SimpleNamespace(cores=cores, unit="messages", throughput=SimpleNamespace(mean=per_core), part=shares.get))


def test_those_of_the_project_are_the_papers() -> None:
    found = paper_figures.load()
    assert [figure.number for figure in found.figures] == [4, 5, 6, 7, 8, 9, 10, 11]
    assert len(found.summaries) == 7
    assert all(1 in one.cores and 48 in one.cores for figure in found.figures for one in figure.selections)


def test_a_chapter_of_what_runs_there_are(tmp_path: Path) -> None:
    known = read(tmp_path)
    stock, pk = (Selection("exim", kernel, cores) for kernel, cores in (("stock", (1, 24, 48)), ("pk", (1, 48))))
    runs = {(stock, 1): run(1, 250.0), (stock, 48): run(48, 50.0), (pk, 1): run(1, 200.0), (pk, 48): run(48, 150.0)}
    chapter = paper_figures.chapter(known, runs)
    assert chapter is not None
    summary, exim = chapter.sections
    assert summary.tables[0].rows == [("Exim", 0.2, 0.75)]
    assert "0.75" in summary.figures[0].draw()
    assert exim.title == "Figure 4: Exim"
    assert exim.explanation == "The paper: It falls."
    assert exim.tables[0].rows[1] == ("Stock", 48, 50.0, 0.2, 10_000.0, 5_000.0, 0.25)
    throughput, breakdown = (figure.draw() for figure in exim.figures)
    assert "messages per second and core" in throughput
    assert "PK, system" in breakdown


def test_what_figure_3_needs_in_a_first_half_hour(tmp_path: Path) -> None:
    (both,) = read(tmp_path).summaries
    assert both.quick_ends == (Selection("exim", "stock", (1, 48)), Selection("exim", "pk", (1, 48)))
    (one,) = read(tmp_path, _GOOD + 'quick = ["after"]').summaries
    assert one.quick_ends == (Selection("exim", "pk", (1, 48)),)


def test_a_bar_that_is_not_there_is_not_in_the_legend(tmp_path: Path) -> None:
    known = read(tmp_path)
    stock, _ = known.figures[0].selections
    chapter = paper_figures.chapter(known, {(stock, 1): run(1, 250.0), (stock, 48): run(48, 50.0)})
    assert chapter is not None
    drawn = chapter.sections[0].figures[0].draw()
    assert "stock" in drawn and "with the authors" not in drawn


def test_a_single_point_is_no_curve(tmp_path: Path) -> None:
    known = read(tmp_path)
    (stock, _) = known.figures[0].selections
    assert paper_figures.chapter(known, {(stock, 48): run(48, 50.0)}) is None
    without_one_core = paper_figures.chapter(known, {(stock, 24): run(24, 50.0), (stock, 48): run(48, 50.0)})
    assert without_one_core is not None
    assert [section.title for section in without_one_core.sections] == ["Figure 4: Exim"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Exim"', "", "figure 4 has no title"),
        ("breakdown = true", "colour = 3", "figure 4 has colour, which means nothing there"),
        ('label = "PK", ', "", "figure 4 has a curve without a label"),
        ('kernel = "pk"', 'fixes = "pk"', "figure 4 has a curve with fixes, which means nothing there"),
        ('before = "Stock"', 'before = "Stack"', "figure 3, Exim, names the curve 'Stack' of figure 4, which is not there"),
        ('after = "PK"', 'after = "PK"\nquick = ["PK"]', "figure 3, Exim, has quick = ['PK'], which are none of before, after"),
        ('after = "PK"', 'after = "PK"\nslow = ["after"]', "figure 3, Exim, has slow, which means nothing there"),
        ("cores = [1, 24, 48]", "", "figure 4 has runs without a number of cores"),
        ("breakdown = true", "paper_cores = [1, 0]", "figure 4 has runs without a number of cores"),
        ("[[figure]]", "[[figure]", "cannot be read"),
    ],
)
def test_what_the_file_may_not_say(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(Failure, match=r"figures\.toml") as failure:
        read(tmp_path, _GOOD.replace(old, new, 1))
    assert said in str(failure.value)

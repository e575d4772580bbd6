# SPDX-License-Identifier: BSD-3-Clause
"""Which points the paper's claims and figures need, at each size."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from analysis.report import claims as data
from analysis.report import paper_figures
from analysis.report.claims import Claim, Selection
from analysis.report.paper_figures import PaperFigures
from common.once import reading_once
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec import workload
from harness.spec.point import Point

QUICK = "quick"
PAPER = "paper"
SIZES = (QUICK, "default", PAPER)
"""Quick: claims for a first look, and the paper's figure 3; default: all, and the runs of all figures; paper: the same, with
applications at their size of that name."""


def at_size(runs: Selection, size: str | None) -> Selection:
    """These runs at a size. Of `PAPER` each workload that has such a size; micro benchmarks stay as they are."""
    if size != PAPER:
        return runs
    text = workload.at_size(runs.workload, PAPER, dict(runs.at_paper))
    return replace(runs, workload=text, cores=runs.cores_at_paper or runs.cores, at_paper=(), cores_at_paper=())


def of_size(claims: Sequence[Claim], size: str | None) -> list[Claim]:
    """Those of ``claims`` that are of a size."""
    return [claim for claim in claims if claim.quick or size != QUICK]


def figure_runs(figures: PaperFigures, size: str | None) -> list[Selection]:
    """What is run at a size for the paper's figures: all, or for a first look what figure 3 shows then."""
    if size == QUICK:
        return [one for summary in figures.summaries for one in summary.quick_ends]
    return [one for figure in figures.figures for one in figure.selections]


def points_of(selections: Iterable[Selection], source: str) -> Mapping[tuple[Selection, int], Point]:
    """The point of each number of cores of these selections.

    Raises:
        Failure: bad-input, for a selection that is no point.
    """
    with reading_once():
        return {
            (selection, cores): points.resolve(one)
            for selection in selections
            for cores, one in zip(selection.cores, selection.points(source), strict=True)
        }


def each_once(wanted: Mapping[tuple[Selection, int], Point]) -> list[Point]:
    """The points of several selections, without those that are the same."""
    return list({point.id: point for point in wanted.values()}.values())


def all_of(size: str) -> list[Point]:
    """All points of `claims --size`, on the paper's kernel."""
    chosen = of_size(data.load(), size)
    selections = [one for claim in chosen for one in claim.selections] + figure_runs(paper_figures.load(), size)
    return each_once(points_of((at_size(one, size) for one in selections), kernels.paper_source()))

# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figures 3 to 11 as data (analysis/paper-figures.toml), drawn from the runs that there are."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from analysis.report import figures
from analysis.report.claims import Selection, selection
from analysis.report.content import Chapter, Column, Figure, Section, Table
from analysis.report.runs import Run
from analysis.report.words import number, rate, singular
from common.outcome import Failure, bad_input

DATA = Path(__file__).parents[1] / "paper-figures.toml"
_PARTS = ("user", "system")
_FIGURE_KEYS = {"number", "title", "says", "breakdown", "cores", "paper_cores", "order", "curve"}
_CURVE_KEYS = {"label", "workload", "kernel", "cores", "paper_cores", "order", "set", "paper"}
_SUMMARY_KEYS = {"application", "figure", "before", "after", "quick"}
_SIDES = ("before", "after")

Runs = Mapping[tuple[Selection, int], Run]
"""Runs by what they are of and their number of cores."""


@dataclass(frozen=True)
class PaperCurve:
    """One curve of a figure: ``label`` as in the paper, and its runs."""

    label: str
    of: Selection

    def seen(self, runs: Runs) -> list[Run]:
        """Those of its runs that there are, by their number of cores."""
        return [runs[self.of, cores] for cores in self.of.cores if (self.of, cores) in runs]

    def changed(self, change: Callable[[Selection], Selection]) -> "PaperCurve":
        """The curve of other runs."""
        return replace(self, of=change(self.of))


@dataclass(frozen=True)
class PaperFigure:
    """One figure. ``breakdown``: it also shows the user and the kernel time for a unit of work."""

    number: int
    title: str
    says: str
    """What is to be seen in the paper's figure."""
    breakdown: bool
    curves: tuple[PaperCurve, ...]

    @property
    def name(self) -> str:
        """As the command line knows it: ``figure-4``."""
        return f"figure-{self.number}"

    @property
    def selections(self) -> tuple[Selection, ...]:
        return tuple(curve.of for curve in self.curves)


@dataclass(frozen=True)
class Summary:
    """A pair of bars of figure 3: the curves before and after the authors' changes."""

    application: str
    before: PaperCurve
    after: PaperCurve
    quick: tuple[str, ...] = _SIDES
    """Those of the two that a first look has room for."""

    @property
    def quick_ends(self) -> tuple[Selection, ...]:
        """What the bars for a first look are of: the runs of their curves on the fewest and the most cores."""
        curves = (getattr(self, side) for side in self.quick)
        return tuple(replace(curve.of, cores=(min(curve.of.cores), max(curve.of.cores))) for curve in curves)


@dataclass(frozen=True)
class PaperFigures:
    """All figures that have curves, and what figure 3 draws of them."""

    figures: tuple[PaperFigure, ...]
    summaries: tuple[Summary, ...]

    def changed(self, change: Callable[[Selection], Selection]) -> "PaperFigures":
        """The figures of other runs."""
        figures = (replace(one, curves=tuple(curve.changed(change) for curve in one.curves)) for one in self.figures)
        summaries = (replace(one, before=one.before.changed(change), after=one.after.changed(change)) for one in self.summaries)
        return PaperFigures(tuple(figures), tuple(summaries))


def load(path: Path = DATA) -> PaperFigures:
    """All figures, in the order of the file.

    Raises:
        Failure: bad-input, naming the figure and what is wrong with it.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise bad_input(f"{path} cannot be read ({error}).", "Correct it.") from None
    found = [_figure(path, {"cores": data.get("cores"), **entry}) for entry in data.get("figure", [])]
    return PaperFigures(tuple(found), tuple(_summary(path, entry, found) for entry in data.get("summary", [])))


def _wrong(path: Path, what: object) -> Callable[[str], Failure]:
    cure = "The comment at the top of the file says what it has."
    return lambda why: bad_input(f"{path}: figure {what} {why}.", cure)


def _figure(path: Path, entry: Mapping[str, Any]) -> PaperFigure:
    wrong = _wrong(path, entry.get("number", "without a number"))
    if unknown := sorted(entry.keys() - _FIGURE_KEYS):
        raise wrong(f"has {', '.join(unknown)}, which means nothing there")
    if missing := [key for key in ("number", "title", "says", "curve") if not entry.get(key)]:
        raise wrong(f"has no {missing[0]}")
    shared = {key: entry[key] for key in ("cores", "paper_cores", "order") if entry.get(key)}
    curves = tuple(_curve({**shared, **one}, wrong) for one in entry["curve"])
    return PaperFigure(int(entry["number"]), str(entry["title"]), str(entry["says"]), bool(entry.get("breakdown")), curves)


def _curve(entry: Mapping[str, Any], wrong: Callable[[str], Failure]) -> PaperCurve:
    if unknown := sorted(entry.keys() - _CURVE_KEYS):
        raise wrong(f"has a curve with {', '.join(unknown)}, which means nothing there")
    if not entry.get("label"):
        raise wrong("has a curve without a label")
    return PaperCurve(str(entry["label"]), selection(entry, wrong))


def _summary(path: Path, entry: Mapping[str, Any], known: Sequence[PaperFigure]) -> Summary:
    wrong = _wrong(path, f"3, {entry.get('application', 'a bar without an application')},")
    curves = {curve.label: curve for figure in known if figure.number == entry.get("figure") for curve in figure.curves}
    if unknown := sorted(entry.keys() - _SUMMARY_KEYS):
        raise wrong(f"has {', '.join(unknown)}, which means nothing there")
    for key in _SIDES:
        if entry.get(key) not in curves:
            raise wrong(f"names the curve {entry.get(key)!r} of figure {entry.get('figure')}, which is not there")
    quick = tuple(entry.get("quick", _SIDES))
    if not set(quick) <= set(_SIDES):
        raise wrong(f"has quick = {list(quick)}, which are none of {', '.join(_SIDES)}")
    return Summary(str(entry["application"]), curves[entry["before"]], curves[entry["after"]], quick)


def chapter(known: PaperFigures, runs: Runs) -> Chapter | None:
    """What these runs draw of the paper's figures; None where they have no curve of two points."""
    drawn = [section for figure in known.figures if (section := _section(figure, runs)) is not None]
    if not drawn:
        return None
    summary = _summary_section(known.summaries, runs)
    lead = (
        "The paper's figures, drawn from these runs: the same axes and the same curves. Above each stands what is to be seen in "
        "the paper's. Figures 1 and 12 are tables of bottlenecks, further down; figure 2 draws a data structure."
    )
    return Chapter("The paper's figures", "paper-figures", (lead,), (*([summary] if summary else []), *drawn))


def _section(figure: PaperFigure, runs: Runs) -> Section | None:
    curves = [(curve.label, seen) for curve in figure.curves if len(seen := curve.seen(runs)) > 1]
    if not curves:
        return None
    unit = curves[0][1][0].unit
    table = _table(figure, unit, curves)
    drawn = [Figure(f"paper-{figure.name}", "Throughput per core", partial(_throughput, curves, unit), table)]
    if figure.breakdown and all(run.part(part) is not None for _, seen in curves for run in seen for part in _PARTS):
        drawn.append(Figure(f"paper-{figure.name}-time", "Core time per unit of work", partial(_breakdown, curves, unit), table))
    title = f"Figure {figure.number}: {figure.title}"
    return Section(title, f"paper-{figure.name}-section", f"The paper: {figure.says}", tuple(drawn), (table,))


def _microseconds(run: Run, part: str) -> float | None:
    share = run.part(part)
    return None if share is None or not run.throughput.mean else 1e6 * share / run.throughput.mean


def _table(figure: PaperFigure, unit: str, curves: Sequence[tuple[str, Sequence[Run]]]) -> Table:
    rows = [
        (
            label,
            run.cores,
            run.throughput.mean,
            run.throughput.mean / seen[0].throughput.mean if seen[0].throughput.mean else None,
            *(_microseconds(run, part) for part in _PARTS),
            run.part("idle"),
        )
        for label, seen in curves
        for run in seen
    ]
    columns = (
        Column("curve", row_header=True, filter=True),
        Column("cores", "count", number),
        Column(f"{unit} per second and core", f"{unit} per second and core", number),
        Column("of the fewest cores", "fraction", "{:.2f}".format),
        *(Column(f"{part} time, µs", "µs per unit", rate) for part in _PARTS),
        Column("idle", "fraction", "{:.1%}".format),
    )
    return Table(id=f"paper-{figure.name}-table", title=f"Figure {figure.number}: {figure.title}", columns=columns, rows=rows)


def _throughput(curves: Sequence[tuple[str, Sequence[Run]]], unit: str) -> str:
    found = [
        figures.Curve(label, [(run.cores, run.throughput.mean) for run in seen], (), place, place)
        for place, (label, seen) in enumerate(curves)
    ]
    return figures.curves(found, across="cores", along=f"{unit} per second and core")


def _breakdown(curves: Sequence[tuple[str, Sequence[Run]]], unit: str) -> str:
    found = [
        figures.Curve(f"{label}, {part}", [(run.cores, _microseconds(run, part) or 0.0) for run in seen], (), place, dashes)
        for place, (label, seen) in enumerate(curves)
        for dashes, part in enumerate(_PARTS)
    ]
    return figures.curves(found, across="cores", along=f"µs of core time per {singular(unit)}")


def _left(curve: PaperCurve, runs: Runs) -> float | None:
    """A core's throughput on the most cores, of that on one."""
    seen = curve.seen(runs)
    if len(seen) < 2 or seen[0].cores != 1 or seen[-1].cores != max(curve.of.cores) or not seen[0].throughput.mean:
        return None
    return seen[-1].throughput.mean / seen[0].throughput.mean


def _summary_section(summaries: Sequence[Summary], runs: Runs) -> Section | None:
    found = [(one.application, _left(one.before, runs), _left(one.after, runs)) for one in summaries]
    found = [row for row in found if row[1] is not None or row[2] is not None]
    if not found:
        return None
    columns = (
        Column("application", row_header=True),
        Column("stock", "fraction", "{:.2f}".format),
        Column("with the authors' changes", "fraction", "{:.2f}".format),
    )
    table = Table(
        id="paper-figure-3-table", title="Figure 3: throughput of a core of 48, of one alone", columns=columns, rows=found
    )
    drawn = Figure("paper-figure-3", "Throughput of a core of 48, of one alone", partial(_summary_bars, found), table)
    says = (
        "The paper: six of the seven scale badly on stock, and most do significantly better with the authors' changes. None "
        "scales perfectly, which would be a bar of 1."
    )
    return Section("Figure 3: all seven", "paper-figure-3-section", says, (drawn,), (table,))


def _summary_bars(found: Sequence[tuple[str, float | None, float | None]]) -> str:
    sides = {"stock": [row[1] for row in found], "with the authors' changes": [row[2] for row in found]}
    groups = [
        figures.Bars(label, lengths, ["" if length is None else f"{length:.2f}" for length in lengths])
        for label, lengths in sides.items()
    ]
    return figures.bars([row[0] for row in found], groups, along="throughput of a core, of one core alone", mark=1)

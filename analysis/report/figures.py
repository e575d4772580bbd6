# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the report as SVG text to put into a page: no fonts, scripts or files from outside."""

import io
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.report.comparisons import Kept, ablation_labels, change
from analysis.report.runs import Run
from analysis.report.series import by_series

_COLOURS = ["#1b5e8c", "#c2571a", "#2f7d4f", "#7b4ea3", "#8a6d1d", "#a3324e"]
_PARTS = {"user": "#2f7d4f", "system": "#c2571a", "idle": "#b8bcc2"}
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and takes the page's font
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555",
    "axes.labelcolor": "#333",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": "#333",
    "ytick.color": "#333",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e3e5e8",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}


def scaling(runs: Sequence[Run], name: str) -> str:
    """Per-core throughput against cores, one curve per series, and beside it the time a unit of work costs, split.

    The paper's style: a flat curve is perfect scaling. ``name`` makes the identifiers in the SVG unique within a page.
    """
    series = by_series(runs)
    split = all(run.part(part) is not None for run in runs for part in _PARTS)
    with mpl.rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(9.2, 3.4) if split else (6.2, 3.4), layout="constrained")
        panels = figure.subplots(1, 2 if split else 1, squeeze=False)[0]
        _throughput(panels[0], series)
        if split:
            _time_per_unit(panels[1], series)
        return _inline(_svg(figure), name, f"Per-core throughput against cores, {runs[0].workload}")


def summary(entries: Sequence[Kept], name: str) -> str:
    """The paper's summary figure: per workload, throughput per core on the most cores relative to one core, a bar per series."""
    workloads = list(dict.fromkeys(entry.workload for entry in entries))
    series = list(dict.fromkeys(entry.series for entry in entries))
    width = 0.8 / len(series)
    with mpl.rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(max(6.2, 1.25 * len(workloads) * max(1.0, len(series) / 2)), 3.4), layout="constrained")
        axes = figure.subplots()
        for number, title in enumerate(series):
            mine = [entry for entry in entries if entry.series == title]
            places = [workloads.index(entry.workload) + (number - (len(series) - 1) / 2) * width for entry in mine]
            bars = axes.bar(
                places, [entry.ratio for entry in mine], width * 0.94, color=_COLOURS[number % len(_COLOURS)], label=title
            )
            axes.bar_label(bars, [f"{entry.ratio:.2f}" for entry in mine], fontsize=7.5, padding=1.5)
        axes.axhline(1, color="#888", linewidth=0.8, linestyle=":")
        axes.set_axisbelow(True)
        axes.set_xticks(range(len(workloads)), [re.sub("[: ]", r"\g<0>\n", text) for text in workloads], fontsize=8.5)
        axes.set_title("Throughput per core on the most cores, relative to one core")
        axes.set_ylim(bottom=0)
        axes.margins(y=0.12)
        if len(series) > 1:
            figure.legend(loc="outside lower left", ncols=2, fontsize=8.5)  # inside it would cover bars
        return _inline(_svg(figure), name, "Throughput per core on the most cores relative to one core")


def ablation(group: Sequence[Run], name: str) -> str:
    """Throughput per core, and cross-socket transfers per unit of work, of runs that differ only in their kernel's fixes.

    The steps of a chain may differ a hundred times, so each bar says in words what it is of the one above.
    """
    labels = ablation_labels(group)
    rates = [run.over_trials(lambda trial: trial.transfers_per_unit) for run in group]
    with mpl.rc_context(_STYLE | {"svg.hashsalt": name, "axes.grid.axis": "x"}):
        figure = Figure(figsize=(9.2, 1.1 + 0.27 * len(group)), layout="constrained")
        known = all(rate is not None for rate in rates)
        panels = figure.subplots(1, 2 if known else 1, squeeze=False, sharey=True)[0]
        columns = [(f"{group[0].unit} per second and core", [run.throughput.mean for run in group], _COLOURS[0])]
        if known:
            columns.append(
                (f"cross-socket transfers per {_singular(group[0].unit)}", [rate or 0.0 for rate in rates], _COLOURS[1])
            )
        for axes, (title, amounts, colour) in zip(panels, columns, strict=True):
            bars = axes.barh(range(len(group)), amounts, 0.72, color=colour)
            steps = [None, *amounts[:-1]]
            texts = [f"{_amount(amount)}{_step(before, amount)}" for before, amount in zip(steps, amounts, strict=True)]
            axes.bar_label(bars, texts, fontsize=8, padding=2)
            axes.set_title(title)
            axes.margins(x=0.34)  # room for the text of the longest bar
            axes.set_axisbelow(True)
            axes.set_xlim(left=0)
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        several = [(place, run.throughput) for place, run in enumerate(group) if len(run.trials) > 1]
        ends = ([seen.low for _, seen in several], [seen.high for _, seen in several])
        panels[0].hlines([place for place, _ in several], *ends, color="#1c1e21")
        panels[0].set_yticks(range(len(group)), labels)
        panels[0].invert_yaxis()
        return _inline(_svg(figure), name, f"Fixes added one at a time, {group[0].workload}")


def _amount(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"


def _step(before: float | None, amount: float) -> str:
    """What a bar is of the one above it, in brackets; nothing for the first."""
    return f"  ({change(before, amount)})" if before is not None else ""


def _singular(unit: str) -> str:
    return unit.removesuffix("s")


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return buffer.getvalue()


def _throughput(axes: Axes, series: dict[str, list[Run]]) -> None:
    for number, (title, runs) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        cores, seen = [run.cores for run in runs], [run.throughput for run in runs]
        axes.plot(cores, [one.mean for one in seen], marker="o", color=colour, label=title, clip_on=False)
        below, above = [one.mean - one.low for one in seen], [one.high - one.mean for one in seen]
        if any(one.count > 1 for one in seen):
            axes.errorbar(cores, [one.mean for one in seen], [below, above], fmt="none", ecolor=colour, capsize=3)
    unit = next(iter(series.values()))[0].unit
    axes.set_title(f"Throughput per core ({unit} per second)")
    _cores_axis(axes, [run.cores for runs in series.values() for run in runs])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:g}"))
    if len(series) > 1:
        axes.legend(fontsize=8.5)


def _cores_axis(axes: Axes, cores: Sequence[int]) -> None:
    axes.set_xlabel("cores")
    most = max(cores)
    axes.set_xlim(0, most * 1.02)
    distinct = sorted(set(cores))
    if len(distinct) <= 9:
        # Neighbours closer than a twentieth of the axis would print over each other.
        shown = [distinct[0]] if distinct else []
        for core in distinct[1:]:
            if core - shown[-1] >= most / 20:
                shown.append(core)
        axes.set_xticks(shown)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _time_per_unit(axes: Axes, series: dict[str, list[Run]]) -> None:
    """Core time per unit of work: user, system, idle; a style of line per series."""
    for number, (title, runs) in enumerate(series.items()):
        style = ("-", "--", ":", "-.")[number % 4]
        for part, colour in _PARTS.items():
            share = partial(Run.part, what=part)
            points = [
                (run.cores, 1e6 * (run.over_trials(share) or 0.0) / run.throughput.mean) for run in runs if run.throughput.mean
            ]
            label = part if number == 0 else None
            axes.plot(*zip(*points, strict=True), marker="o", color=colour, linestyle=style, label=label, clip_on=False)
        if len(series) > 1:
            axes.plot([], [], color="#333", linestyle=style, label=title)
    _cores_axis(axes, [run.cores for runs in series.values() for run in runs])
    axes.set_title("Core time per unit of work (µs)")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.legend(fontsize=8.5)


def _inline(svg: str, name: str, title: str) -> str:
    """An SVG file as an element of a page: prologue and metadata gone, identifiers made unique, size up to the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r'\sxmlns:xlink="[^"]+"', "", svg)
    width = re.search(r'width="([\d.]+)pt"', svg)
    points = float(width[1]) if width else 600.0
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(
        r'(<svg[^>]*?) width="[^"]*"', rf'\1 style="width:100%;max-width:{points * 4 / 3:.0f}px;height:auto"', svg, count=1
    )
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)

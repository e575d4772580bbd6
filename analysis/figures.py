# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the report as SVG text to put into a page: no fonts, scripts or files from outside."""

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.runs import Run

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
    series: dict[str, list[Run]] = {}
    for run in runs:
        series.setdefault(run.series + (f" ({run.parameters})" if _differ(runs) else ""), []).append(run)
    split = all(run.part(part) is not None for run in runs for part in _PARTS)
    with mpl.rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(9.2, 3.4) if split else (6.2, 3.4), layout="constrained")
        panels = figure.subplots(1, 2 if split else 1, squeeze=False)[0]
        _throughput(panels[0], series)
        if split:
            _time_per_unit(panels[1], series)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _inline(buffer.getvalue(), name, f"Per-core throughput against cores, {runs[0].workload}")


def _differ(runs: Sequence[Run]) -> bool:
    return len({run.parameters for run in runs}) > 1


def _throughput(axes: Axes, series: dict[str, list[Run]]) -> None:
    for number, (title, runs) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        axes.plot([r.cores for r in runs], [r.per_core for r in runs], marker="o", color=colour, label=title, clip_on=False)
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
    for number, runs in enumerate(series.values()):
        style = ("-", "--", ":", "-.")[number % 4]
        for part, colour in _PARTS.items():
            points = [(run.cores, 1e6 * (run.part(part) or 0.0) / run.per_core) for run in runs if run.per_core]
            label = part if number == 0 else None
            axes.plot(*zip(*points, strict=True), marker="o", color=colour, linestyle=style, label=label, clip_on=False)
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

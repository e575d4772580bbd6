# SPDX-License-Identifier: BSD-3-Clause
"""Figures as SVG text: curves, bars and stacked bars of plain numbers; no fonts, scripts or files from outside.

All are as wide as half a page, so that they stand side by side on a wide one and can be read on a telephone. What differs in
colour differs in its marker, line or hatch too, and every mark has 3:1 contrast or an edge that has, so that a figure holds in
greyscale and for the colour-blind.
"""

import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import matplotlib as mpl
from markupsafe import escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

INK = "#1c1e21"
COLOURS = ("#0072b2", "#b34700", "#00795a", "#1c1e21", "#a03a78", "#7a6200")
"""Of curves and bars: Okabe and Ito's, which the colour-blind tell apart, darkened to 4.5:1 on white."""
FILLS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d0d3d8",
    "#56b4e9",
    "#d55e00",
    "#f0e442",
    "#cc79a7",
    "#ffffff",
    "#9a8cc8",
    "#8c6d46",
    "#b9d9a0",
)
"""Of stacked bars: Okabe and Ito's, and four more; each has an edge, and a hatch of its own."""
HATCHES = ("", "////", "\\\\\\\\", "----", "xxxx", "||||", "++++", "//", "\\\\", "--", "xx", "||")
"""Of lines only: matplotlib writes a circle or dot of a hatch as thousands of bytes, for each bar."""
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")

_WIDTH, _HEIGHT = 5.2, 3.3  # inches
_LEGEND_CHARACTERS = 66  # of a line of a legend
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and takes the page's font
    "svg.hashsalt": "mosbench-gem5",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555",
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#e3e5e8",
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 3.4,  # room for two dashes
    "hatch.linewidth": 0.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
}


@dataclass(frozen=True)
class Curve:
    """Points (x, y), and the range that each y is the mean of, or nothing; ``colour`` and ``dashes`` are numbers of a style."""

    label: str
    points: Sequence[tuple[float, float]]
    ranges: Sequence[tuple[float, float]] = ()
    colour: int = 0
    dashes: int = 0


def curves(found: Sequence[Curve], *, across: str, along: str) -> str:
    """Curves over a number of cores (or of something else that is counted); the axes' titles are ``across`` and ``along``."""

    def draw(axes: Axes) -> None:
        for one in found:
            xs, ys = zip(*one.points, strict=True)
            colour = COLOURS[one.colour % len(COLOURS)]
            marker, line = _MARKERS[one.colour % len(_MARKERS)], _DASHES[one.dashes % len(_DASHES)]
            axes.plot(xs, ys, marker=marker, linestyle=line, color=colour, label=_wrapped(one.label), clip_on=False)
            if one.ranges:
                below = [y - low for y, (low, _) in zip(ys, one.ranges, strict=True)]
                above = [high - y for y, (_, high) in zip(ys, one.ranges, strict=True)]
                axes.errorbar(xs, ys, [below, above], fmt="none", ecolor=colour, capsize=3)
        _counted_axis(axes, [x for one in found for x, _ in one.points])
        axes.set_xlabel(across)
        axes.set_ylabel(along)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(_tick))

    return _svg(draw, _HEIGHT, legend=[one.label for one in found] if len(found) > 1 else ())


@dataclass(frozen=True)
class Bars:
    """One bar for each label of a figure; ``texts`` stand at their ends; a range is drawn across an end."""

    label: str
    lengths: Sequence[float | None]
    texts: Sequence[str]
    ranges: Sequence[tuple[float, float] | None] = ()


def bars(labels: Sequence[str], groups: Sequence[Bars], *, along: str, mark: float | None = None, colour: int = 0) -> str:
    """Horizontal bars: for each of ``labels`` one of each group, the first on top; ``mark`` is a dotted line at that length."""

    def draw(axes: Axes) -> None:
        thick = 0.8 / len(groups)
        for number, group in enumerate(groups):
            there = [place for place, length in enumerate(group.lengths) if length is not None]
            if not there:
                continue
            places = [place + (number - (len(groups) - 1) / 2) * thick for place in there]
            axes.barh(
                places,
                [group.lengths[place] or 0.0 for place in there],
                thick * 0.92,
                color=FILLS[number % len(FILLS)] if len(groups) > 1 else COLOURS[colour],
                hatch=HATCHES[number % len(HATCHES)] if len(groups) > 1 else "",
                edgecolor=INK,
                linewidth=0.6,
                label=_wrapped(group.label),
            )
            for at, place in zip(places, there, strict=True):
                end, span = group.lengths[place] or 0.0, group.ranges[place] if group.ranges else None
                if span is not None:
                    axes.hlines([at], *span, color=INK, linewidth=2.4)
                    end = max(end, span[1])
                axes.annotate(
                    group.texts[place],
                    (end, at),
                    (3, 0),
                    textcoords="offset points",
                    verticalalignment="center",
                    fontsize=8,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                )
        if mark is not None:
            axes.axvline(mark, color="#666", linewidth=1, linestyle=":")
        axes.set_yticks(range(len(labels)), [_wrapped(label, 30) for label in labels], fontsize=8.5)
        axes.invert_yaxis()
        axes.set_xlabel(along)
        axes.margins(x=0.3)  # room for the text of the longest bar
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(_tick))
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.grid(axis="x", visible=True)

    height = 0.9 + max(0.3, 0.17 * len(groups) + 0.1) * len(labels)
    shown = [group.label for group in groups if any(length is not None for length in group.lengths)]
    return _svg(draw, height, legend=shown if len(groups) > 1 else ())


def stacked_bars(parts: Mapping[str, Sequence[float]], labels: Sequence[str], *, across: str, along: str) -> str:
    """One upright bar for each of ``labels``, made of ``parts`` from the bottom up: name -> a length for each label.

    A part keeps its colour and hatch by its place, so that figures with the same parts look alike.
    """

    def draw(axes: Axes) -> None:
        bottom = [0.0] * len(labels)
        for number, (name, lengths) in enumerate(parts.items()):
            axes.bar(
                range(len(labels)),
                lengths,
                0.72,
                bottom,
                color=FILLS[number % len(FILLS)],
                hatch=HATCHES[number % len(HATCHES)],
                edgecolor=INK,
                linewidth=0.6,
                label=_wrapped(name),
            )
            bottom = [low + length for low, length in zip(bottom, lengths, strict=True)]
        axes.set_xticks(range(len(labels)), labels)
        axes.set_xlabel(across)
        axes.set_ylabel(along)
        axes.yaxis.set_major_formatter(FuncFormatter(_tick))
        axes.tick_params(axis="x", length=0)

    return _svg(draw, _HEIGHT, legend=list(parts), beside=True)


def inline(svg: str, name: str, title: str) -> str:
    """An SVG file as an element of a page: prologue gone, identifiers made unique by ``name``, size up to the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r'\sxmlns:xlink="[^"]+"', "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)


def _svg(draw: Callable[[Axes], None], height: float, *, legend: Sequence[str], beside: bool = False) -> str:
    """The text of an SVG file; ``legend`` has the entries of a legend, right of the axes if ``beside``, else below."""
    with mpl.rc_context(_STYLE):
        columns = 4 if max(map(len, legend), default=0) <= 12 else 1
        extra = 0.0 if beside else 0.19 * math.ceil(len(legend) / columns)
        figure = Figure(figsize=(_WIDTH, height + extra), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        if legend:
            handles, labels = axes.get_legend_handles_labels()
            if beside:  # the topmost part of a bar comes first
                figure.legend(handles[::-1], labels[::-1], loc="outside right upper")
            else:
                figure.legend(handles, labels, loc="outside lower left", ncols=columns)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return re.sub(r"\s*<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)


def _wrapped(text: str, characters: int = _LEGEND_CHARACTERS) -> str:
    return fill(text, characters, break_long_words=False, break_on_hyphens=False)


def _tick(value: float, _: object) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:g}"


def _counted_axis(axes: Axes, counts: Iterable[float]) -> None:
    distinct = sorted(set(counts))
    most = max(distinct)
    axes.set_xlim(0, most * 1.02)
    if len(distinct) <= 9:
        # Neighbours closer than a twentieth of the axis would print over each other.
        shown = [distinct[0]]
        for count in distinct[1:]:
            if count - shown[-1] >= most / 20:
                shown.append(count)
        axes.set_xticks(shown)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))

# SPDX-License-Identifier: BSD-3-Clause
"""Figures and shades that hold for everyone: contrast, greyscale, markers; SVG that is small and the same each time."""

import re
from functools import partial
from xml.etree import ElementTree

import pytest

from analysis.report import figures
from analysis.report.page import _luminance, _shade

WHITE = (255, 255, 255)


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Contrast of two sRGB colours as WCAG 2.1 has it, from 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def rgb(colour: str) -> tuple[int, ...]:
    digits = colour.removeprefix("#")
    width = len(digits) // 3
    return tuple(int((digits[place : place + width] * 2)[:2], 16) for place in range(0, len(digits), width))


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast(rgb("#000"), WHITE) == 21
    assert contrast(rgb("#777777"), WHITE) == pytest.approx(4.48, abs=0.01)  # the usual example of just too little


def test_colours_of_curves_and_edges_of_bars_stand_out_from_white() -> None:
    for colour in (*figures.COLOURS, figures.INK):
        assert contrast(rgb(colour), WHITE) >= 4.5, colour


def test_whatever_differs_in_colour_differs_in_form_too() -> None:
    assert len(set(figures.HATCHES)) == len(figures.HATCHES) >= len(set(figures.FILLS)) == len(figures.FILLS)
    assert len(set(figures._MARKERS)) >= len(figures.COLOURS)
    for fill in figures.FILLS:  # the hatch and the edge are of ink
        assert contrast(rgb(fill), rgb(figures.INK)) >= 3, fill


@pytest.mark.parametrize("heat", [number / 50 for number in range(51)])
def test_text_on_a_shade_can_be_read(heat: float) -> None:
    found = re.fullmatch(r"background:rgb\((\d+),(\d+),(\d+)\);color:(#\w+)", _shade(heat))
    assert found
    assert contrast(tuple(map(int, found.groups()[:3])), rgb(found[4])) >= 4.5


STACK = partial(
    figures.stacked_bars, {str(part): [1.0, 2.0, 3.0] for part in range(12)}, ["1", "6", "48"], across="cores", along="cycles"
)
BARS = partial(figures.bars, ["a", "b"], [figures.Bars("one", [1, None], ["1", ""])], along="x", mark=1)
CURVES = partial(figures.curves, [figures.Curve("one", [(1, 2), (48, 1)], [(1, 3), (1, 1)])], across="cores", along="x")


@pytest.mark.parametrize("draw", [STACK, BARS, CURVES])
def test_a_figure_is_a_small_file_of_its_own_and_always_the_same(draw: "partial[str]") -> None:
    svg = draw()
    assert svg == draw()
    assert len(svg) < 60_000
    texts = [(one.text or "").strip() for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert texts
    assert not re.search(r"(href|src)=\"(?!#)", svg)


def test_in_a_page_identifiers_are_of_the_figure() -> None:
    shown = figures.inline(STACK(), "mine", "A <title>")
    assert set(re.findall(r'\bid="(\w+)-', shown)) == {"mine"}
    assert set(re.findall(r"url\(#(\w+)-", shown)) | set(re.findall(r'href="#(\w+)-', shown)) == {"mine"}
    assert 'aria-label="A &lt;title&gt;"' in shown
    assert shown.startswith("<svg")

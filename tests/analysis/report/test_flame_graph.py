# SPDX-License-Identifier: BSD-3-Clause
"""The flame graph as a picture: well formed, as wide as it should be, safe for any name."""

import re
from xml.etree import ElementTree

from analysis.report.flame_graph import flame_graph

SVG = "{http://www.w3.org/2000/svg}"
STACKS = {("main", "open", "[lock]"): 60, ("main", "close<0>", "[lock]"): 30, ("idle",): 10}


def boxes(text: str) -> dict[str, tuple[float, float, float]]:
    """Left edge, width and top of each box by what it says."""
    found = {}
    for group in ElementTree.fromstring(text).iter(f"{SVG}g"):
        title, box = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None and title.text is not None and box is not None
        found[title.text] = (float(box.attrib["x"]), float(box.attrib["width"]), float(box.attrib["y"]))
    return found


def test_widths_are_weights_and_callers_are_below() -> None:
    found = boxes(flame_graph(STACKS, "core cycles"))
    assert len(found) == 6
    whole = {text.partition(":")[0]: place for text, place in found.items()}
    assert abs(whole["main"][1] - 1200 * 0.9) < 1
    assert abs(whole["open"][1] - 1200 * 0.6) < 1
    assert whole["main"][2] > whole["open"][2]
    assert whole["open"][0] + whole["open"][1] <= whole["close<0>"][0] + 1
    assert "main: 90 core cycles, 90.0%" in found


def test_what_is_too_narrow_is_left_out() -> None:
    assert len(boxes(flame_graph({("wide",): 10**6, ("narrow",): 1}, "cycles"))) == 1


def test_nothing_is_a_picture_too() -> None:
    assert boxes(flame_graph({}, "cycles")) == {}


def test_one_name_has_one_colour() -> None:
    text = flame_graph({("a", "x"): 1, ("b", "x"): 1}, "cycles")
    colours = re.findall(r"<title>x: .*?fill=\"(.*?)\"", text)
    assert len(colours) == 2
    assert len(set(colours)) == 1

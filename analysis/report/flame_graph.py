# SPDX-License-Identifier: BSD-3-Clause
"""Stacks with weights as a flame graph: an SVG picture in which a function is as wide as what is below it weighs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from xml.sax.saxutils import escape, quoteattr

_WIDTH = 1200
_ROW = 17
_LETTER = 6.6  # of the font below
_FEWEST = 0.001  # of the whole: what is narrower is not drawn
_FONT = "11px ui-monospace, 'DejaVu Sans Mono', monospace"


@dataclass
class _Node:
    weight: int = 0
    inner: dict[str, "_Node"] = field(default_factory=dict)


def _tree(stacks: Mapping[tuple[str, ...], int]) -> _Node:
    root = _Node()
    for stack, weight in stacks.items():
        node = root
        node.weight += weight
        for name in stack:
            node = node.inner.setdefault(name, _Node())
            node.weight += weight
    return root


def flame_graph(stacks: Mapping[tuple[str, ...], int], unit: str) -> str:
    """The SVG file. ``stacks`` have the outermost name first; ``unit`` is what the weights are, for what a pointer is told.

    Names in brackets are what is waited for, and are of another colour. Outermost callers are at the bottom.
    """
    root = _tree(stacks)
    boxes = list(_boxes(root, 0.0, 0, root.weight)) if root.weight else []
    rows = max((depth for _, _, depth, _ in boxes), default=0) + 1
    height = rows * _ROW + 2
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" style="font: {_FONT}">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for name, left, depth, weight in boxes:
        wide = weight / root.weight * _WIDTH
        top = height - (depth + 1) * _ROW - 1
        said = f"{name}: {weight:,} {unit}, {weight / root.weight:.1%}"
        lines.append(
            f"<g><title>{escape(said)}</title>"
            f'<rect x="{left:.2f}" y="{top}" width="{max(wide - 0.4, 0.2):.2f}" height="{_ROW - 1}" '
            f"fill={quoteattr(_colour(name))}/>"
            f"{_text(name, left, top, wide)}</g>"
        )
    return "\n".join([*lines, "</svg>", ""])


def _boxes(node: _Node, left: float, depth: int, whole: int) -> Iterator[tuple[str, float, int, int]]:
    """Name, left edge, row from below and weight of each box; the heaviest of neighbours first."""
    for name in sorted(node.inner, key=lambda name: (-node.inner[name].weight, name)):
        inner = node.inner[name]
        if inner.weight >= _FEWEST * whole:
            yield name, left, depth, inner.weight
            yield from _boxes(inner, left, depth + 1, whole)
        left += inner.weight / whole * _WIDTH


def _text(name: str, left: float, top: int, wide: float) -> str:
    letters = int((wide - 6) / _LETTER)
    if letters < 3:
        return ""
    shown = name if len(name) <= letters else f"{name[: letters - 1]}…"
    return f'<text x="{left + 3:.2f}" y="{top + 12}" fill="#1b1b1b">{escape(shown)}</text>'


def _colour(name: str) -> str:
    """The same for the same name in every picture."""
    number = sha256(name.encode()).digest()[0]
    if name.startswith("["):
        return f"hsl(205, 45%, {70 + number % 14}%)"
    return f"hsl({24 + number % 26}, 75%, {66 + number % 13}%)"

# SPDX-License-Identifier: BSD-3-Clause
"""Small pieces of HTML for cells of a page's tables. Everything that goes in is escaped."""

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from analysis.report.hot_lines import Instruction


def breakable(text: str, after: str = "._") -> Markup:
    """A name that a browser may break after the characters in ``after``."""
    return Markup(re.sub(rf"([{after}]+)(?=\w)", r"\1<wbr>", str(escape(text))))


def lines(first: str | Markup, *more: str | Markup) -> Markup:
    """A text with smaller ones below it, of which those that are empty are left out."""
    below = Markup("").join(Markup(' <span class="sub">{}</span>').format(text) for text in more if text)
    return Markup("{}{}").format(first, below)


def names(found: Iterable[str]) -> Markup:
    """Names of fields or functions, between which a line may break, and in a long one after a dot."""
    return Markup(", ").join(Markup("<code>{}</code>").format(breakable(name)) for name in found)


def bar(text: str, share: float) -> Markup:
    """A share with a bar as long as it below."""
    return Markup('{}<span class="bar" style="width:{}%"></span>').format(text, f"{100 * min(max(share, 0.0), 1.0):.1f}")


def instructions(found: Sequence[Instruction], most: int = 5) -> Markup:
    """The ``most`` first of a line's instructions, each with its share of the cycles, function and place."""
    items = [
        Markup("<li><b>{:.0f} %</b> <span><code>{}</code>{}</span></li>").format(
            100 * one.share,
            breakable(one.function),
            Markup(' <span class="at">{}</span>').format(breakable(one.where, "/")) if one.where else "",
        )
        for one in found[:most]
    ]
    if len(found) > most:
        items.append(Markup("<li><b></b> <span>and {} more</span></li>").format(len(found) - most))
    return Markup('<ul class="sites">{}</ul>').format(Markup("").join(items))


def slug(text: str) -> str:
    """A text as an identifier: ``micro:open-close`` is ``micro-open-close``."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

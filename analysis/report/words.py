# SPDX-License-Identifier: BSD-3-Clause
"""The words of tables and pages: one meaning for each, and one place for it (words.toml)."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_name("words.toml")

UNKNOWN = "\N{EN DASH}"
"""What a table shows for a value that the engine cannot know, and for nothing else."""
_SINGULAR = (("children", "child"), ("ies", "y"), ("sses", "ss"), ("s", ""))
"""Ends of the units of work, of several and of one; the first that fits."""


@dataclass(frozen=True)
class Word:
    """``heading`` is how a table writes it (empty: it heads no column), ``name`` what it is called in a text."""

    id: str
    heading: str
    name: str
    meaning: str


@cache
def load_words() -> Mapping[str, Word]:
    """All words by identifier, in the order of words.toml."""
    with open(_DATA, "rb") as handle:
        entries = tomllib.load(handle)["word"]
    words = [Word(one["id"], one.get("heading", ""), one.get("name") or one["heading"], one["meaning"]) for one in entries]
    return {word.id: word for word in words}


def heading(word: str, unit: str = "") -> str:
    """How tables head a column; ``unit`` is the workload's unit of work."""
    return load_words()[word].heading.format(unit=unit)


def singular(unit: str) -> str:
    """One of a unit of work, which workloads name in the plural: a query of queries."""
    for plural, one in _SINGULAR:
        if unit.endswith(plural):
            return unit.removesuffix(plural) + one
    return unit


def number(value: float | None) -> str:
    """A count with thousands separators; a dash where the engine does not know it."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """A share; a dash where the engine does not know it."""
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def rate(value: float | None) -> str:
    """Events per unit of work, to three digits or so; a dash where the engine does not know them."""
    if value is None:
        return UNKNOWN
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.01 or not value else "< 0.01"


def amount(value: float | None) -> str:
    """A rate or mean with all its figures: 342,085, 25.3, 0.0417; a dash where the engine does not know it."""
    return number(value) if value is None or abs(value) >= 100 else f"{value:.3g}"


def si(value: float | None) -> str:
    """The same in three figures with a prefix of the SI, for where there is little room: 342 k, 25.3 M, 0.0417."""
    if value is None or abs(value) < 1000:
        return amount(value)
    for factor, prefix in ((1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")):
        shown = f"{value / factor:#.3g}".rstrip(".")  # 999.6 of one prefix is 1.00 of the next
        if "e" not in shown:
            return f"{shown} {prefix}"
    return f"{value:.3g}"


def cores_text(count: int) -> str:
    """How many cores: ``1 core``, ``48 cores``."""
    return f"{count} core{'' if count == 1 else 's'}"


NARROW = 100
"""Columns below which tables of figures use `si`."""


Amount = Callable[[float | None], str]
"""How an amount is written."""


def amounts(width: int) -> Amount:
    """How a table in so many columns writes amounts."""
    return si if width < NARROW else amount


def short(value: float | None) -> str:
    """A count in at most five characters: 950, 12.3k, 4.5M; a dash where the engine does not know it."""
    if value is None:
        return UNKNOWN
    for factor, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            scaled = value / factor
            return f"{scaled:.0f}{suffix}" if scaled >= 100 else f"{scaled:.1f}{suffix}"
    return f"{value:.0f}"

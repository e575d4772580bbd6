# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue of bottlenecks: which one a site belongs to, and what share of the traffic each has."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Any

from common.outcome import bad_input

_DATA = Path(__file__).with_name("bottlenecks.toml")


@dataclass(frozen=True)
class Rule:
    """What a site must be: its field and a function at its program counter match, and it is user-level code if ``user``."""

    fields: re.Pattern[str]
    functions: re.Pattern[str] | None
    user: bool

    def matches(self, field: str, functions: Sequence[str], is_kernel: bool) -> bool:
        """Whether a site is one of this rule's."""
        if self.user and is_kernel:
            return False
        if not self.fields.fullmatch(field):
            return False
        return self.functions is None or any(self.functions.fullmatch(function) for function in functions)


@dataclass(frozen=True)
class Bottleneck:
    """An entry of the catalogue. ``paper`` is its number among the paper's 16 fixes, None for one of ours."""

    id: str
    title: str
    fix: str
    applications: tuple[str, ...]
    paper: int | None
    rules: tuple[Rule, ...]


UNEXPLAINED = Bottleneck("unexplained", "No entry of the catalogue explains it", "", (), None, ())


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    # fnmatch reads [] as a character class; in a field it is an element of an array.
    return re.compile("|".join(translate(pattern.replace("[", "[[]")) for pattern in patterns))


@cache
def load_catalogue(path: Path = _DATA) -> tuple[Bottleneck, ...]:
    """Read bottlenecks.toml, in its order.

    Raises:
        Failure: bad-input, naming the entry that is wrong.
    """
    with open(path, "rb") as handle:
        data: dict[str, Any] = tomllib.load(handle)
    found: list[Bottleneck] = []
    for entry in data["bottleneck"]:
        try:
            rules = tuple(
                Rule(
                    _any_of(rule["fields"]),
                    _any_of(rule["functions"]) if "functions" in rule else None,
                    bool(rule.get("user", False)),
                )
                for rule in entry["rules"]
            )
            found.append(
                Bottleneck(entry["id"], entry["title"], entry["fix"], tuple(entry["applications"]), entry.get("paper"), rules)
            )
        except (KeyError, re.error) as error:
            raise bad_input(f"{path}: the entry {entry.get('id')!r} is wrong ({error}).", "See the comment at its top.") from None
    return tuple(found)


class Catalogue:
    """Classifies sites; each distinct (field, functions, privilege) once."""

    def __init__(self, entries: Sequence[Bottleneck] | None = None) -> None:
        self.entries = tuple(load_catalogue() if entries is None else entries)
        self._known: dict[tuple[str, tuple[str, ...], bool], Bottleneck] = {}

    def classify(self, field: str, functions: Sequence[str], is_kernel: bool) -> Bottleneck:
        """The first entry with a rule that matches the site, or UNEXPLAINED."""
        key = (field, tuple(functions), is_kernel)
        if key not in self._known:
            self._known[key] = next(
                (entry for entry in self.entries if any(rule.matches(field, functions, is_kernel) for rule in entry.rules)),
                UNEXPLAINED,
            )
        return self._known[key]

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

DATA = Path(__file__).with_name("bottlenecks.toml")


@dataclass(frozen=True)
class Rule:
    """What a site must be: its field, a function at its program counter and one of its callers match, and it is user-level code
    if ``user``. ``callers`` without a pattern matches where no caller is known."""

    fields: re.Pattern[str]
    functions: re.Pattern[str] | None
    user: bool
    callers: tuple[re.Pattern[str], ...] | None = None

    def has_field(self, field: str, is_kernel: bool) -> bool:
        """Whether a site with this field, in the kernel or not, can be one of this rule's."""
        return not (self.user and is_kernel) and self.fields.fullmatch(field) is not None

    def reached(self, functions: Sequence[str], callers: Sequence[str] = ()) -> bool:
        """Whether a site whose field fits is one of this rule's, when it was reached by way of ``callers`` (none: not known)."""
        if self.functions is not None and not any(self.functions.fullmatch(function) for function in functions):
            return False
        if self.callers is None:
            return True
        if not self.callers:
            return not callers
        return any(pattern.fullmatch(caller) for pattern in self.callers for caller in callers)


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
def load_catalogue(path: Path = DATA) -> tuple[Bottleneck, ...]:
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
                    tuple(_any_of([pattern]) for pattern in rule["callers"]) if "callers" in rule else None,
                )
                for rule in entry["rules"]
            )
            found.append(
                Bottleneck(entry["id"], entry["title"], entry["fix"], tuple(entry["applications"]), entry.get("paper"), rules)
            )
        except (KeyError, re.error) as error:
            raise bad_input(f"{path}: the entry {entry.get('id')!r} is wrong ({error}).", "See the comment at its top.") from None
    return tuple(found)


def entry_named(identifier: str) -> Bottleneck:
    """The entry with this identifier, UNEXPLAINED among them.

    Raises:
        KeyError: there is none.
    """
    return _by_id()[identifier]


@cache
def _by_id() -> dict[str, Bottleneck]:
    return {entry.id: entry for entry in (*load_catalogue(), UNEXPLAINED)}


class Catalogue:
    """Classifies sites; each distinct (field, functions, privilege, callers) once."""

    def __init__(self, entries: Sequence[Bottleneck] | None = None) -> None:
        self.entries = tuple(load_catalogue() if entries is None else entries)
        self._known: dict[tuple[str, tuple[str, ...], bool, tuple[str, ...]], Bottleneck] = {}
        self._of_field: dict[tuple[str, bool], list[tuple[Bottleneck, Rule]]] = {}
        self._by_caller = [rule for entry in self.entries for rule in entry.rules if rule.callers]

    def asks_callers(self, field: str) -> bool:
        """Whether what a site with this field belongs to can depend on who called."""
        return any(rule.fields.fullmatch(field) for rule in self._by_caller)

    def classify(self, field: str, functions: Sequence[str], is_kernel: bool, callers: Sequence[str] = ()) -> Bottleneck:
        """The first entry with a rule that matches the site as it was reached by way of ``callers``, or UNEXPLAINED."""
        key = (field, tuple(functions), is_kernel, tuple(callers))
        if key not in self._known:
            fit = (entry for entry, rule in self._with_field(field, is_kernel) if rule.reached(functions, callers))
            self._known[key] = next(fit, UNEXPLAINED)
        return self._known[key]

    def _with_field(self, field: str, is_kernel: bool) -> list[tuple[Bottleneck, Rule]]:
        """The rules that sites with this field can match, in the catalogue's order: few of all."""
        if (field, is_kernel) not in self._of_field:
            self._of_field[field, is_kernel] = [
                (entry, rule) for entry in self.entries for rule in entry.rules if rule.has_field(field, is_kernel)
            ]
        return self._of_field[field, is_kernel]

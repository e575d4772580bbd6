# SPDX-License-Identifier: BSD-3-Clause
"""The keys of machines, as ``machines/schema.toml`` states them: unit, kind and range, default, meaning, engines.

What a key can be by itself is here; what keys say about each other is in `harness.spec.machine`.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from common.outcome import Failure, bad_input
from common.paths import MACHINES

SCHEMA = MACHINES / "schema.toml"
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")

Links = tuple[tuple[int, int], ...]
"""Pairs of sockets, the lower first, sorted."""
Value = str | int | float | Links


@dataclass(frozen=True)
class Whole:
    """A whole number, both ends included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    @property
    def short(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    def read(self, value: object) -> int:
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
        if not isinstance(number, int) or isinstance(number, bool) or not self.low <= number <= self.high:
            raise ValueError
        return number


@dataclass(frozen=True)
class Real:
    """A number, both ends included."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    @property
    def short(self) -> str:
        return f"{self.low:,g} to {self.high:,g}"

    def read(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = float(value)
        if not self.low <= number <= self.high:  # nor is nan
            raise ValueError
        return number


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"one of {self.short}"

    @property
    def short(self) -> str:
        return ", ".join(self.words)

    def read(self, value: object) -> str:
        if value not in self.words:
            raise ValueError
        return str(value)


@dataclass(frozen=True)
class Name:
    """A name that may be part of a file name."""

    def __str__(self) -> str:
        return f"{self.short}, with no '.' in front"

    @property
    def short(self) -> str:
        return "letters a to z, digits, '-', '_' and '.'"

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not value or not _NAME_CHARACTERS.issuperset(value) or value[0] == ".":
            raise ValueError
        return value


@dataclass(frozen=True)
class SocketPairs:
    """The links: a TOML list of "a-b", or text with the pairs separated by spaces or commas. May be empty for one socket."""

    def __str__(self) -> str:
        return 'pairs of different sockets, lower number first, each once, such as "0-1"'

    @property
    def short(self) -> str:
        return 'pairs such as "0-1"'

    def read(self, value: object) -> Links:
        words = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError
        pairs = []
        for word in words:
            low, _, high = word.partition("-")
            if not (word.isascii() and low.isdecimal() and high.isdecimal() and int(low) < int(high)):
                raise ValueError
            pairs.append((int(low), int(high)))
        if len(set(pairs)) != len(pairs):
            raise ValueError
        return tuple(sorted(pairs))


Range = Whole | Real | Choice | Name | SocketPairs

_KINDS: Mapping[str, Callable[[dict[str, Any]], Range]] = {
    "whole": lambda table: Whole(table.pop("low"), table.pop("high")),
    "real": lambda table: Real(float(table.pop("low")), float(table.pop("high"))),
    "word": lambda table: Choice(tuple(table.pop("words"))),
    "name": lambda table: Name(),
    "links": lambda table: SocketPairs(),
}


@dataclass(frozen=True)
class Key:
    """A key of a machine file."""

    name: str
    unit: str
    range: Range
    default: Value | None
    """None: every machine file must give the key."""
    default_on: Mapping[str, Value]
    """Of engines that have another default."""
    meaning: str
    engines: tuple[str, ...]
    late: bool
    """It came after there were runs: while it has its default, a point is called as without it, and its file may lack it."""


@dataclass(frozen=True)
class Resolved:
    """A value that follows from keys; engines find it in their machine file."""

    name: str
    unit: str
    made_from: tuple[str, ...]
    meaning: str
    engines: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A part of the machine that not every engine has."""

    name: str
    meaning: str
    engines: tuple[str, ...]


@dataclass(frozen=True)
class Schema:
    """All keys, all values that follow from them, and parts that an engine may lack, in the order of the file."""

    keys: Mapping[str, Key]
    resolved: Mapping[str, Resolved]
    parts: Mapping[str, Part]

    def defaults(self, engine: str) -> dict[str, Value]:
        """The values on ``engine`` of the keys that a machine file need not give."""
        found = {key.name: key.default_on.get(engine, key.default) for key in self.keys.values()}
        return {name: value for name, value in found.items() if value is not None}

    def of_engine(self, engine: str) -> list[str]:
        """Names of the keys and resolved values that the machine file of ``engine`` has, sorted."""
        keys: list[Key | Resolved] = [*self.keys.values(), *self.resolved.values()]
        return sorted(one.name for one in keys if engine in one.engines)


def text(value: Value) -> str:
    """A value as machine files of engines have it, in its one spelling; `Key.range` reads it back."""
    if isinstance(value, tuple):
        return " ".join(f"{low}-{high}" for low, high in value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)


@cache
def schema() -> Schema:
    """The schema that comes with the project."""
    return read(SCHEMA)


def read(path: Path) -> Schema:
    """Read a schema.

    Raises:
        Failure: bad-input, naming file and key: it is not well formed.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise bad_input(f"{path} is not a TOML file: {error}.", "Correct the line.") from error
    keys = {name: _key(path, name, dict(table)) for name, table in document.pop("keys", {}).items()}
    resolved = {name: _resolved(path, name, dict(table), keys) for name, table in document.pop("resolved", {}).items()}
    parts = {name: _part(path, name, dict(table)) for name, table in document.pop("parts", {}).items()}
    for name in document:
        raise _fault(path, name, "it is neither in [keys.NAME], nor in [resolved.NAME], nor in [parts.NAME]")
    return Schema(keys, resolved, parts)


def _key(path: Path, name: str, table: dict[str, Any]) -> Key:
    kind = table.pop("kind", None)
    if kind not in _KINDS:
        raise _fault(path, name, f"kind is one of {', '.join(_KINDS)}, not {kind}")
    try:
        allowed = _KINDS[kind](table)
        default = allowed.read(table.pop("default")) if "default" in table else None
        default_on = {engine: allowed.read(value) for engine, value in table.pop("default_on", {}).items()}
        meaning, engines = table.pop("meaning"), tuple(table.pop("engines"))
        key = Key(name, table.pop("unit"), allowed, default, default_on, meaning, engines, bool(table.pop("late", False)))
    except KeyError as error:
        raise _fault(path, name, f"{error.args[0]} is missing") from error
    except ValueError as error:
        raise _fault(path, name, f"the default is not {allowed}") from error
    _check_rest(path, table, key)
    return key


def _resolved(path: Path, name: str, table: dict[str, Any], keys: Mapping[str, Key]) -> Resolved:
    try:
        made_from = tuple(table.pop("from"))
        made = Resolved(name, table.pop("unit"), made_from, table.pop("meaning"), tuple(table.pop("engines")))
    except KeyError as error:
        raise _fault(path, name, f"{error.args[0]} is missing") from error
    if name in keys:
        raise _fault(path, name, "it is a key and a resolved value")
    for source in made_from:
        if source not in keys:
            raise _fault(path, name, f"it comes from {source}, which is not a key")
    _check_rest(path, table, made)
    return made


def _part(path: Path, name: str, table: dict[str, Any]) -> Part:
    try:
        part = Part(name, table.pop("meaning"), tuple(table.pop("engines")))
    except KeyError as error:
        raise _fault(path, name, f"{error.args[0]} is missing") from error
    _check_rest(path, table, part)
    return part


def _check_rest(path: Path, rest: Mapping[str, Any], made: Key | Resolved | Part) -> None:
    if rest:
        raise _fault(path, made.name, f"{', '.join(rest)} means nothing there")
    if not made.meaning or not made.engines:
        raise _fault(path, made.name, "meaning and engines are not empty")


def _fault(path: Path, name: str, what: str) -> Failure:
    return bad_input(f"{path}: of {name}, {what}.", "Correct it; the head of the file says what a key has.")


def markdown() -> str:
    """The tables of docs/reference/machines.md."""
    return "\n".join((*_key_rows(), "", *_resolved_rows(), "", *_part_rows())) + "\n"


def _key_rows() -> Iterator[str]:
    yield "| key | unit | allowed | default | meaning | engines |"
    yield "|---|---|---|---|---|---|"
    for key in schema().keys.values():
        default = "" if key.default is None else text(key.default)
        default += "".join(f"; {text(value)} on {engine}" for engine, value in key.default_on.items())
        yield f"| `{key.name}` | {key.unit} | {key.range.short} | {default} | {key.meaning} | {', '.join(key.engines)} |"


def _resolved_rows() -> Iterator[str]:
    yield "| resolved | unit | from | meaning | engines |"
    yield "|---|---|---|---|---|"
    for one in schema().resolved.values():
        made_from = ", ".join(f"`{key}`" for key in one.made_from)
        yield f"| `{one.name}` | {one.unit} | {made_from} | {one.meaning} | {', '.join(one.engines)} |"


def _part_rows() -> Iterator[str]:
    yield "| part | meaning | engines |"
    yield "|---|---|---|"
    for one in schema().parts.values():
        yield f"| `{one.name}` | {one.meaning} | {', '.join(one.engines)} |"

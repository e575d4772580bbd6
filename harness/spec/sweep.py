# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps: sets of points written with products and alternatives of settings, the algebra of MOSBENCH's ConfigSpace.

    workload=micro:stat+micro:lseek * cores=1+48
    (kernel=stock * cores=1+48) + (kernel=pk * cores=48)

``key=a+b`` is two alternatives of one key. ``*`` combines each on the left with each on the right, where a later value
of a key takes the place of an earlier one; ``+`` between groups is one after the other. ``*`` binds tighter. A value with
``+``, ``*``, blanks or brackets in it is quoted: ``kernel="dentry-count+dst-count"``.

Of the alternatives of ``kernel`` one without a source is of the source before it: ``kernel=SOURCE:stock+pk`` is two kernels
of one source. `Space.notes` says where that was so.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from common.outcome import Failure, bad_input
from harness.spec import kernel

Settings = Mapping[str, str]


@dataclass(frozen=True)
class Space:
    """A set of settings in the order in which they were written, each at most once."""

    settings: tuple[Settings, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was understood that is not written there, a sentence each, for the command to say."""

    def __mul__(self, other: "Space") -> "Space":
        return _distinct(({**left, **right} for left in self.settings for right in other.settings), self.notes + other.notes)

    def __add__(self, other: "Space") -> "Space":
        return _distinct([*self.settings, *other.settings], self.notes + other.notes)


def _distinct(settings: Iterable[Settings], notes: Iterable[str] = ()) -> Space:
    kept: dict[tuple[tuple[str, str], ...], Settings] = {}
    for one in settings:
        kept.setdefault(tuple(sorted(one.items())), one)
    return Space(tuple(kept.values()), tuple(dict.fromkeys(notes)))


def alternatives(key: str, values: Iterable[str]) -> Space:
    """One setting with the values given; kernels without a source are of the one before them."""
    given = list(values)
    meant = _with_sources(given) if key == "kernel" else given
    notes = [f"kernel {text} is {full}." for text, full in zip(given, meant, strict=True) if text != full]
    return _distinct(({key: value} for value in meant), notes)


def _with_sources(kernels: Iterable[str]) -> list[str]:
    """Kernels as they are written, each after one with a source and without one of its own with that in front."""
    full, before = [], ""
    for text in kernels:
        source, colon, _ = text.partition(":")
        if colon or source in kernel.sources():
            before = source
        full.append(text if colon or source == before or not before else f"{before}:{text}")
    return full


def parse(text: str) -> Space:
    """Read a sweep.

    Raises:
        Failure: bad-input, naming the place where the text stops making sense.
    """
    reader = _Reader(text)
    space = reader.sum()
    if reader.kind != "end":
        raise reader.unexpected("'*', '+' or the end")
    return space


def write(settings: Settings) -> str:
    """One set of settings as text that `parse` reads back."""
    return " * ".join(f"{key}={_quoted(value)}" for key, value in settings.items())


def _quoted(value: str) -> str:
    return value if re.fullmatch(_PLAIN, value) else f'"{value}"'


_PLAIN = r'[^\s+*()"]+'
_KEY = r"[A-Za-z_][A-Za-z0-9_.]*="
_TOKENS = re.compile(
    rf'\s*(?:(?P<setting>{_KEY}(?:{_PLAIN}|"[^"]*")(?:\+(?:{_PLAIN}|"[^"]*"))*)|(?P<operator>[*+()])|(?P<end>$)|(?P<other>\S+))'
)
_VALUES = re.compile(rf'"([^"]*)"|({_PLAIN})')


class _Reader:
    """Recursive descent: sum = product ('+' product)*; product = item ('*' item)*; item = setting or '(' sum ')'."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self.kind = ""
        self.token = ""
        self._next()

    def _next(self) -> None:
        found = _TOKENS.match(self._text, self._position)
        assert found is not None and found.lastgroup is not None  # the last alternatives match anything
        self._position = found.end()
        self.kind, self.token = found.lastgroup, found[found.lastgroup]

    def unexpected(self, wanted: str) -> Failure:
        where = "the end" if self.kind == "end" else repr(self.token)
        return bad_input(
            f"The sweep {self._text!r} has {where} where {wanted} should be.",
            'Write for example "workload=memcached * cores=1+48".',
        )

    def sum(self) -> Space:
        space = self._product()
        while self.kind == "operator" and self.token == "+":
            self._next()
            space = space + self._product()
        return space

    def _product(self) -> Space:
        space = self._item()
        while self.kind == "operator" and self.token == "*":
            self._next()
            space = space * self._item()
        return space

    def _item(self) -> Space:
        if self.kind == "setting":
            key, _, values = self.token.partition("=")
            self._next()
            return alternatives(key, [quoted or plain for quoted, plain in _VALUES.findall(values)])
        if self.kind == "operator" and self.token == "(":
            self._next()
            space = self.sum()
            if self.token != ")":
                raise self.unexpected("')'")
            self._next()
            return space
        raise self.unexpected("a setting key=value")

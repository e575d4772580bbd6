# SPDX-License-Identifier: BSD-3-Clause
"""Files that are read once while many things are made of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

_known: dict[tuple[Any, ...], Any] | None = None


@contextmanager
def reading_once() -> Iterator[None]:
    """While the body runs, a function that is `remembered` is called once with the same arguments. It is for many points in one
    command: no file of theirs changes meanwhile."""
    global _known
    before, _known = _known, {} if _known is None else _known
    try:
        yield
    finally:
        _known = before


def remembered(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """A function of its arguments (which can be hashed) and of files; what it returns is not changed by anybody."""

    @wraps(function)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Found:
        if _known is None:
            return function(*given, **named)
        key = (function, given, tuple(sorted(named.items())))
        if key not in _known:
            _known[key] = function(*given, **named)
        found: _Found = _known[key]
        return found

    return call

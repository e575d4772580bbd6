# SPDX-License-Identifier: BSD-3-Clause
"""Tables on the terminal, and what is shown there kept for a page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDTH_ELSEWHERE = 160  # columns in a file or a pipe, where nobody breaks lines


def console() -> Console:
    """A console on standard output: as wide as the terminal, and wide enough for the tables where there is none."""
    return _Terminal() if sys.stdout.isatty() else _Terminal(width=_WIDTH_ELSEWHERE)


@contextmanager
def recorded() -> Iterator[list[Table | str]]:
    """What the body shows on standard output, in order: its tables, and its other output as text."""
    kept: list[Table | str] = []
    tee = _Tee(sys.stdout, kept)
    sys.stdout = tee
    try:
        yield kept
    finally:
        sys.stdout = tee.stream


def markdown(table: Table) -> str:
    """A table as Markdown; its title, if it has one, is a line before it."""
    rows = zip(*([_plain(cell) for cell in column.cells] for column in table.columns), strict=True)
    lines = [[_plain(column.header) for column in table.columns], ["---"] * len(table.columns), *rows]
    title = f"**{_plain(table.title)}**\n\n" if table.title else ""
    return title + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(cell: Any) -> str:
    text = Text.from_markup(cell).plain if isinstance(cell, str) else str(cell)
    return text.replace("|", "\\|").replace("\n", " ")


class _Tee:
    """Standard output that keeps a copy. While a table is printed the copy is the table itself."""

    def __init__(self, stream: TextIO, kept: list[Table | str]) -> None:
        self.stream = stream
        self.kept = kept
        self.paused = False

    def write(self, text: str) -> int:
        if text and not self.paused:
            if self.kept and isinstance(self.kept[-1], str):
                self.kept[-1] += text
            else:
                self.kept.append(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Terminal(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        tee = sys.stdout if isinstance(sys.stdout, _Tee) else None
        tables = [one for one in objects if isinstance(one, Table)]
        if tee is None or not tables:
            super().print(*objects, **options)
            return
        tee.kept += tables
        tee.paused = True
        try:
            super().print(*objects, **options)
        finally:
            tee.paused = False

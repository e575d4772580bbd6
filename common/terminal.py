# SPDX-License-Identifier: BSD-3-Clause
"""Tables on the terminal, and what is shown there kept for a page."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from common.columns import WIDTH_ELSEWHERE, columns

_GAP = 2  # columns between two columns of `Sections`; one where that is too wide


def console() -> Console:
    """A console on standard output: as wide as the terminal or COLUMNS, and wide enough for the tables where there is neither."""
    return _Terminal(width=columns(sys.stdout, WIDTH_ELSEWHERE))


class Sections(Table):
    """Columns of figures with lines of text between the rows, as wide as the console: nothing in a row is cut to make room.

    `add_text` is a line of text; a row after it is of what it says. Each cell takes the columns that it needs.
    """

    def __init__(self, *headings: str, title: str, caption: str = "") -> None:
        super().__init__(title=title, title_justify="left", title_style="bold", caption=caption or None, caption_justify="left")
        self._texts: dict[int, Text] = {}
        for heading in headings:
            self.add_column(heading, justify="right")

    def add_text(self, text: str | Text, style: str = "", indent: int = 0) -> None:
        """A line of text over the whole width."""
        plain = Text(text, style) if isinstance(text, str) else text
        self._texts[self.row_count] = Text(" " * indent) + plain
        self.add_row(plain.plain, *[""] * (len(self.columns) - 1))

    def rows_of_figures(self) -> list[list[str]]:
        """The cells of all rows that are no text."""
        cells = zip(*(map(str, column.cells) for column in self.columns), strict=True)
        return [list(row) for number, row in enumerate(cells) if number not in self._texts]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        headings, rows = [str(column.header) for column in self.columns], self.rows_of_figures()
        widths = [max(map(_width, cells)) for cells in zip(headings, *rows, strict=True)]
        gap = _GAP if sum(widths) + _GAP * len(widths) <= options.max_width else 1
        yield Text(str(self.title), "bold")
        yield Text(_row(headings, widths, gap, bottom=True), "bold", no_wrap=True)
        left = iter(rows)
        for number in range(self.row_count):
            if (text := self._texts.get(number)) is None:
                yield Text(_row(next(left), widths, gap), no_wrap=True)
                continue
            indent = len(text.plain) - len(text.plain.lstrip())
            for line in text[indent:].wrap(console, options.max_width - indent):
                line.rstrip()
                yield Text(" " * indent) + line
        if self.caption:
            yield Text(str(self.caption), "dim")


def _width(cell: str) -> int:
    return max(map(cell_len, cell.split("\n")))


def _row(cells: Sequence[str], widths: Sequence[int], gap: int, bottom: bool = False) -> str:
    """One row, each cell on the right of its column, several lines of one at the top or at the bottom."""
    height = max(cell.count("\n") for cell in cells) + 1
    columns = []
    for cell, width in zip(cells, widths, strict=True):
        given = cell.split("\n")
        empty = [""] * (height - len(given))
        columns.append([" " * (width - cell_len(one)) + one for one in ([*empty, *given] if bottom else [*given, *empty])])
    return "\n".join((" " * gap).join(["", *line]).rstrip() for line in zip(*columns, strict=True))


def _keep_whole(table: Table) -> None:
    """Let a table that is wider than the console break its texts, which else are cut, before its figures."""
    for column in table.columns:
        column.overflow = "fold"
        if column.justify == "right" and column.min_width is None:
            column.min_width = max(map(_width, map(str, column.cells)), default=0)


def plain_table(*headings: str, title: str, caption: str = "") -> Table:
    """An empty table of texts in the narrow frame that lists have; ``headings`` are of columns that break between words."""
    shown = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", caption=caption or None)
    shown.caption_justify, shown.pad_edge, shown.padding = "left", False, (0, 1, 0, 0)
    for heading in headings:
        shown.add_column(heading, overflow="fold")
    return shown


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
        for one in objects:
            if isinstance(one, Table):
                _keep_whole(one)
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

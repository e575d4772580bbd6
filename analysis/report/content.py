# SPDX-License-Identifier: BSD-3-Clause
"""What a report consists of: chapters of sections; a section is a title, an explanation, figures and tables. Data only.

The page, the CSV, JSON and SVG files are all made from these objects, so a figure has one owner.

To add a section, write a module beside this one with a function that returns sections, and name the function in
`chapters.OF_RUN` (called with the run with the most cores of each series) or `chapters.OF_WORKLOAD` (with all of a workload)::

    def sections(run: Run, anchor: str) -> list[Section]:
        table = Table(
            id=f"{anchor}-neighbours",
            title="Lines beside each other",
            columns=(Column("field"), Column(heading("cross_socket"), "count", number)),
            rows=[("dentry.d_lockref", 10007), (Cell("queue.head", text="queue.<wbr>head"), None)],
            note=run.caption,
        )
        bars = partial(figures.stacked_bars, {"dentry": [1.0, 2.0]}, ["1", "48"], across="cores", along="cycles")
        figure = Figure(f"{anchor}-neighbours-figure", "Lines beside each other", bars, table, run.caption)
        return [Section("Lines beside each other", f"{anchor}-neighbours", "What it shows, in a sentence.", (figure,), (table,))]

``anchor`` is what the identifiers of the caller's chapter or run begin with. An identifier is an anchor in the page and the name
of the files, so it is unique in a report.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from analysis.report.words import UNKNOWN

STACKS = "stacks"
"""The kind of a table with a stack (names with ; between them, the outermost first) and its weight in each row."""

Value = str | int | float | None
"""Of a cell as the files have it: not rounded; None where it is not known, or does not apply."""


@dataclass(frozen=True)
class Cell:
    """A value that the page shows in a way of its own."""

    value: Value
    text: str | Markup | None = None
    """What the page shows instead of the column's format; "" where the figure does not apply."""
    marks: str = ""
    """Names of classes for the page's style, for example ``sub``."""
    heat: float | None = None
    """From 0 to 1: how dark the cell is."""


@dataclass(frozen=True)
class Column:
    """One column. ``format`` makes a value into text, as those of `words` do; a column without one is of text."""

    heading: str
    unit: str = ""
    """Of the values in files: ``count``, ``core cycles``, ``fraction``; empty for text."""
    format: Callable[[Any], str] | None = None
    shown: bool = True
    """Whether the page has it; the files have all columns."""
    filter: bool = False
    """Whether the page offers to choose among its values."""
    row_header: bool = False
    """Whether it names its row, for who has the page read aloud."""

    @property
    def label(self) -> str:
        """How files head the column."""
        return f"{self.heading} ({self.unit})" if self.unit else self.heading


@dataclass(frozen=True)
class Table:
    """Rows have a value or cell for each column, in their order."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value | Cell]]
    note: str = ""
    """What it is about: workload, cores, kernel, machine, engine; and whatever else must be known of it."""
    kind: str = ""
    """A name for the page's style that tables of one form have in common."""
    shown: bool = True
    """Whether the page has it; a table of details that another one shows in short is in files only."""

    def values(self) -> list[list[Value]]:
        """The rows as files have them: an empty text is nothing."""
        return [[None if value == "" else value for value in map(_value, row)] for row in self.rows]

    def cells(self) -> Iterator[list[tuple[Column, Cell, str | Markup]]]:
        """The rows as the page has them: of each column that is shown the cell and its text."""
        for row in self.rows:
            found = []
            for column, one in zip(self.columns, row, strict=True):
                if column.shown:
                    cell = one if isinstance(one, Cell) else Cell(one)
                    found.append((column, cell, _text(column, cell)))
            yield found


def _value(cell: Value | Cell) -> Value:
    return cell.value if isinstance(cell, Cell) else cell


def _text(column: Column, cell: Cell) -> str | Markup:
    if cell.text is not None:
        return cell.text
    if cell.value is None:
        return UNKNOWN
    return str(cell.value) if column.format is None else column.format(cell.value)


@dataclass(frozen=True)
class Figure:
    """A picture of a table: ``draw`` makes it, as the text of an SVG file (see `figures`), ``values`` has what it shows."""

    id: str
    title: str
    draw: Callable[[], str]
    values: Table
    note: str = ""
    wide: bool = False
    """Whether it takes the whole width of the page."""


@dataclass(frozen=True)
class Section:
    """Figures come before tables. ``explanation`` says what is shown and how to read it."""

    title: str
    anchor: str
    explanation: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    about: str = ""
    """Said beside the title where a chapter has several sections of that title."""

    def of(self, what: str) -> "Section":
        """The same with a title that says what it is about, for a chapter that has several of its kind."""
        return replace(self, about=what)


@dataclass(frozen=True)
class Chapter:
    """``lead`` is what a reader should know first, in paragraphs."""

    title: str
    anchor: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Report:
    """Everything."""

    title: str
    source: str
    """What it is made from: how many runs, machines, engines."""
    chapters: tuple[Chapter, ...]

    def figures(self) -> list[Figure]:
        """All figures, in their order."""
        return [figure for chapter in self.chapters for section in chapter.sections for figure in section.figures]

    def tables(self) -> list[Table]:
        """All tables, those of figures too, each once."""
        found: dict[str, Table] = {}
        for chapter in self.chapters:
            for section in chapter.sections:
                for table in (*(figure.values for figure in section.figures), *section.tables):
                    found.setdefault(table.id, table)
        return list(found.values())

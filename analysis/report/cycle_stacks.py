# SPDX-License-Identifier: BSD-3-Clause
"""Where a unit's cycles go: what all cores together spend on one unit of work, by what they do or wait for.

As the CPI stacks of Sniper: the parts sum up to the whole, so what grows with the cores is what does not scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.table import Table as TerminalTable

from analysis.attribute import schema
from analysis.attribute.tables import read_table
from analysis.report import figures
from analysis.report.content import Column, Figure, Section, Table, Value
from analysis.report.runs import Run
from analysis.report.series import by_series
from analysis.report.words import heading, number, percent, rate, short, singular
from common.terminal import plain_table

PARTS: Mapping[str, str] = {
    "instruction_cycles": "instructions",
    "l1_cycles": "L1",
    "pause_cycles": "PAUSE in waiting loops",
    "l2_cycles": "L2",
    "l3_cycles": "L3",
    "same_socket_cycles": "cores of the socket",
    "other_socket_cycles": "cores of other sockets",
    "upgrade_cycles": "right to write",
    "dram_local_cycles": "own memory",
    "dram_remote_cycles": "other memory",
    "card_cycles": "network card",
    "idle_cycles": "idle",
}
"""Column of the table cores -> what a figure calls it, from the bottom of a bar to its top."""
assert set(PARTS) == {column.name for column in schema.load().tables["cores"].sums["cycles"]}

REST = "instructions, L1, PAUSE"
"""What is left of the cycles where an engine does not know all parts."""
_MOST_COLUMNS = 5
"""Numbers of cores in a table of a terminal with 80 columns."""
_TITLE_COLUMNS = 72
"""Of the table at least, so that its title takes few lines."""


@dataclass(frozen=True)
class Stack:
    """Cycles of all cores together for one unit of work: ``parts`` by name, from the bottom up, None where not known."""

    run: Run
    parts: Mapping[str, float | None]

    @property
    def whole(self) -> float:
        """The sum of the parts."""
        return sum(part or 0.0 for part in self.parts.values())


def stack(run: Run) -> Stack | None:
    """The stack of a run, the mean over its trials; None of one whose cores or work counted nothing.

    Raises:
        Failure: bad-input, when its table cannot be read.
    """
    each = [found for found in map(_of_trial, run.trials) if found is not None]
    if len(each) < len(run.trials):
        return None
    return Stack(run, {name: _mean([one[name] for one in each]) for name in each[0]})


def _of_trial(run: Run) -> dict[str, float | None] | None:
    cores = read_table(run.folder, "cores", ["cycles", *PARTS])
    units, cycles = int(run.metrics.get("units") or 0), sum(cores.column("cycles").to_pylist())
    if not units or not cycles:
        return None
    sums = {name: None if column.null_count else sum(column.to_pylist()) for name in PARTS for column in [cores.column(name)]}
    found = {PARTS[name]: None if value is None else value / units for name, value in sums.items()}
    if None not in found.values():
        return found
    # Accesses of one core may overlap where they are not in order: then there is nothing that is surely left.
    left = cycles - sum(value or 0 for value in sums.values())
    return {REST: left / units if left >= 0 else None, **found}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def stacks(runs: Sequence[Run]) -> dict[str, list[Stack]]:
    """The stacks of a workload's runs by series, in the order of the runs."""
    found = {series: [one for run in group if (one := stack(run)) is not None] for series, group in by_series(runs).items()}
    return {series: group for series, group in found.items() if group}


def sections(runs: Sequence[Run], anchor: str) -> list[Section]:
    """A figure for each series of a workload, and a table of them all."""
    by_name = stacks(runs)
    if not by_name:
        return []
    drawn = []
    for place, (series, group) in enumerate(by_name.items(), 1):
        table = _values(series, group, f"{anchor}-cycles-{place}")
        bars = partial(
            figures.stacked_bars,
            {name: [one.parts.get(name) or 0.0 for one in group] for name in _names(group)},
            [str(one.run.cores) for one in group],
            across="cores",
            along=f"core cycles per {singular(group[0].run.unit)}",
        )
        drawn.append(Figure(f"{anchor}-stack-{place}", f"Where a unit's cycles go: {series}", bars, table, table.note))
    explanation = (
        f"Cycles of all cores together for one of the {runs[0].unit}, by what the cores do or wait for; the parts sum up to the "
        "whole. With perfect scaling all bars are alike: a part that grows with the cores is what does not scale."
    )
    return [Section(heading("stack"), f"{anchor}-cycles", explanation, tuple(drawn), tuple(figure.values for figure in drawn))]


def _names(group: Sequence[Stack]) -> list[str]:
    """Parts that are drawn: the known ones, also those of 0, so that a part has one colour in all figures."""
    names = dict.fromkeys(name for one in group for name in one.parts)
    return [name for name in names if any(one.parts.get(name) is not None for one in group)]


def _values(series: str, group: Sequence[Stack], identifier: str) -> Table:
    names = list(dict.fromkeys(name for one in group for name in one.parts))
    rows: list[tuple[Value, ...]] = [
        (series, one.run.cores, *(one.parts.get(name) for name in names), one.whole) for one in group
    ]
    return Table(
        id=identifier,
        title=f"Core cycles per {singular(group[0].run.unit)}: {series}",
        columns=(
            Column("series", shown=False),
            Column("cores", "count", number, row_header=True),
            *(Column(name, "core cycles", rate) for name in names),
            Column("all", "core cycles", rate),
        ),
        rows=rows,
        note=f"{group[0].run.work}, {series}{group[0].run.cycles_note}.",
    )


def table(group: Sequence[Stack]) -> TerminalTable:
    """The stacks of one series for the terminal: a row for each part that is not nothing, a column for each number of cores."""
    first = group[0].run
    chosen = _spread(group)
    what = f"core cycles per {singular(first.unit)}, by cores{first.cycles_note}"
    found = plain_table("cores", title=f"{heading('stack')}: {first.work}, {first.series}: {what}")
    found.min_width = _TITLE_COLUMNS
    for one in chosen:
        found.add_column(str(one.run.cores), justify="right")
    last = chosen[-1]
    found.add_column(f"of {last.run.cores}", justify="right")
    for name in dict.fromkeys(name for one in chosen for name in one.parts):
        values = [one.parts.get(name) for one in chosen]
        if any(value is None or value > 0 for value in values):
            share = last.parts.get(name)
            found.add_row(name, *map(short, values), percent(None if share is None else share / last.whole))
    found.add_section()
    found.add_row("all", *(short(one.whole) for one in chosen), percent(1.0))
    return found


def _spread(group: Sequence[Stack]) -> list[Stack]:
    """At most so many as a terminal has room for: the first, the last, and others with equal steps between."""
    if len(group) <= _MOST_COLUMNS:
        return list(group)
    last = len(group) - 1
    return [group[round(place * last / (_MOST_COLUMNS - 1))] for place in range(_MOST_COLUMNS)]

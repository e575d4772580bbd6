# SPDX-License-Identifier: BSD-3-Clause
"""Sections about one run: who takes its hot lines, and a flame graph of the cycles that its cores wait."""

from functools import partial

from analysis.report.callers import Taker
from analysis.report.content import STACKS, Cell, Column, Figure, Section, Table
from analysis.report.flame_graph import flame_graph
from analysis.report.markup import bar, breakable, names
from analysis.report.runs import Run
from analysis.report.words import heading, number, percent

_LINES = 10
_FEWEST = 0.01  # of a line's transfers: who has less is one row with the others


def line_takers(run: Run, anchor: str) -> list[Section]:
    """Of each of the hottest lines the functions that access it, with their shares; nothing where no callers are known."""
    if run.transfers_count is False:
        return []
    lines = run.hot_lines(_LINES)
    rows = []
    for line in lines:
        many = [one for one in run.kept.takers.get(line.paddr, ()) if one.transfers_share >= _FEWEST]
        for place, one in enumerate(many):
            rows.append(_row(line.label, line.paddr, one, first=place == 0))
    if not rows:
        return []
    table = Table(
        id=f"{anchor}-takers",
        title="Who takes the hot lines",
        columns=(
            Column(heading("field"), row_header=True),
            Column("physical address", shown=False),
            Column("function"),
            Column("share of the line's transfers", "fraction", percent),
            Column("share of its cycles", "fraction", percent),
            Column("usually called by"),
        ),
        rows=rows,
        note=f"{run.caption}{run.cycles_note}.",
    )
    explanation = (
        "For each hot line, most of all for locks: which functions take it, by way of the lock's or "
        "counter's own code where that has most of the transfers. Shares are of the transfers at which the stack was looked at; "
        "functions below 1 % are left out."
    )
    return [Section("Who takes the hot lines", f"{anchor}-who-takes", explanation, (), (table,))]


def _row(label: str, paddr: int, one: Taker, *, first: bool) -> tuple[str | float | Cell, ...]:
    return (
        Cell(label, breakable(label) if first else ""),
        f"{paddr:#x}",
        Cell(one.function, names([one.function])),
        Cell(one.transfers_share, bar(percent(one.transfers_share), one.transfers_share)),
        one.cycles_share,
        Cell(", ".join(one.called_by), names(one.called_by[:4])),
    )


def waiting(run: Run, anchor: str) -> list[Section]:
    """The flame graph of waiting cycles; nothing where no callers are known."""
    stacks = {tuple(stack.split(";")): cycles for stack, cycles in run.kept.stacks.items()}
    if not any(len(stack) > 2 for stack in stacks):
        return []
    table = Table(
        id=f"{anchor}-stacks",
        title="Stacks that wait",
        columns=(Column("stack, outermost caller first"), Column("cycles waited beyond the L2", "core cycles", number)),
        rows=[(";".join(stack), cycles) for stack, cycles in sorted(stacks.items(), key=lambda item: (-item[1], item[0]))],
        note=f"{run.caption}{run.cycles_note}.",
        kind=STACKS,
        shown=False,
    )
    draw = partial(flame_graph, stacks, "core cycles")
    figure = Figure(f"{anchor}-flame", "Cycles waited, by who called", draw, table, f"{run.caption}{run.cycles_note}.", wide=True)
    explanation = (
        "Each box is a function, as wide as the cycles that it and what it calls wait beyond the L2 cache; below it is its "
        "caller, and on top, in blue, the field that is waited for. Callers are known of the 100 lines that cost most; other "
        "stacks begin with the function that waits."
    )
    return [Section("Where cycles are waited", f"{anchor}-flame-graph", explanation, (figure,), (table,))]

# SPDX-License-Identifier: BSD-3-Clause
"""How the hottest lines are shared, as a section of the report and as tables for the terminal (`line_sharing` works it out)."""

from analysis.report.cells import narrow_heading
from analysis.report.content import Cell, Column, Section, Table, Value
from analysis.report.hot_lines import HotLine
from analysis.report.kept_tables import SHARING_LINES
from analysis.report.line_sharing import Sharing, core_text
from analysis.report.markup import lines as text_lines
from analysis.report.runs import Run
from analysis.report.words import heading, number, short, si
from common.terminal import Sections

_LINES = 5  # of a run's section
_FUNCTIONS = 3  # of some bytes


def sections(run: Run, anchor: str) -> list[Section]:
    """The hottest lines of a run, each with its bytes."""
    if run.transfers_count is False:
        return []
    found = {one.paddr: one for one in run.kept.sharing}
    one_of_each: dict[str, HotLine] = {}
    for line in run.hot_lines(SHARING_LINES):
        if line.paddr in found:
            one_of_each.setdefault(line.label, line)
    shown = [(line, found[line.paddr]) for line in one_of_each.values()][:_LINES]
    rows: list[tuple[Value | Cell, ...]] = []
    for line, shared in shown:
        title = f"“{line.instance}”" if line.instance else f"{line.paddr:#x}"
        for place, part in enumerate(shared.parts):
            rows.append(
                (
                    Cell(line.label, text_lines(line.label, title, shared.sentence) if not place else ""),
                    line.instance,
                    f"{line.paddr:#x}",
                    Cell(shared.kind.value, None if not place else ""),
                    part.offset,
                    part.size,
                    Cell(", ".join(part.fields), text_lines(*part.fields[:2])),
                    Cell(core_text(part.readers), str(part.readers.bit_count())),
                    Cell(core_text(part.writers), str(part.writers.bit_count())),
                    part.counts["transfers_other_socket"],
                    part.counts["transfers_same_socket"],
                    part.cycles,
                    Cell("; ".join(part.places), text_lines(*part.places[:_FUNCTIONS])),
                )
            )
    if not rows:
        return []
    table = Table(
        id=f"{anchor}-sharing-table",
        title=heading("sharing"),
        columns=(
            Column("line", row_header=True),
            Column("instance", shown=False),
            Column("physical address", shown=False),
            Column("sharing", filter=True),
            Column("offset", "bytes", number),
            Column("size", "bytes", number),
            Column(heading("field")),
            Column("cores that read"),
            Column("cores that write"),
            Column(heading("cross_socket"), "count", number),
            Column(heading("same_socket"), "count", number),
            Column(heading("cycles"), "core cycles", short),
            Column(heading("instructions")),
        ),
        rows=rows,
        note=f"{run.caption}{run.cycles_note}.",
    )
    explanation = (
        "The bytes of the hottest lines and how many cores read and write them. Two cores share a line truly if one writes a "
        "byte that the other touches, and falsely if one writes, but nothing that the other touches: fields apart would end that."
    )
    return [Section(heading("sharing"), f"{anchor}-sharing", explanation, (), (table,))]


def table(shared: Sharing, title: str) -> Sections:
    """One line for the terminal."""
    words = [heading("cross_socket"), heading("same_socket"), heading("cycles")]
    found = Sections(
        *map(narrow_heading, ("bytes", "cores that read", "cores that write", *words)), title=f"{title}: {shared.sentence}"
    )
    for part in shared.parts:
        found.add_text(", ".join(part.fields[:2]), "bold")
        found.add_row(
            f"{part.offset}-{part.offset + part.size - 1}" if part.size > 1 else str(part.offset),
            str(part.readers.bit_count()),
            str(part.writers.bit_count()),
            si(part.counts["transfers_other_socket"]),
            si(part.counts["transfers_same_socket"]),
            si(part.cycles),
        )
        for place in part.places[:_FUNCTIONS]:
            found.add_text(place, indent=2)
        if len(part.places) > _FUNCTIONS:
            found.add_text(f"and {len(part.places) - _FUNCTIONS} more", "dim", 2)
    return found

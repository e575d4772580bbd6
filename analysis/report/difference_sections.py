# SPDX-License-Identifier: BSD-3-Clause
"""Sections with two runs beside each other: of a workload on exactly two kernels or machines, or those that were asked for."""

from collections.abc import Sequence

from analysis.report import differences
from analysis.report.comparisons import alike, change, thing_named
from analysis.report.content import Cell, Column, Section, Table
from analysis.report.differences import Difference
from analysis.report.markup import breakable
from analysis.report.runs import Run
from analysis.report.series import by_number
from analysis.report.words import heading, percent, rate

_TWO_OF = ("kernel", "machine")


def sections(runs: Sequence[Run], anchor: str) -> list[Section]:
    """Of a workload that ran on exactly two kernels, or on exactly two machines: those runs of both with the most cores."""
    found = []
    for thing in _TWO_OF:
        if len({thing_named(run, thing) for run in runs}) == 2:
            found += [
                section(one, other, f"{anchor}-diff-{thing}-{place}") for place, (one, other) in enumerate(_most(runs, thing), 1)
            ]
    return found


def _most(runs: Sequence[Run], thing: str) -> list[list[Run]]:
    """Pairs of runs that differ in ``thing`` alone, of those that are alike but for their cores the one with the most.

    The first is the stock kernel, or the machine as it is.
    """
    pairs = sorted((group for group in alike(runs, thing) if len(group) == 2), key=lambda pair: pair[0].cores)
    kept = {tuple(sorted((key, value) for key, value in pair[0].settings.items() if key != "cores")): pair for pair in pairs}
    ordered = [sorted(pair, key=lambda run: len(run.point.get("machine_changes") or ())) for pair in kept.values()]
    return sorted(ordered, key=lambda pair: by_number(pair[0].series))


def section(one: Run, other: Run, anchor: str) -> Section:
    """The second beside the first: throughput, what differs, the fields whose lines move."""
    found = differences.difference(one, other)
    said = [f"A is {one.caption}. B is {other.caption}.", differences.sentence(found)]
    if found.fields:
        said.append(f"Of the fields whose lines move between cores {differences.counts(found.fields)}.")
    else:
        said.append("Hardly a line moves between cores in either run.")
    tables = [_settings(found, anchor)] if found.settings else []
    tables += [_fields(found, anchor)] if found.fields else []
    return Section("Two runs beside each other", anchor, " ".join(said), (), tuple(tables), f"{_name(one, other)}")


def _name(one: Run, other: Run) -> str:
    """B beside A, in the words by which they are told apart."""
    if one.workload != other.workload:
        return f"{other.workload} beside {one.workload}"
    if one.series != other.series:
        apart = [[word for word in a.series_words if word not in b.series_words] for a, b in ((one, other), (other, one))]
        return f"{', '.join(apart[1]) or other.series} beside {', '.join(apart[0]) or one.series}"
    return f"{other.folder.name} beside {one.folder.name}"


def _settings(found: Difference, anchor: str) -> Table:
    return Table(
        id=f"{anchor}-settings",
        title="What differs",
        columns=(Column("setting", row_header=True), Column("A"), Column("B")),
        rows=[(name, before or "none", after or "none") for name, before, after in found.settings],
    )


def _fields(found: Difference, anchor: str) -> Table:
    per_unit, share = heading("all_transfers_per_unit"), heading("share_of_cycles")
    return Table(
        id=f"{anchor}-fields",
        title="Fields whose lines move between cores, the largest change first",
        columns=(
            Column("field", row_header=True),
            Column(f"A: {per_unit}", "count", rate),
            Column(f"B: {per_unit}", "count", rate),
            Column("B over A", "fraction", str),
            Column(f"A: {share}", "fraction", percent),
            Column(f"B: {share}", "fraction", percent),
            Column("became", filter=True),
        ),
        rows=[
            (
                Cell(field.name, breakable(field.name)),
                field.before,
                field.after,
                Cell(field.after / field.before if field.before else None, change(field.before, field.after)),
                field.share_before,
                field.share_after,
                field.fate.value,
            )
            for field in found.fields
        ],
        note=f"Engine: {', '.join(dict.fromkeys((found.one.engine, found.other.engine)))}.",
    )

# SPDX-License-Identifier: BSD-3-Clause
"""Sections on what fixes bring: a table and figures for each scheme of `analysis.report.ablations`."""

from functools import partial

from analysis.report import figures
from analysis.report.ablations import Ablation
from analysis.report.comparisons import change
from analysis.report.content import Cell, Column, Figure, Section, Table, Value
from analysis.report.words import heading, number, rate, singular


def section(ablation: Ablation, anchor: str) -> Section:
    """The runs of an ablation beside each other."""
    first = ablation.first
    rates = f"{first.unit} per second and core"
    note = f"{first.caption_without_kernel}, {first.source}."
    table = Table(
        id=f"{anchor}-table",
        title=ablation.scheme.title,
        columns=(
            Column("kernel", row_header=True),
            Column("fixes", shown=False),
            Column(heading("per_core", first.unit), rates, number),
            *(Column(text, "ratio", _ratio) for text in ablation.headings),
            Column(heading("cross_socket_per_unit"), "count", rate),
            Column(heading("trials"), "count", number),
            Column("lowest trial", rates, number),
            Column("highest trial", rates, number),
        ),
        rows=_rows(ablation),
        note=note,
    )
    throughputs = partial(_throughputs, ablation)
    drawn = [Figure(f"{anchor}-throughput", heading("per_core", first.unit), throughputs, table, note)]
    if all(run.means["per_unit"] is not None for run in ablation.runs):
        title = heading("cross_socket_per_unit")
        drawn.append(Figure(f"{anchor}-transfers", title, partial(_transfers, ablation), table, note))
    words = [ablation.scheme.explanation]
    trials = max(len(run.trials) for run in ablation.runs)
    if trials > 1:
        words.append(f"It is the mean of up to {trials} trials, whose range is the dark line across its end.")
    return Section(f"{ablation.scheme.title}: {first.work}", anchor, " ".join(words), tuple(drawn), (table,))


def _ratio(value: float) -> str:
    return change(1.0, value)


def _rows(ablation: Ablation) -> list[tuple[Value | Cell, ...]]:
    rows: list[tuple[Value | Cell, ...]] = []
    for label, run, ratios in zip(ablation.labels, ablation.runs, ablation.ratios, strict=True):
        seen = run.throughput
        steps = [Cell(None, "") if ratio is None else Cell(ratio, _ratio(ratio)) for ratio in ratios]
        rows.append((label, "+".join(run.fixes), seen.mean, *steps, run.means["per_unit"], seen.count, seen.low, seen.high))
    return rows


def _throughputs(ablation: Ablation) -> str:
    means = [run.throughput.mean for run in ablation.runs]
    ranges = [(run.throughput.low, run.throughput.high) if len(run.trials) > 1 else None for run in ablation.runs]
    along = f"{ablation.first.unit} per second and core"
    return figures.bars(ablation.labels, [figures.Bars("", means, _with_changes(ablation, means), ranges)], along=along)


def _transfers(ablation: Ablation) -> str:
    amounts = [run.means["per_unit"] or 0.0 for run in ablation.runs]
    along = f"cross-socket transfers per {singular(ablation.first.unit)}"
    return figures.bars(ablation.labels, [figures.Bars("", amounts, _with_changes(ablation, amounts))], along=along, colour=1)


def _with_changes(ablation: Ablation, amounts: list[float]) -> list[str]:
    """Each amount and, but for the first, what it is of the run that it is measured against."""
    texts = [f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}" for amount in amounts]
    return [f"{text}  ({one})" if one else text for text, one in zip(texts, ablation.changes(amounts), strict=True)]

# SPDX-License-Identifier: BSD-3-Clause
"""Sections on how workloads scale: throughput of each, and what is left of it on the most cores."""

from collections.abc import Sequence
from functools import partial

from analysis.report import figures
from analysis.report.cells import not_converged
from analysis.report.comparisons import Kept
from analysis.report.content import Cell, Column, Figure, Section, Table, Value
from analysis.report.markup import lines
from analysis.report.paper import load_paper
from analysis.report.run_sections import share_of_transfers
from analysis.report.runs import Run
from analysis.report.series import by_series
from analysis.report.words import heading, number, percent, rate

_PARTS = ("user", "system", "idle")
_MANY = 4
"""Series of which a summary draws bars side by side for each workload; of more, each is a row with its name."""


def scaling(runs: Sequence[Run], anchor: str, width: float | None = None) -> Section:
    """The runs of one workload by series and cores; ``width`` as in `tables.show`."""
    table = _table(runs, anchor, width)
    drawn = []
    if len({run.cores for run in runs}) > 1:
        note = f"{_same_work(runs)}; engine: {_engines(runs)}"
        per_core = heading("per_core", runs[0].unit)
        drawn.append(Figure(f"{anchor}-scaling", "Throughput per core", partial(_throughput, runs, per_core), table, f"{note}."))
        if all(run.means[part] is not None for run in runs for part in _PARTS):
            unit_time = partial(_time_per_unit, runs)
            drawn.append(
                Figure(f"{anchor}-time", "Core time per unit of work", unit_time, _times(runs, anchor, f"{note}."), f"{note}.")
            )
    words = ["Throughput: a flat curve is perfect scaling." if drawn else ""]
    if drawn and any(len(run.trials) > 1 for run in runs):
        words.append("A point is the mean of its trials, its bar their range.")
    if len(drawn) > 1:
        words.append("Core time: what a unit of work costs the cores; with perfect scaling it stays the same.")
    application = load_paper().applications.get(runs[0].application)
    if application is not None and application.clients and all(_clients_in_guest(run) for run in runs):
        words.append(
            "The load comes from clients in the guest, over the loopback device, each on a core that it shares with a server: "
            "their time is in these figures."
        )
    return Section("Throughput", f"{anchor}-throughput", " ".join(filter(None, words)), tuple(drawn), (table,))


def _clients_in_guest(run: Run) -> bool:
    """Clients behind the network card say what they counted."""
    return "load" not in run.metrics


def _engines(runs: Sequence[Run]) -> str:
    return ", ".join(dict.fromkeys(run.engine for run in runs))


def _same_work(runs: Sequence[Run]) -> str:
    works = dict.fromkeys(run.work for run in runs)
    return next(iter(works)) if len(works) == 1 else runs[0].workload


def _table(runs: Sequence[Run], anchor: str, width: float | None) -> Table:
    several = any(len(run.trials) > 1 for run in runs)
    unit = runs[0].unit
    rates = f"{unit} per second and core"
    base: dict[str, float] = {}
    rows: list[tuple[Value | Cell, ...]] = []
    for run in runs:
        seen, means = run.throughput, run.means
        reference = base.setdefault(run.series, seen.mean)
        mean = lines(
            number(seen.mean),
            f"mean of {seen.count}{'' if seen.half_width is None else f', ± {number(seen.half_width)}'}"
            if seen.count > 1
            else "",
            f"{number(seen.low)} to {number(seen.high)}" if seen.count > 1 else "",
            not_converged(seen, width),
        )
        parameters = run.parameters if len({one.parameters for one in runs}) > 1 else ""  # else they are in the note
        rows.append(
            (
                Cell(run.series, lines(run.series, parameters, f"replies: {run.replies}" if run.replies else "")),
                run.parameters,
                run.replies,
                run.cores,
                Cell(seen.mean, mean),
                seen.count,
                seen.low,
                seen.high,
                seen.half_width,
                Cell(seen.high, None if seen.count > 1 else ""),
                Cell(seen.mean / reference) if reference else Cell(None, ""),
                *(means[part] for part in _PARTS),
                means["transfers"],
                means["per_unit"],
                *(share_of_transfers(run, means[what]) for what in ("attributed", "unexplained")),
            )
        )
    return Table(
        id=f"{anchor}-table",
        title=heading("per_core", unit),
        kind="throughput",
        columns=(
            Column("series", row_header=True, filter=True),
            Column("parameters", shown=False),
            Column("replies", shown=False),
            Column("cores", "count", number, filter=True),
            Column(heading("per_core", unit), rates, number),
            Column(heading("trials"), "count", number, shown=False),
            Column("lowest trial", rates, number, shown=False),
            Column("highest trial", rates, number, shown=False),
            Column(f"{heading('interval')}, half", rates, number, shown=False),
            Column(heading("best"), rates, number, shown=several),
            Column(heading("relative"), "fraction", "{:.2f}".format),
            *(Column(part, "fraction", percent) for part in _PARTS),
            Column(heading("cross_socket"), "count", number),
            Column(heading("cross_socket_per_unit"), "count", rate),
            Column(heading("attributed"), "fraction", percent),
            Column(heading("unexplained"), "fraction", percent),
        ),
        rows=rows,
        note=f"{_same_work(runs)}; engine: {_engines(runs)}.",
    )


def _throughput(runs: Sequence[Run], along: str) -> str:
    found = []
    for place, (label, curve) in enumerate(by_series(runs).items()):
        seen = [run.throughput for run in curve]
        ranges = [(one.low, one.high) for one in seen] if any(one.count > 1 for one in seen) else ()
        points = [(run.cores, one.mean) for run, one in zip(curve, seen, strict=True)]
        found.append(figures.Curve(label, points, ranges, place, place))
    return figures.curves(found, across="cores", along=along)


def _microseconds(run: Run, part: str) -> float | None:
    share, mean = run.means[part], run.throughput.mean
    return None if share is None or not mean else 1e6 * share / mean


def _times(runs: Sequence[Run], anchor: str, note: str) -> Table:
    return Table(
        id=f"{anchor}-times",
        title="Core time per unit of work",
        columns=(
            Column("series", row_header=True),
            Column("cores", "count", number),
            *(Column(part, "µs", rate) for part in _PARTS),
        ),
        rows=[(run.series, run.cores, *(_microseconds(run, part) for part in _PARTS)) for run in runs],
        note=note,
    )


def _time_per_unit(runs: Sequence[Run]) -> str:
    """A curve for each part of the time of each series; parts differ in colour and marker, series in the line."""
    series = by_series(runs)
    found = []
    for dashes, (label, curve) in enumerate(series.items()):
        for colour, part in enumerate(_PARTS):
            points = [(run.cores, time) for run in curve if (time := _microseconds(run, part)) is not None]
            if points:
                found.append(figures.Curve(f"{part}, {label}" if len(series) > 1 else part, points, (), colour, dashes))
    return figures.curves(found, across="cores", along="µs of core time per unit")


def summary(entries: Sequence[Kept], anchor: str) -> Section:
    """The paper's summary: per workload, throughput per core on the most cores relative to one core."""
    engines = ", ".join(dict.fromkeys(entry.most.engine for entry in entries))
    table = Table(
        id=f"{anchor}-kept",
        title="Throughput per core relative to one core",
        columns=(
            Column("workload", row_header=True, filter=True),
            Column("series", filter=True),
            Column("cores", "count", number),
            Column("on one core", "units per second", number),
            Column("on each of the most cores", "units per second", number),
            Column(heading("relative"), "fraction", "{:.2f}".format),
        ),
        rows=[
            (one.workload, one.series, one.most.cores, one.one.throughput.mean, one.most.throughput.mean, one.ratio)
            for one in entries
        ],
        note=f"Engine: {engines}.",
    )
    figure = Figure(f"{anchor}-summary", table.title, partial(_summary, entries), table, table.note)
    explanation = "Throughput per core on the most cores, relative to one core: 1 is perfect scaling."
    return Section("How much of one core is left", f"{anchor}-left", explanation, (figure,), (table,))


def _summary(entries: Sequence[Kept]) -> str:
    workloads = list(dict.fromkeys(one.workload for one in entries))
    series = list(dict.fromkeys(one.series for one in entries))
    along = "relative to one core"
    if len(series) > _MANY:
        labels = [f"{one.workload}, {one.series}" for one in entries]
        bars = figures.Bars("", [one.ratio for one in entries], [f"{one.ratio:.2f}" for one in entries])
        return figures.bars(labels, [bars], along=along, mark=1)
    groups = []
    for name in series:
        ratios = {one.workload: one.ratio for one in entries if one.series == name}
        lengths = [ratios.get(workload) for workload in workloads]
        groups.append(figures.Bars(name, lengths, ["" if length is None else f"{length:.2f}" for length in lengths]))
    return figures.bars(workloads, groups, along=along, mark=1)

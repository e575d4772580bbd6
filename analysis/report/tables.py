# SPDX-License-Identifier: BSD-3-Clause
"""What the terminal shows of runs: a sentence on each workload, one table of all of them, and the long tables if wanted."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from analysis.report.ablations import Ablation, ablations
from analysis.report.cells import interval_cell, narrow_heading, range_cell, times
from analysis.report.comparisons import Comparison, change, comparisons
from analysis.report.detail_tables import show_details
from analysis.report.finding import findings
from analysis.report.runs import Run
from analysis.report.series import by_series, by_workload, common_words, largest
from analysis.report.words import amounts, heading, percent, rate
from common.terminal import Sections


def show(
    runs: Sequence[Run], console: Console | None = None, *, details: bool = False, steps: bool = False, width: float | None = None
) -> None:
    """Print the sentences on each workload and one table of throughput; with ``details`` the long tables too.

    ``steps`` sets runs that differ only in their kernel's fixes beside each other (`ablations`). ``width`` is what
    trials were run for: means that are not known to that share of themselves are marked.

    Raises:
        Failure: bad-input, when a table of a run cannot be read.
    """
    console = console or Console()
    groups = list(by_workload(runs).values())
    for group in groups:
        console.print(Text(_title(group), "bold"))
        for text in findings(group):
            console.print(Text(text))
        for sentence in dict.fromkeys(run.abandoned for run in largest(group) if run.abandoned):
            console.print(Text(sentence))
        console.print()
    console.print(overview_table(runs, console.width, width))
    if steps or details:
        for ablation in ablations(runs):
            console.print()
            console.print(ablation_table(ablation, console.width, width))
    if details:
        for group in groups:
            console.print()
            show_details(group, console)


def _title(group: Sequence[Run]) -> str:
    """Workload, and its parameters where all runs have the same."""
    return group[0].work if len({run.work for run in group}) == 1 else group[0].workload


def overview_table(runs: Sequence[Run], columns: int, width: float | None = None) -> Sections:
    """Throughput of every run, each a mean over its trials, by workload, series and cores, for a console of so many columns.

    ``relative`` is to the series' fewest cores; a column for each thing in which series differ sets them beside one of them.
    ``width`` as in `show`.
    """
    amount, several = amounts(columns), any(len(run.trials) > 1 for run in runs)
    units = {run.unit for run in runs}
    compared = comparisons(runs)
    common = common_words(runs)
    headings = [heading("cores"), heading("per_core", units.pop() if len(units) == 1 else "units")]
    headings += [heading("trials"), heading("interval")] if several else []
    headings += [heading("relative"), *(f"over {one.base or 'the first'}" for one in compared), "idle"]
    headings += [heading("cross_socket_per_unit")]
    notes = {run.cycles_note for run in runs}
    title = "Throughput" + (f": {', '.join(common)}" if common else "") + (notes.pop() if len(notes) == 1 else "")
    table = Sections(*map(narrow_heading, headings), title=title)
    for group in by_workload(runs).values():
        table.add_text(f"{_title(group)}: {group[0].unit}", "bold")
        for curve in by_series(group).values():
            label = ", ".join(word for word in curve[0].series_words if word not in common)
            if label or len(by_series(group)) > 1:
                table.add_text(label or curve[0].series, indent=1)
            for run in curve:
                seen, means = run.throughput, run.means
                first = curve[0].throughput.mean
                cells = [str(run.cores), amount(seen.mean)]
                cells += [range_cell(seen, amount), interval_cell(seen, width, amount)] if several else []
                cells += [times(seen.mean / first) if first else "", *(_over(one, run) for one in compared)]
                table.add_row(*cells, percent(means["idle"]), rate(means["per_unit"]))
    return table


def _over(compared: Comparison, run: Run) -> str:
    ratio = compared.ratios.get(run.folder)
    if ratio is None:
        return ""
    return times(ratio.mean) + (f"\n{times(ratio.low)} to\n{times(ratio.high)}" if ratio.trials else "")


def ablation_table(ablation: Ablation, columns: int, width: float | None = None) -> Sections:
    """A row for each kernel of an ablation, with what it is of the runs that it is measured against."""
    first, amount = ablation.first, amounts(columns)
    several = any(len(run.trials) > 1 for run in ablation.runs)
    headings = [heading("per_core", first.unit), *([heading("trials"), heading("interval")] if several else [])]
    headings += [*ablation.headings, heading("cross_socket_per_unit")]
    title = f"{ablation.scheme.title}: {first.caption_without_kernel}, {first.source}"
    table = Sections(*map(narrow_heading, headings), title=title)
    for label, run, ratios in zip(ablation.labels, ablation.runs, ablation.ratios, strict=True):
        seen = run.throughput
        table.add_text(label)
        cells = [amount(seen.mean), *([range_cell(seen, amount), interval_cell(seen, width, amount)] if several else [])]
        cells += ["" if ratio is None else change(1.0, ratio) for ratio in ratios]
        table.add_row(*cells, rate(run.means["per_unit"]))
    return table

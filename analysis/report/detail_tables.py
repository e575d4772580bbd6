# SPDX-License-Identifier: BSD-3-Clause
"""The long tables: time, transfers and trials by cores; lines, bottlenecks and functions of each series' run with the most."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.report import cycle_stacks
from analysis.report.cells import interval_cell, narrow_heading, range_cell, share_of_transfers
from analysis.report.hot_lines import HotLine
from analysis.report.runs import Run
from analysis.report.series import by_series, largest
from analysis.report.words import UNKNOWN, Amount, amount, amounts, heading, number, percent, rate
from common.terminal import Sections, plain_table

_DETAILED = 4
"""Series of a workload of which the terminal shows lines and bottlenecks; of more, of the first and the last."""
_FUNCTIONS = 10


def show_details(group: Sequence[Run], console: Console) -> None:
    """Print the long tables of one workload."""
    shown = amounts(console.width)
    console.print(time_table(group, shown))
    if any(len(run.trials) > 1 for run in group):
        console.print()
        console.print(trials_table(group, shown))
    for stacks in cycle_stacks.stacks(group).values():
        console.print()
        console.print(cycle_stacks.table(stacks))
    each = largest(group)
    chosen = each if len(each) <= _DETAILED else [each[0], each[-1]]
    for run in chosen:
        console.print()
        if run.transfers_count is not False:
            console.print(hot_line_table(run, amount=shown))
            console.print()
            console.print(bottleneck_table(run))
        else:
            console.print(Text(f"{run.caption}: {run.hardly}."))
        console.print(function_table(run))
    if len(chosen) < len(each):
        console.print(f"Lines, bottlenecks and functions of the other {len(each) - len(chosen)} series are in the report.")


def _by_cores(group: Sequence[Run], title: str, headings: Sequence[str]) -> tuple[Sections, list[tuple[Run, bool]]]:
    """An empty table by series and cores; each run, and whether it is the first of its series."""
    table = Sections(*map(narrow_heading, [heading("cores"), *headings]), title=title)
    curves = by_series(group).values()
    return table, [(run, run is curve[0]) for curve in curves for run in curve]


def time_table(group: Sequence[Run], amount: Amount = amount) -> Sections:
    """What the cores of each run of one workload did, and the transfers between sockets."""
    words = ("cross_socket", "cross_socket_per_unit", "attributed", "unexplained")
    table, rows = _by_cores(
        group, f"Time and transfers: {group[0].workload}", ["user", "system", "idle", *(heading(word) for word in words)]
    )
    for run, first in rows:
        if first:
            table.add_text(f"{run.series}{f' ({run.parameters})' if run.parameters else ''}")
        means = run.means
        shares = [percent(means[part]) for part in ("user", "system", "idle")]
        moved = [amount(means["transfers"]), rate(means["per_unit"])]
        table.add_row(
            str(run.cores), *shares, *moved, *(share_of_transfers(run, means[part]) for part in ("attributed", "unexplained"))
        )
        if run.replies:
            table.add_text(f"replies: {run.replies}", "dim", 2)
    return table


def trials_table(group: Sequence[Run], amount: Amount = amount, width: float | None = None) -> Sections:
    """Mean, interval and best of the runs of one workload that have several trials."""
    table, rows = _by_cores(
        group,
        f"Trials: {group[0].workload}",
        [heading("per_core", group[0].unit), *map(heading, ("trials", "interval", "best"))],
    )
    for run, first in rows:
        if first:
            table.add_text(run.series)
        seen = run.throughput
        best = amount(seen.high) if seen.count > 1 else ""
        table.add_row(str(run.cores), amount(seen.mean), range_cell(seen, amount), interval_cell(seen, width, amount), best)
    return table


def hot_line_table(run: Run, count: int = 10, sites: int = 3, amount: Amount = number) -> Sections:
    """The ``count`` hottest lines of a run, each with the ``sites`` accessing instructions that waited longest."""
    words = ("cross_socket", "same_socket", "upgrades", "l3_hits", "dram", "cycles")
    headings = [heading("share_of_transfers"), heading("home"), heading("cores"), *map(heading, words)]
    table = Sections(
        *map(narrow_heading, headings),
        title=f"Hot lines: {run.caption}{run.cycles_note}",
        caption=f"Over each row its {heading('field')}, below it its {heading('instructions')}.",
    )
    for line in run.hot_lines(count):
        counts = line.counts
        dram = [value for value in (counts["dram_local"], counts["dram_remote"]) if value is not None]
        _add_title(table, run, line)
        table.add_row(
            share_of_transfers(run, line.share),
            home_text(run, line),
            str(line.cores),
            amount(counts["transfers_other_socket"]),
            amount(counts["transfers_same_socket"]),
            amount(counts["upgrades"]),
            amount(counts["l3_hits"]),
            amount(sum(dram)) if dram else UNKNOWN,
            amount(line.cycles),
        )
        for site in line.sites[:sites]:
            table.add_text(f"{100 * site.share:3.0f} % {site.function}{f' {site.where}' if site.where else ''}", indent=2)
        if len(line.sites) > sites:
            table.add_text(f"and {len(line.sites) - sites} more", "dim", 8)
    return table


def home_text(run: Run, line: HotLine) -> str:
    """The number of the line's home; empty where the run does not say."""
    home = run.home(line.paddr)
    return "" if home is None else str(home)


def _add_title(table: Sections, run: Run, line: HotLine) -> None:
    text = Text(line.label, "bold")
    if line.instance:
        text.append(f" “{line.instance}”", "not bold")
    if line.others:
        text.append(f", also {', '.join(line.others[:3])}{' and others' if len(line.others) > 3 else ''}", "not bold dim")
    text.append(f", {line.kind} {line.name if line.name != line.kind else ''} {line.paddr:#x}".replace("  ", " "), "not bold dim")
    if line.by_card:
        text.append(", the card is among those who touched it", "not bold")
    if line.similar:
        share = share_of_transfers(run, line.similar_share)
        text.append(f", and {line.similar} more such lines{f', {share}' if share else ''}", "italic not bold")
    table.add_text(text)


def bottleneck_table(run: Run) -> Sections:
    """What each bottleneck of the catalogue costs in a run; the unexplained rest is a row like any other."""
    headings = [heading(word) for word in ("share_of_transfers", "share_of_cycles", "paper_number")]
    table = Sections(*map(narrow_heading, headings), title=f"Bottlenecks: {run.caption}", caption=run.abandoned)
    for share in run.bottlenecks():
        if share.transfers_share < 0.005 and share.cycles_share < 0.01 and share.bottleneck.id != "unexplained":
            continue
        table.add_text(share.title, "bold")
        table.add_row(
            share_of_transfers(run, share.transfers_share), percent(share.cycles_share), str(share.bottleneck.paper or "")
        )
        for what in ("fields", "functions"):
            if top := share.top(what, 3):
                table.add_text(f"{what}: {', '.join(top)}", "dim", 2)
    return table


def function_table(run: Run) -> Table:
    """Where the busy cores were, by samples."""
    table = plain_table(title=f"Functions: {run.caption}")
    table.add_column(heading("samples"), justify="right", no_wrap=True)
    table.add_column(heading("function"), overflow="fold")
    table.add_column(heading("file"), overflow="fold")
    for function, file, share in run.profile(_FUNCTIONS):
        table.add_row(percent(share), function, file or "")
    return table

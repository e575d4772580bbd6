# SPDX-License-Identifier: BSD-3-Clause
"""Tables for the terminal: per-core throughput against cores, and hot lines in the manner of ``perf c2c report``."""

from collections.abc import Sequence
from textwrap import fill

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.report.comparisons import ablation_labels, ablations, change
from analysis.report.estimate import Estimate
from analysis.report.hot_lines import HotLine
from analysis.report.runs import Run
from analysis.report.series import by_workload, largest
from analysis.report.words import UNKNOWN, heading, number, percent, rate

_HEADING_COLUMNS = 12
_DETAILED = 4
"""Series of a workload of which the terminal shows lines and bottlenecks; of more, of the first and the last."""


def show(runs: Sequence[Run], console: Console | None = None, *, lines: int = 10, width: float | None = None) -> None:
    """Print, per workload, throughput against cores and, of each series' run with the most cores, hot lines and bottlenecks.

    Runs that differ only in their kernel's fixes are set beside each other at the end. ``width`` is what trials were run for,
    see `throughput_table`.

    Raises:
        Failure: bad-input, when a table of a run cannot be read.
    """
    console = console or Console()
    for group in by_workload(runs).values():
        console.print(throughput_table(group, width))
        each = largest(group)
        chosen = each if len(each) <= _DETAILED else [each[0], each[-1]]
        for run in chosen:
            if run.transfers_count is not False:
                console.print(hot_line_table(run, lines))
                console.print(bottleneck_table(run))
            else:
                console.print(f"{run.caption}: {run.hardly}.")
        if len(chosen) < len(each):
            console.print(f"Lines and bottlenecks of the other {len(each) - len(chosen)} series are in the report.")
        console.print()
    for group in ablations(runs):
        console.print(ablation_table(group, width))
        console.print()


def share_of_transfers(run: Run, value: float | None) -> str:
    """A share of the run's cross-socket transfers; nothing where there are too few for shares of them."""
    return percent(value) if run.cross_socket_counts is not False else ""


def _add_figures(table: Table, *headings: str) -> None:
    """Add columns of figures; a heading that is wider than its figures goes over several lines."""
    for text in headings:
        table.add_column(fill(text, _HEADING_COLUMNS, break_long_words=False, break_on_hyphens=False), justify="right")


def throughput_table(runs: Sequence[Run], width: float | None = None) -> Table:
    """Runs of one workload, by series and cores, each figure a mean over the trials; ``relative`` is per-core throughput
    relative to the series' fewest cores.

    ``width`` is what trials were run for: means that are not known to that share of themselves are marked."""
    first = runs[0]
    same = f" ({first.parameters})" if first.parameters and len({run.parameters for run in runs}) == 1 else ""
    table = Table(title=f"{first.workload}{same}: {first.unit} per second and core", title_justify="left", title_style="bold")
    table.add_column("series")
    words = [heading(word, first.unit) for word in ("per_core", "relative", "cross_socket", "attributed", "unexplained")]
    _add_figures(table, "cores", *words[:2], "user", "system", "idle", *words[2:])
    several = _add_trial_columns(table, runs)
    base: dict[str, float] = {}
    for run in runs:
        mean, means = run.throughput.mean, run.means
        reference = base.setdefault(run.series, mean)
        table.add_row(
            run.series,
            str(run.cores),
            number(mean),
            f"{mean / reference:.2f}" if reference else "",
            *(percent(means[part]) for part in ("user", "system", "idle")),
            number(means["transfers"]),
            share_of_transfers(run, means["attributed"]),
            share_of_transfers(run, means["unexplained"]),
            *(trial_cells(run, width) if several else []),
        )
    return table


def _add_trial_columns(table: Table, runs: Sequence[Run]) -> bool:
    """Add the columns that `trial_cells` fills, if any run has more than one trial; whether it did."""
    several = any(len(run.trials) > 1 for run in runs)
    if several:
        _add_figures(table, heading("trials"), "from", "to", heading("interval"), heading("best"))
    return several


def trial_cells(run: Run, width: float | None = None) -> list[str]:
    """Number of trials, the range of their work per second and core, the interval of its mean, and the best of them."""
    seen = run.throughput
    if seen.count == 1:
        return ["1", "", "", not_converged(seen, width), ""]
    interval = "" if seen.half_width is None else f"\N{PLUS-MINUS SIGN} {number(seen.half_width)}"
    interval = "\n".join(filter(None, [interval, not_converged(seen, width)]))
    return [str(seen.count), number(seen.low), number(seen.high), interval, number(seen.high)]


def not_converged(seen: Estimate, width: float | None) -> str:
    """Says so where trials were run for a mean that is known to a share ``width`` of itself, and it is not."""
    return "" if width is None or seen.within(width) else "did not converge"


def ablation_table(group: Sequence[Run], width: float | None = None) -> Table:
    """One fix after another: a row for each step of the chain, with what it is of the step before and of the first."""
    first = group[0]
    table = Table(
        title=f"One fix after another: {first.caption_without_kernel}, {first.source}",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("kernel")
    _add_figures(table, heading("per_core", first.unit), "this step", "all steps", heading("cross_socket_per_unit"))
    several = _add_trial_columns(table, group)
    for label, before, run in zip(ablation_labels(group), [first, *group[:-1]], group, strict=True):
        mean = run.throughput.mean
        steps = ("", "") if run is first else (change(before.throughput.mean, mean), change(first.throughput.mean, mean))
        cells = trial_cells(run, width) if several else []
        table.add_row(label, number(mean), *steps, rate(run.means["per_unit"]), *cells)
    return table


def hot_line_table(run: Run, count: int = 10, sites: int = 3) -> Table:
    """The ``count`` hottest lines of a run, each with the ``sites`` accessing instructions that waited longest."""
    table = Table(
        title=f"Hot lines: {run.caption}{run.cycles_note}",
        title_justify="left",
        title_style="bold",
        show_lines=True,
    )
    _add_figures(table, heading("share_of_transfers"))
    table.add_column(heading("field"), overflow="fold")
    _add_figures(table, "cores", *map(heading, ("cross_socket", "same_socket", "upgrades", "l3_hits", "dram", "cycles")))
    table.add_column(heading("instructions"), overflow="fold")
    for line in run.hot_lines(count):
        counts = line.counts
        dram = [value for value in (counts["dram_local"], counts["dram_remote"]) if value is not None]
        table.add_row(
            share_of_transfers(run, line.share),
            _title(run, line),
            str(line.cores),
            number(counts["transfers_other_socket"]),
            number(counts["transfers_same_socket"]),
            number(counts["upgrades"]),
            number(counts["l3_hits"]),
            number(sum(dram)) if dram else UNKNOWN,
            number(line.cycles),
            _instructions(line, sites),
        )
    return table


def _title(run: Run, line: HotLine) -> Text:
    text = Text(line.label, style="bold")
    if line.instance:
        text.append(f"\n“{line.instance}”", style="not bold")
    if line.others:
        text.append(f"\nalso {', '.join(line.others[:3])}{', ...' if len(line.others) > 3 else ''}", style="not bold dim")
    text.append(f"\n{line.kind} {line.name if line.name != line.kind else ''} {line.paddr:#x}", style="not bold dim")
    if line.similar:
        share = share_of_transfers(run, line.similar_share)
        text.append(f"\nand {line.similar} more such lines{f', {share}' if share else ''}", style="italic not bold")
    return text


def _instructions(line: HotLine, count: int) -> Text:
    text = Text()
    for site in line.sites[:count]:
        text.append(f"{100 * site.share:3.0f} % {site.function}{f' {site.where}' if site.where else ''}\n")
    if len(line.sites) > count:
        text.append(f"      and {len(line.sites) - count} more\n", style="dim")
    text.rstrip()
    return text


def bottleneck_table(run: Run) -> Table:
    """What each bottleneck of the catalogue costs in a run; the unexplained rest is a row like any other."""
    table = Table(
        title=f"Bottlenecks: {run.caption}",
        title_justify="left",
        title_style="bold",
        caption=run.abandoned or None,
        caption_justify="left",
    )
    _add_figures(table, heading("share_of_transfers"), heading("share_of_cycles"))
    table.add_column("bottleneck", overflow="fold")
    _add_figures(table, "no. in the paper")
    for text in ("fields", "functions"):
        table.add_column(text, overflow="fold")
    for share in run.bottlenecks():
        if share.transfers_share < 0.005 and share.cycles_share < 0.01 and share.bottleneck.id != "unexplained":
            continue
        table.add_row(
            share_of_transfers(run, share.transfers_share),
            percent(share.cycles_share),
            share.title,
            str(share.bottleneck.paper or ""),
            ", ".join(share.top("fields", 3)),
            ", ".join(share.top("functions", 3)),
        )
    return table

# SPDX-License-Identifier: BSD-3-Clause
"""Tables for the terminal: per-core throughput against cores, and hot lines in the manner of ``perf c2c report``."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.report.comparisons import ablation_labels, ablations, change
from analysis.report.estimate import Estimate
from analysis.report.runs import HotLine, Run
from analysis.report.series import by_workload

UNKNOWN = "\N{EN DASH}"
"""What a table shows for a value that the engine does not know."""


def show(runs: Sequence[Run], console: Console | None = None, *, lines: int = 10, width: float | None = None) -> None:
    """Print, per workload, throughput against cores and, of the run with the most cores, the hot lines and bottlenecks.

    Runs that differ only in their kernel's fixes are set beside each other at the end. ``width`` is what trials were run for,
    see `throughput_table`.

    Raises:
        Failure: bad-input, when a table of a run cannot be read.
    """
    console = console or Console()
    for group in by_workload(runs).values():
        console.print(throughput_table(group, width))
        largest = max(group, key=lambda run: run.cores)
        if largest.totals["transfers_other_socket"] or largest.totals["transfers_same_socket"]:
            console.print(hot_line_table(largest, lines))
            console.print(bottleneck_table(largest))
        else:
            console.print(f"{largest.workload}, {largest.cores} cores: no line moved between cores in the region of interest.")
        console.print()
    for group in ablations(runs):
        console.print(ablation_table(group, width))
        console.print()


def number(value: float | None) -> str:
    """A count with thousands separators; a dash where the engine does not know it."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """A share; a dash where it is not known."""
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def throughput_table(runs: Sequence[Run], width: float | None = None) -> Table:
    """Runs of one workload, by series and cores, each figure a mean over the trials; ``relative`` is per-core throughput
    relative to the series' fewest cores, ``transfers`` are those between sockets.

    ``width`` is what trials were run for: means that are not known to that share of themselves are marked."""
    first = runs[0]
    table = Table(title=f"{first.workload}: {first.unit} per second and core", title_justify="left", title_style="bold")
    for heading in (
        "series",
        "cores",
        f"{first.unit}/s/core",
        "relative",
        "user",
        "system",
        "idle",
        "transfers",
        "attributed",
        "unexplained",
    ):
        table.add_column(heading, justify="left" if heading == "series" else "right")
    several = _add_trial_columns(table, runs)
    base: dict[str, float] = {}
    for run in runs:
        mean, means = run.throughput.mean, run.means
        reference = base.setdefault(run.series, mean)
        table.add_row(
            run.series,
            str(run.cores),
            number(mean),
            f"{mean / reference:.2f}" if reference else UNKNOWN,
            *(percent(means[part]) for part in ("user", "system", "idle")),
            number(means["transfers"]),
            percent(means["attributed"]),
            percent(means["unexplained"]),
            *(trial_cells(run, width) if several else []),
        )
    return table


def _add_trial_columns(table: Table, runs: Sequence[Run]) -> bool:
    """Add the columns that `trial_cells` fills, if any run has more than one trial; whether it did."""
    several = any(len(run.trials) > 1 for run in runs)
    for heading in ("trials", "from", "to", "95 % interval", "best, as the paper") if several else ():
        table.add_column(heading, justify="right")
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
        title=f"One fix after another: {first.workload}, {first.cores} cores, {first.source} ({first.engine} engine)",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("kernel")
    for heading in (f"{first.unit}/s/core", "this step", "all steps", "transfers per unit"):
        table.add_column(heading, justify="right")
    several = _add_trial_columns(table, group)
    for label, before, run in zip(ablation_labels(group), [first, *group[:-1]], group, strict=True):
        mean = run.throughput.mean
        steps = ("", "") if run is first else (change(before.throughput.mean, mean), change(first.throughput.mean, mean))
        rate = run.over_trials(lambda trial: trial.transfers_per_unit)
        cells = trial_cells(run, width) if several else []
        table.add_row(label, number(mean), *steps, UNKNOWN if rate is None else f"{rate:,.3g}", *cells)
    return table


def hot_line_table(run: Run, count: int = 10, sites: int = 3) -> Table:
    """The ``count`` hottest lines of a run, each with its ``sites`` costliest call sites."""
    table = Table(
        title=f"Hot lines: {run.workload}, {run.cores} cores ({run.engine_facts.caption})",
        title_justify="left",
        title_style="bold",
        show_lines=True,
    )
    table.add_column("share", justify="right")
    table.add_column("type.field", overflow="fold")
    for heading in ("cores", "other socket", "same socket", "upgrades", "L3", "DRAM", "cycles"):
        table.add_column(heading, justify="right")
    table.add_column("call sites (share of the line's cycles)", overflow="fold")
    for line in run.hot_lines(count):
        counts = line.counts
        dram = [value for value in (counts["dram_local"], counts["dram_remote"]) if value is not None]
        table.add_row(
            percent(line.share),
            _title(line),
            str(line.cores),
            number(counts["transfers_other_socket"]),
            number(counts["transfers_same_socket"]),
            number(counts["upgrades"]),
            number(counts["l3_hits"]),
            number(sum(dram)) if dram else UNKNOWN,
            number(line.cycles),
            _call_sites(line, sites),
        )
    return table


def _title(line: HotLine) -> Text:
    text = Text(line.label, style="bold")
    if line.instance:
        text.append(f"\n“{line.instance}”", style="not bold")
    if line.others:
        text.append(f"\nalso {', '.join(line.others[:3])}{', ...' if len(line.others) > 3 else ''}", style="not bold dim")
    text.append(f"\n{line.kind} {line.name if line.name != line.kind else ''} {line.paddr:#x}", style="not bold dim")
    if line.similar:
        text.append(f"\nand {line.similar} more such lines, {percent(line.similar_share)}", style="italic not bold")
    return text


def _call_sites(line: HotLine, count: int) -> Text:
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
        title=f"Bottlenecks: {run.workload}, {run.cores} cores ({run.engine} engine)", title_justify="left", title_style="bold"
    )
    for heading in ("transfers", "cycles", "bottleneck", "paper", "fields", "functions"):
        table.add_column(heading, justify="right" if heading in ("transfers", "cycles", "paper") else "left", overflow="fold")
    for share in run.bottlenecks():
        if share.transfers_share < 0.005 and share.cycles_share < 0.01 and share.bottleneck.id != "unexplained":
            continue
        table.add_row(
            percent(share.transfers_share),
            percent(share.cycles_share),
            share.title,
            str(share.bottleneck.paper or UNKNOWN),
            ", ".join(share.top("fields", 3)),
            ", ".join(share.top("functions", 3)),
        )
    return table

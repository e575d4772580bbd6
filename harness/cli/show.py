# SPDX-License-Identifier: BSD-3-Clause
"""`run.py show RUN`: one run looked at: its functions, lines and cycles, or those of a field, a core or two sockets."""

import argparse
from collections import defaultdict

from rich.table import Table

from analysis.attribute.tables import read_table
from analysis.report import cycle_stacks, line_sharing, sharing, windows
from analysis.report.detail_tables import function_table
from analysis.report.finding import cause
from analysis.report.runs import Run
from analysis.report.words import heading, number, percent, rate
from common.arguments import positive
from common.columns import lines
from common.outcome import bad_input
from common.terminal import console, plain_table
from harness.cli import which

_LINES = 5


def configure(parser: argparse.ArgumentParser) -> None:
    which.add_run_argument(parser, "run")
    which.add_output_option(parser)
    parser.add_argument("--field", metavar="TEXT", help="lines whose field has TEXT in it: dentry.d_lockref")
    parser.add_argument("--core", type=int, metavar="N", help="one core: its cycles and functions")
    parser.add_argument("--sockets", metavar="A:B", help="what two sockets send each other: 0:3")
    parser.add_argument("--lines", type=positive, default=_LINES, metavar="N", help="how many lines to show (%(default)s)")


def main(arguments: argparse.Namespace) -> int:
    run = Run(which.run_of(arguments.run, arguments.output))
    shown = console()
    print(lines(run.caption, shown.width))
    chosen = [arguments.field, arguments.core, arguments.sockets]
    if chosen.count(None) == len(chosen):
        print(lines(cause(run), shown.width))
        _print(sampled) if (sampled := windows.table(run)) is not None else None
        _print(cycle_stacks.table([found])) if (found := cycle_stacks.stack(run)) is not None else None
        _print(function_table(run))
        _show_lines(run, "", arguments.lines)
    if arguments.field is not None:
        _show_lines(run, arguments.field, arguments.lines)
    if arguments.core is not None:
        _print(core_table(run, arguments.core))
        _print(core_functions(run, arguments.core))
    if arguments.sockets is not None:
        _print(socket_table(run, *_pair(run, arguments.sockets)))
    return 0


def _print(table: Table) -> None:
    print()
    console().print(table)


def _show_lines(run: Run, text: str, count: int) -> None:
    """The hottest lines whose field has ``text`` in it, each with its bytes."""
    if not text and run.transfers_count is False:
        print(lines(f"\n{run.hardly[:1].upper()}{run.hardly[1:]}.", console().width))
        return
    hot = [line for line in run.hot_lines(500, per_label=500) if any(text in name for name in (line.label, *line.others))]
    if text and not hot:
        raise bad_input(f"No line of the {run.folder.name} that moves between cores has {text!r} in its field.", _SHOW_ALL)
    found = line_sharing.sharing(run.folder, [line.paddr for line in hot[:count]])
    for line in hot[:count]:
        if line.paddr in found:
            name = f"{line.label}{f' “{line.instance}”' if line.instance else ''} {line.paddr:#x}"
            _print(sharing.table(found[line.paddr], name))
    if len(hot) > count:
        print(f"\nand {len(hot) - count:,} more lines (--lines N shows more).")


_SHOW_ALL = "`run.py show RUN` without options names the hottest; `--lines N` more of them."


def core_table(run: Run, core: int) -> Table:
    """Where one core's cycles went.

    Raises:
        Failure: bad-input, for a core that the machine does not have or the run did not use.
    """
    rows = {row["core"]: row for row in read_table(run.folder, "cores").to_pylist()}
    used = run.point.get("core_list") or sorted(rows)
    if core not in rows or core not in used:
        raise bad_input(f"The run does not use core {core}.", f"It uses {line_sharing.core_text(sum(1 << one for one in used))}.")
    row = rows[core]
    table = plain_table(title=f"Core {core}: {row['cycles']:,} cycles, {row['instructions']:,} instructions{run.cycles_note}")
    table.add_column("what")
    table.add_column("core cycles", justify="right")
    table.add_column("share", justify="right")
    for column, name in cycle_stacks.PARTS.items():
        value = row[column]
        table.add_row(name, number(value), percent(None if value is None else value / row["cycles"] if row["cycles"] else 0.0))
    return table


def core_functions(run: Run, core: int, count: int = 10) -> Table:
    """Where one core was found by sampling."""
    weights: dict[tuple[str, str], int] = defaultdict(int)
    for row in read_table(run.folder, "samples", ["core", "function", "file", "count"]).to_pylist():
        if row["core"] == core:
            weights[(row["function"], row["file"] or "")] += row["count"]
    table = plain_table(title=f"Functions of core {core}")
    table.add_column(heading("samples"), justify="right", no_wrap=True)
    table.add_column("function", overflow="fold")
    table.add_column("file", overflow="fold")
    total = sum(weights.values())
    for (function, file), weight in sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:count]:
        table.add_row(percent(weight / total), function, file)
    return table


def socket_table(run: Run, one: int, other: int) -> Table:
    """Messages between two sockets by kind, in both directions; or within one."""
    units = int(run.metrics.get("units") or 0)
    table = plain_table(title=f"Messages between socket {one} and socket {other}")
    for text in ("home", "requester", "kind"):
        table.add_column(text)
    for text in ("messages", "bytes", f"messages for each of the {run.unit}"):
        table.add_column(text, justify="right")
    for row in read_table(run.folder, "matrix").to_pylist():
        if {row["home"], row["requester"]} == {one, other}:
            each = row["messages"] / units if units else None
            cells = [str(row["home"]), str(row["requester"]), row["kind"], number(row["messages"]), number(row["bytes"])]
            table.add_row(*cells, rate(each))
    return table


def _pair(run: Run, text: str) -> tuple[int, int]:
    """The sockets of A:B.

    Raises:
        Failure: bad-input, for sockets that the machine does not have.
    """
    sockets = int(run.point["machine"]["sockets"])
    parts = text.split(":")
    if len(parts) != 2 or not all(part.isdecimal() and int(part) < sockets for part in parts):
        raise bad_input(f"--sockets {text} is not A:B with sockets of the machine, 0 to {sockets - 1}.", "Write for example 0:1.")
    return int(parts[0]), int(parts[1])

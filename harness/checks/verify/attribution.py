# SPDX-License-Identifier: BSD-3-Clause
"""Does the report name what is shared? All cores open and close one file, and which line pays for it is known.

It is the lockref of the file's dentry: Linux 6.1's path walk takes a reference on the dentry (lockref_get_not_dead) and drops it
(dput, lockref_put_return) with compare-and-exchange on the lockref's word.
"""

import argparse

from rich.table import Table

from analysis.report.detail_tables import hot_line_table
from analysis.report.hot_lines import HotLine
from analysis.report.runs import Run
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.measuring import point, prepare_host, scratch
from harness.run import runner
from harness.spec.point import Point

NAME = "attribution"
SUMMARY = "open/close of one file on 48 cores: 95 % of cross-socket transfers have a name, the dentry's lockref is first"

_BOUND = 0.95
_POINT = "workload=micro:open-close * cores=48"


def is_lockref(line: HotLine) -> bool:
    """Whether the line's label is the lockref of a dentry."""
    type_name, _, field = line.label.removeprefix("struct ").partition(".")
    return type_name == "dentry" and field.startswith("d_lockref")


def has_source(line: HotLine) -> bool:
    """Whether the sites with most of the line's cycles name a source line."""
    return sum(site.share for site in line.sites if site.where) >= _BOUND


def site_table(line: HotLine, count: int = 8) -> Table:
    """Which source lines move the line."""
    table = Table("function", "source line", title=f"Who moves {line.label}", title_justify="left")
    for heading in ("other socket", "same socket", "upgrades", "share of cycles"):
        table.add_column(heading, justify="right")
    for site in line.sites[:count]:
        counts = [site.counts[name] for name in ("transfers_other_socket", "transfers_same_socket", "upgrades")]
        table.add_row(
            site.function,
            site.where or "unknown",
            *("unknown" if value is None else f"{value:,}" for value in counts),
            f"{100 * site.share:.1f} %",
        )
    return table


def planned(_: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    return [point(_POINT)]


def run(arguments: argparse.Namespace) -> Check:
    """Run the point, print its hot lines and the source lines that move the first."""
    prepare_host()
    with scratch(NAME) as folder:
        ran = Run(runner.run_point(point(_POINT), folder, reuse="none").folder)
        lines = ran.hot_lines(10)
        attributed = ran.attributed or 0.0
        console().print(hot_line_table(ran, 10))
    if not lines:
        return Check(False, f"{NAME}: no line moved between cores; wanted: the dentry's lockref", 0)
    console().print(site_table(lines[0]))
    sources = "its source lines are named" if has_source(lines[0]) else "its source lines are not all named"
    walks = ran.abandoned or "All walks through the guest's memory came to their end."
    figure = (
        f"{NAME}: {100 * attributed:.2f} % of the cross-socket transfers have a type.field or a symbol, the top line is "
        f"{lines[0].label}, {sources}; wanted: at least {100 * _BOUND:g} %, dentry.d_lockref, named. {walks}"
    )
    passed = attributed >= _BOUND and is_lockref(lines[0]) and has_source(lines[0]) and not ran.abandoned
    return Check(passed, figure, len(lines))

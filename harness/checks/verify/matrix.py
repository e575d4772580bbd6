# SPDX-License-Identifier: BSD-3-Clause
"""Which of the paper's 16 bottlenecks does each application meet, and where does that differ from the paper's figure 1?

`verify matrix [SOURCE] [CORES,CORES]` runs every application at its default size on the stock kernel of a source (default: the
paper's where it is there, else the default source) and on 12 and 48 cores. An application meets a bottleneck when it does on
any of these numbers of cores: the paper removed one after another, and a queue at the first keeps cores from what is behind it.
Runs are kept in the folder of the runs, and complete ones are used again.
"""

import argparse
from collections.abc import Sequence

from rich.table import Table

from analysis.report.paper import Column, load_paper, matrix, merge, the_sixteen
from analysis.report.series import load_runs
from common import settings
from common.arguments import counts_of_cores
from common.terminal import console
from harness.build import kernel_source
from harness.checks.registry import Check
from harness.checks.verify.measuring import prepare_host
from harness.run import runner
from harness.spec import kernel as kernels
from harness.spec import point as points

NAME = "matrix"
SUMMARY = "all applications on 12 and 48 cores: which of the 16 bottlenecks each meets, beside the paper's, with reasons"
QUICK = None  # every application at its full size

CORES = "12,48"


def cell_table(columns: list[Column]) -> Table:
    """Share of the waiting cycles of each bottleneck in each application; what the paper says is marked behind it."""
    table = Table(
        *("no.", "bottleneck"),
        title="Share of the cycles waited beyond L2, and on how many cores (P: met in the paper's figure 1)",
        title_justify="left",
    )
    for column in columns:
        table.add_column(column.application.title, justify="right")
    for number, bottleneck in enumerate(the_sixteen()):
        row = []
        for column in columns:
            cell = column.cells[number]
            text = f"{100 * cell.cycles_share:.1f} % ({cell.cores}){' P' if cell.paper else '  '}"
            row.append(text if cell.agrees else f"[yellow]{text}[/]")
        table.add_row(str(bottleneck.paper), bottleneck.title, *row)
    return table


def difference_table(columns: list[Column]) -> Table:
    """The cells that differ from the paper's, each with its reason."""
    table = Table("application", "no.", "bottleneck", "run", "paper", "why", title="Where they differ", title_justify="left")
    for column in columns:
        for cell in column.cells:
            if not cell.agrees:
                table.add_row(
                    column.application.title,
                    str(cell.bottleneck.paper),
                    cell.bottleneck.title,
                    f"{100 * cell.cycles_share:.1f} % on {cell.cores} cores",
                    "met" if cell.paper else "not met",
                    cell.reason or "[red]not known[/]",
                )
    return table


def _default() -> str:
    paper = kernels.paper_source()
    return paper if paper in kernel_source.available() else kernels.default_source()


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", choices=kernels.sources(), help=f"default: {_default()}")
    parser.add_argument("cores", nargs="?", type=counts_of_cores, default=CORES, metavar="N,M", help="core counts (%(default)s)")


def run(arguments: argparse.Namespace) -> Check:
    """Run the applications, print the matrix and the differences."""
    own = settings.load()
    source = arguments.source or _default()
    prepare_host()
    folders = []
    for name in load_paper().applications:
        for count in arguments.cores:
            wanted = {"workload": name, "kernel": source, "cores": str(count)}
            folders.append(runner.run_point(points.resolve(wanted), own.runs, reuse="same").folder)
    each = matrix(load_runs(folders))
    columns = merge(each)
    console().print(cell_table(columns))
    console().print(difference_table(columns))
    return judge(each, columns, source)


def judge(each: Sequence[Column], columns: Sequence[Column], source: str) -> Check:
    """Every application was looked at and waited for something, and each difference has a known reason.

    A run without a cycle of waiting meets no bottleneck, and many a cell has a reason for just that.
    """
    cells = [cell for column in columns for cell in column.cells]
    differ = [cell for cell in cells if not cell.agrees]
    unknown = [cell for cell in differ if not cell.reason]
    there = {column.application.workload for column in columns}
    faults = [f"no run of {name}" for name in load_paper().applications if name not in there]
    faults += [f"{column.run.folder.name} waited for nothing" for column in each if not column.run.totals["cycles"]]
    figure = (
        f"{NAME}: {len(cells) - len(differ)} of {len(cells)} cells agree with the paper's figure 1 on {source}, "
        f"{len(differ)} differ, {len(unknown)} of them without a known reason"
        f"{'; ' + ', '.join(faults) if faults else ''}; wanted: 0 without, every application"
    )
    return Check(not unknown and not faults, figure, len(cells))

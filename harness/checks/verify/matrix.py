# SPDX-License-Identifier: BSD-3-Clause
"""Which of the paper's 16 bottlenecks does each application meet, and where does that differ from the paper's figure 1?

`verify matrix [SOURCE] [CORES,CORES]` runs every application on the stock kernel of a source (default: the paper's where it is
there, else the default source) and on 12 and 48 cores; paper.toml says which workload, and the claims take the same. An
application meets a bottleneck when it does on any of these numbers of cores: the paper removed one after another, and a queue
at the first keeps cores from what is behind it. Runs are kept in the folder of the runs, and complete ones are used again.

A cell that differs has a reason (analysis/report/paper.toml, kernels/SOURCE/paper-differences.toml), and a reason has figures.
They are measured again in these runs; where one is not what it was, or the cell differs no more, the reason does not hold.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from analysis.report.evidence import Measured, measure_again
from analysis.report.paper import Column, Difference, load_paper, matrix, merge, the_sixteen
from analysis.report.series import load_runs
from analysis.report.words import cores_text
from common import settings
from common.arguments import counts_of_cores
from common.terminal import console
from harness.build import kernel_source
from harness.checks.registry import Check
from harness.checks.verify.measuring import prepare_host
from harness.run import runner
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec.point import Point

NAME = "matrix"
SUMMARY = "all applications on 12 and 48 cores: which of the 16 bottlenecks each meets, beside the paper's, with reasons"
REUSES = True
QUICK = None  # every application at its full size

CORES = "12,48"


@dataclass(frozen=True)
class Reason:
    """A known reason for a cell, and its figures in the runs."""

    difference: Difference
    differs: bool
    """The cell does differ."""
    figures: tuple[Measured, ...]

    @property
    def holds(self) -> bool:
        return self.differs and all(figure.holds for figure in self.figures)

    @property
    def faults(self) -> list[str]:
        """What does not hold, in words."""
        if not self.differs:
            return ["the cell agrees with the paper's: take the reason out"]
        return [figure.said for figure in self.figures if not figure.holds]


def reasons(each: Sequence[Column], columns: Sequence[Column]) -> list[Reason]:
    """All that is known of the cells of the merged ``columns``, measured again in the runs of the columns ``each``."""
    paper, found = load_paper(), []
    for column in columns:
        runs = {one.run.cores: one.run for one in each if one.application == column.application}
        for cell in column.cells:
            known = paper.difference(column.run, cell.bottleneck)
            if known is not None:
                found.append(Reason(known, not cell.agrees, tuple(measure_again(known.figures, runs))))
    return found


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
                    f"{100 * cell.cycles_share:.1f} % on {cores_text(cell.cores)}",
                    "met" if cell.paper else "not met",
                    cell.difference.reason if cell.difference else "[red]not known[/]",
                )
    return table


def reason_table(found: Sequence[Reason]) -> Table:
    """Each figure behind a reason: what it is now and what it was."""
    table = Table("application", "no.", "figure", title="The reasons, measured again", title_justify="left")
    for one in found:
        said = [figure.said if figure.holds else f"[red]{figure.said}[/]" for figure in one.figures]
        said += [] if one.differs else [f"[red]{one.faults[0]}[/]"]
        table.add_row(one.difference.application, str(one.difference.bottleneck), "\n".join(said))
    return table


def _default() -> str:
    paper = kernels.paper_source()
    return paper if paper in kernel_source.available() else kernels.default_source()


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", choices=kernels.sources(), help=f"default: {_default()}")
    parser.add_argument("cores", nargs="?", type=counts_of_cores, default=CORES, metavar="N,M", help="core counts (%(default)s)")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, unless it is there."""
    source = arguments.source or _default()
    return [
        points.resolve({"workload": application.matrix, "kernel": source, "cores": str(count)})
        for application in load_paper().applications.values()
        for count in arguments.cores
    ]


def run(arguments: argparse.Namespace) -> Check:
    """Run the applications, print the matrix and the differences."""
    own = settings.load()
    source = arguments.source or _default()
    prepare_host()
    folders = [runner.run_point(one, own.runs, reuse="same").folder for one in planned(arguments)]
    each = matrix(load_runs(folders))
    columns = merge(each)
    console().print(cell_table(columns))
    console().print(difference_table(columns))
    known = reasons(each, columns)
    console().print(reason_table(known))
    return judge(each, columns, known, source)


def judge(each: Sequence[Column], columns: Sequence[Column], known: Sequence[Reason], source: str) -> Check:
    """Every application was looked at and waited for something, and each difference has a known reason that holds.

    A run without a cycle of waiting meets no bottleneck, and many a cell has a reason for just that.
    """
    cells = [cell for column in columns for cell in column.cells]
    differ = [cell for cell in cells if not cell.agrees]
    unknown = [cell for cell in differ if cell.difference is None]
    there = {column.application.workload for column in columns}
    broken = [one for one in known if not one.holds]
    faults = [f"no run of {name}" for name in load_paper().applications if name not in there]
    faults += [f"{column.run.folder.name} waited for nothing" for column in each if not column.run.totals["cycles"]]
    figure = (
        f"{NAME}: {len(cells) - len(differ)} of {len(cells)} cells agree with the paper's figure 1 on {source}, "
        f"{len(differ)} differ, {len(unknown)} of them without a known reason, {len(broken)} with one that holds no more"
        f"{'; ' + ', '.join(faults) if faults else ''}; wanted: 0 without, 0 that hold no more, every application"
    )
    for one in broken:
        print(f"{one.difference.application}, {one.difference.bottleneck}: {'; '.join(one.faults)}")
    return Check(not unknown and not broken and not faults, figure, len(cells))

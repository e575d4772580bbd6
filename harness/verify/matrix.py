# SPDX-License-Identifier: BSD-3-Clause
"""Which of the paper's 16 bottlenecks does each application meet, and where does that differ from the paper's figure 1?

`verify matrix [SOURCE] [CORES]` runs every application at its default size on the stock kernel of a source (default:
linux-2.6.35 where its source is there, else linux-6.1) and all cores. Runs are kept in the folder of the runs, and complete ones
are used again.
"""

from rich.table import Table

from analysis.paper import Column, load_paper, matrix, the_sixteen
from analysis.runs import load_runs
from harness import kernel, runner, settings
from harness import point as points
from harness.check import Check
from harness.outcome import bad_input
from harness.terminal import console
from harness.verify.measuring import prepare_host

NAME = "matrix"
SUMMARY = (
    "all applications at 48 cores: which of the 16 bottlenecks each meets, beside the paper's; every difference has its reason"
)
QUICK = None  # every application at its full size


def cell_table(columns: list[Column]) -> Table:
    """Share of the waiting cycles of each bottleneck in each application; what the paper says is marked behind it."""
    table = Table(
        "no.", "bottleneck", title="Share of the cycles waited beyond L2 (P: met in the paper's figure 1)", title_justify="left"
    )
    for column in columns:
        table.add_column(column.application.title, justify="right")
    for number, bottleneck in enumerate(the_sixteen()):
        row = []
        for column in columns:
            cell = column.cells[number]
            text = f"{100 * cell.cycles_share:.1f} %{' P' if cell.paper else '  '}"
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
                    f"{100 * cell.cycles_share:.1f} %",
                    "met" if cell.paper else "not met",
                    cell.reason or "[red]not known[/]",
                )
    return table


def run(arguments: list[str]) -> Check:
    """Run the applications, print the matrix and the differences."""
    if len(arguments) > 2 or (len(arguments) == 2 and not arguments[1].isdecimal()):
        raise bad_input(f"{' '.join(arguments)!r} is not [SOURCE] [CORES].", "Write for example verify matrix linux-6.1 48.")
    own = settings.load()
    source = arguments[0] if arguments else "linux-2.6.35" if own.linux_2_6_35 else points.DEFAULTS["kernel"]
    kernel.load_recipe(source)
    prepare_host()
    folders = []
    for name in load_paper().applications:
        wanted = {"workload": name, "kernel": source} | ({"cores": arguments[1]} if len(arguments) == 2 else {})
        folders.append(runner.run_point(points.resolve(wanted), own.runs, reuse="same").folder)
    columns = matrix(load_runs(folders))
    console().print(cell_table(columns))
    console().print(difference_table(columns))
    cells = [cell for column in columns for cell in column.cells]
    differ = [cell for cell in cells if not cell.agrees]
    unknown = [cell for cell in differ if not cell.reason]
    figure = (
        f"{NAME}: {len(cells) - len(differ)} of {len(cells)} cells agree with the paper's figure 1 on {source}, "
        f"{len(differ)} differ, {len(unknown)} of them without a known reason; wanted: 0 without"
    )
    return Check(not unknown, figure)

# SPDX-License-Identifier: BSD-3-Clause
"""Which of the paper's 16 bottlenecks does a later kernel still have? Each row of a table is decided by a run.

The table is still-there.toml in the folder of a kernel source. `verify bottleneck-table` runs every row of every such table, with
`quick` those marked so, with numbers such as `2 14` those of the bottlenecks named; `--source` names one table. A row has a
workload and the lines on which the bottleneck would show. Two figures of these lines decide it: stores per operation to those
that *every* core stores to, which do not depend on how the cores interleave, and transfers between cores per operation.
"""

import argparse
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from analysis.attribute.tables import read_table
from analysis.report.runs import Run
from common import paths
from common.outcome import bad_input
from common.terminal import console
from harness.build.kernel_source import available
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_source_option, point, prepare_host, scratch, stored_by_all
from harness.run import runner
from harness.spec.kernel import sources
from harness.spec.point import Point

NAME = "bottleneck-table"
SUMMARY = "which of the paper's 16 bottlenecks a later kernel still has: a run for each decides as the table says"
QUICK = ("quick",)

_TABLE = "still-there.toml"
_CORES = 48
# Between the two a row is undecided: the line is written by all, but not in each operation.
_THERE = 0.5
"""Stores by every core, and transfers, per operation: from here on the bottleneck is there."""
_GONE = 0.05


@dataclass(frozen=True)
class Row:
    """One bottleneck under one workload. ``lines`` are patterns of labels, ``verdict`` is what the run is to show."""

    number: int
    workload: str
    lines: tuple[str, ...]
    verdict: str
    why: str
    quick: bool


@dataclass(frozen=True)
class Seen:
    """What a run showed on a row's lines, per operation. ``stores`` are those to lines that every core stores to."""

    stores: float
    transfers: float
    busiest: str
    """Label of the line with the most transfers; empty if none moved."""
    all_transfers: float
    """Transfers of the whole run, on whatever lines: what a row that is gone has to be seen against."""

    @property
    def verdict(self) -> str:
        """there, gone, or undecided."""
        if self.stores >= _THERE and self.transfers >= _THERE:
            return "there"
        return "gone" if self.stores < _GONE and self.transfers < _GONE else "undecided"


def read_rows(path: Path) -> list[Row]:
    """The rows of a table.

    Raises:
        Failure: bad-input, naming the file and what is wrong with it.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = [_row(one) for one in data["row"]]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise bad_input(f"{path} is no table of bottlenecks ({error!r}).", "Its head says what a row has.") from error
    for row in rows:
        if row.verdict not in ("there", "gone") or not row.lines:
            raise bad_input(f"{path}: row {row.number}, {row.workload}, has no verdict or no lines.", "See its head.")
    return rows


def _row(data: Mapping[str, Any]) -> Row:
    why = data["upstream"] if data["verdict"] == "gone" else data["note"]
    return Row(data["number"], data["workload"], tuple(data["lines"]), data["verdict"], why, bool(data.get("quick", False)))


def choose(rows: Sequence[Row], arguments: Sequence[str]) -> list[Row]:
    """The rows that the arguments ask for: none is all, ``quick`` the quick ones, numbers those bottlenecks."""
    if not arguments:
        return list(rows)
    if list(arguments) == ["quick"]:
        return [row for row in rows if row.quick]
    known = {str(row.number) for row in rows}
    for argument in arguments:
        if argument not in known:
            raise bad_input(f"{NAME} has no row {argument!r}.", f"Use quick, or numbers of {', '.join(sorted(known, key=int))}.")
    return [row for row in rows if str(row.number) in arguments]


def matches(labels: Iterable[str | None], patterns: Iterable[str]) -> bool:
    """Whether any label of a line is one that a pattern means."""
    return any(fnmatchcase(label.removeprefix("struct "), pattern) for label in labels if label for pattern in patterns)


def measure(folder: Path, patterns: Sequence[str]) -> Seen:
    """Stores by every core and transfers on the lines with these labels, per operation of the run in ``folder``.

    The run must have counted hits: what a core stores to a line that it holds shows in no other way. Counted is the whole line on
    which a name was seen, also what is stored beside the name: the question is whether such a line still moves, for whatever
    reason. `fixes.measure`, where a fix answers for its own field, counts accesses to what is named.
    """
    counters = ["writes", "atomics", "transfers_same_socket", "transfers_other_socket"]
    lines = read_table(folder, "lines", ["paddr", "writers"], counted=counters)
    types = read_table(folder, "memory-types", ["paddr", "field", "fields"])
    if not lines.column("paddr").equals(types.column("paddr")):
        raise ValueError(f"{folder}: the lines of memory-types are others than those of lines")
    labels = types.column("field").to_pylist()
    fields = types.column("fields").to_pylist()
    chosen = np.array([matches([label, *(more or ())], patterns) for label, more in zip(labels, fields, strict=True)], np.bool_)
    run = Run(folder)
    by_all = chosen & stored_by_all(lines, run.point["core_list"])
    writes, atomics, same_socket, other_socket = (lines.column(name).to_numpy().astype(np.int64) for name in counters)
    stores, all_moved = writes + atomics, same_socket + other_socket
    moved = np.where(chosen, all_moved, 0)
    busiest = labels[int(moved.argmax())] if moved.any() else None
    units = int(run.metrics["units"])
    return Seen(int(stores[by_all].sum()) / units, int(moved.sum()) / units, busiest or "", int(all_moved.sum()) / units)


def tables(source: str | None) -> dict[str, list[Row]]:
    """The rows of ``source``, or of each source that has a table.

    Raises:
        Failure: bad-input, when there is none.
    """
    found = {name: paths.KERNELS / name / _TABLE for name in sources()}
    here = {name: read_rows(path) for name, path in found.items() if path.is_file() and source in (None, name)}
    if not here:
        raise bad_input(f"{source or paths.KERNELS} has no {_TABLE}.", "kernels/README.md says what it is.")
    return here


def run_rows(source: str, rows: Sequence[Row], folder: Path) -> list[Seen]:
    """What each row's run on a source's stock kernel shows."""
    runs = {name: runner.run_point(one, folder).folder for name, one in _points(source, rows).items()}
    return [measure(runs[row.workload], row.lines) for row in rows]


def result_table(source: str, rows: Sequence[Row], seen: Sequence[Seen]) -> Table:
    """One line per row: the figures, what they decide, and why."""
    table = Table("no.", "workload", title=f"{source}, {_CORES} cores, fast engine: per operation", title_justify="left")
    table.add_column("stores by every core", justify="right")
    table.add_column("transfers", justify="right")
    table.add_column("of all lines", justify="right")
    for heading in ("line", "verdict", "expected", "why"):
        table.add_column(heading)
    for row, one in zip(rows, seen, strict=True):
        verdict = one.verdict if one.verdict == row.verdict else f"[red]{one.verdict}[/]"
        figures = (f"{one.stores:.3f}", f"{one.transfers:.3f}", f"{one.all_transfers:.3f}")
        table.add_row(str(row.number), Text(row.workload), *figures, one.busiest or "none moved", verdict, row.verdict, row.why)
    return table


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rows", nargs="*", metavar="NUMBER", help="bottlenecks, or `quick` for the quick rows (default: all)")
    add_source_option(parser, "only this source's table (default: all of sources that are there)")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    return [one for source, rows in _wanted(arguments).items() for one in _points(source, rows).values()]


def _points(source: str, rows: Sequence[Row]) -> dict[str, Point]:
    """Workload -> the point that it runs on a source's stock kernel; rows with one workload share it."""
    where = f"kernel={source} * cores={_CORES} * set.count_hits=1"
    return {row.workload: point(f"workload={row.workload} * {where}") for row in rows}


def _wanted(arguments: argparse.Namespace) -> dict[str, list[Row]]:
    """Source -> the rows to run; without --source of sources that are here, the others are named."""
    wanted = {source: choose(rows, arguments.rows) for source, rows in tables(arguments.source).items()}
    if arguments.source is not None:
        return wanted
    here = available()
    for source in wanted.keys() - set(here):
        print(f"Left out: the source {source} is not here.")
    return {source: rows for source, rows in wanted.items() if source in here}


def run(arguments: argparse.Namespace) -> Check:
    """Run the rows and compare."""
    wanted = _wanted(arguments)
    prepare_host()
    seen: list[tuple[str, Row, Seen]] = []
    with scratch(NAME) as folder:
        for source, rows in wanted.items():
            shown = run_rows(source, rows, folder)
            console().print(result_table(source, rows, shown))
            seen += [(source, row, one) for row, one in zip(rows, shown, strict=True)]
    return judge(seen)


def judge(seen: Sequence[tuple[str, Row, Seen]]) -> Check:
    """Every row is as its table says, and there was one."""
    wrong = [f"{source} {row.number} {row.workload}" for source, row, one in seen if one.verdict != row.verdict]
    there = sorted({(source, row.number) for source, row, _ in seen if row.verdict == "there"})
    figure = (
        f"{NAME}: {len(seen) - len(wrong)} of {len(seen)} rows are as expected, still there: "
        f"{', '.join(f'{source} {number}' for source, number in there) or 'none of these'}; wanted: all rows"
    )
    said = f"{figure} (not so: {', '.join(wrong)})" if wrong else figure
    return Check(not wrong, said, len(seen))

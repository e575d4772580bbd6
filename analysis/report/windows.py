# SPDX-License-Identifier: BSD-3-Clause
"""A region that was measured in windows: what each unit of work costs, and how sure that is."""

import json
from collections.abc import Mapping
from typing import Any

from rich.table import Table

from analysis.attribute.records import MESSAGE_KINDS, WINDOWS
from analysis.report.content import Column, Section
from analysis.report.content import Table as ReportTable
from analysis.report.estimate import Estimate, ratio
from analysis.report.runs import Run
from analysis.report.words import percent, rate
from common.terminal import plain_table

_RATES = {
    "core cycles": ("cycles",),
    "of them waiting for lines": ("waited_cycles",),
    "transfers": ("transfers_same_socket", "transfers_other_socket"),
    "transfers within a socket": ("transfers_same_socket",),
    "transfers between sockets": ("transfers_other_socket",),
    "L3 hits": ("l3_hits",),
    "memory reads": ("dram_local", "dram_remote"),
    "upgrades": ("upgrades",),
    "invalidations": ("invalidations",),
    "writebacks": ("writebacks",),
}
_MESSAGES = {"directed probes": "directed probe", "broadcast probes": "broadcast probe"}


def rates(run: Run) -> dict[str, Estimate]:
    """For each thing that is counted, how much of it is spent for a unit of work; nothing of a run without windows."""
    path = run.folder / "engine" / WINDOWS
    if "windows" not in run.metrics or not path.exists():
        return {}
    windows = json.loads(path.read_text(encoding="utf-8"))["windows"]
    if not sum(window["program_instructions"] for window in windows):
        return {}
    units = float(run.metrics["units"]) / sum(window["program_instructions"] for window in windows)
    work = [units * window["program_instructions"] for window in windows]
    return {name: ratio([_amount(window, name, run.cores) for window in windows], work) for name in (*_RATES, *_MESSAGES)}


def _amount(window: Mapping[str, Any], name: str, cores: int) -> float:
    if name in _MESSAGES:
        return float(window["messages"][MESSAGE_KINDS.index(_MESSAGES[name])])
    amount = sum(window[column] for column in _RATES[name])
    return float(amount * cores if name == "core cycles" else amount)


def table(run: Run) -> Table | None:
    """Each rate for a unit of work with half its 95 % interval; None of a run without windows."""
    found = rates(run)
    if not found:
        return None
    made = plain_table(title=f"For a unit of work, in {run.metrics['windows']} windows")
    made.add_column("what")
    for heading in ("mean", "95 %", "least", "most"):
        made.add_column(heading, justify="right", no_wrap=True)
    for name, seen in found.items():
        half = "" if seen.width is None else f"± {percent(seen.width)}"
        made.add_row(name, rate(seen.mean), half, rate(seen.low), rate(seen.high))
    return made


def sections(run: Run, anchor: str) -> list[Section]:
    """The same on the report's page; nothing of a run without windows."""
    found = rates(run)
    if not found:
        return []
    title = f"What a unit of work costs, in {run.metrics['windows']} windows"
    table = ReportTable(
        id=f"{anchor}-rates",
        title="Rates of windows",
        columns=(
            Column("what", row_header=True),
            Column("mean", "for a unit of work", rate),
            Column("half the 95 % interval", "fraction", percent),
            Column("least", "for a unit of work", rate),
            Column("most", "for a unit of work", rate),
        ),
        rows=[(name, seen.mean, seen.width, seen.low, seen.high) for name, seen in found.items()],
        note=f"{run.caption}{run.cycles_note}.",
    )
    explanation = (
        "Short parts of the region were measured, spread over it by chance, each with caches filled from what went before. "
        "A mean is the ratio of the sums over all windows. Work is measured by the instructions that programs execute."
    )
    return [Section(title, f"{anchor}-windows", explanation, (), (table,))]

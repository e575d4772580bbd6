# SPDX-License-Identifier: BSD-3-Clause
"""Runs set beside each other: how much of one core's throughput is left on many, and what each further kernel fix brings."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.report.runs import Run


@dataclass(frozen=True)
class Kept:
    """Per-core throughput on the most cores relative to one core, the paper's summary of an application."""

    label: str
    """The workload, with its parameters where it ran with several."""
    series: str
    one: Run
    most: Run

    @property
    def ratio(self) -> float:
        return self.most.per_core / self.one.per_core


def kept(runs: Sequence[Run]) -> list[Kept]:
    """One entry per workload, its parameters and series that ran on one core and on more."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.workload, run.parameters, run.series), []).append(run)
    variety: dict[str, set[str]] = {}
    for workload, parameters, _ in groups:
        variety.setdefault(workload, set()).add(parameters)
    found = []
    for (workload, parameters, series), group in groups.items():
        one = next((run for run in group if run.cores == 1), None)
        most = max(group, key=lambda run: run.cores)
        if one is not None and most.cores > 1 and one.per_core > 0:
            label = f"{workload} {parameters}" if len(variety[workload]) > 1 else workload
            found.append(Kept(label, series, one, most))
    return found


def ablations(runs: Sequence[Run]) -> list[list[Run]]:
    """Groups of three or more runs that differ only in the fixes of their kernel, each by number of fixes, stock first."""
    groups: dict[tuple[str, ...], dict[tuple[str, ...], Run]] = {}
    for run in runs:
        key = (run.workload, run.parameters, run.machine, run.engine, run.source, str(run.point.get("order")), str(run.cores))
        groups.setdefault(key, {})[run.fixes] = run
    return [sorted(group.values(), key=lambda run: (len(run.fixes), run.fixes)) for group in groups.values() if len(group) >= 3]


def ablation_labels(group: Sequence[Run]) -> list[str]:
    """What each run of an ablation adds to the one before: "stock", "+ lseek", ...; its whole set where it is no superset."""
    labels = []
    before: frozenset[str] = frozenset()
    for number, run in enumerate(group):
        fixes = frozenset(run.fixes)
        added = sorted(fixes - before)
        if not fixes:
            label = "stock"
        elif number and before <= fixes and len(added) <= 3:
            label = "+ " + ", ".join(added)
        else:
            label = run.fix_set
        labels.append(f"{label} (pk)" if run.fix_set == "pk" and label != "pk" else label)
        before = fixes
    return labels


def change(before: float, after: float) -> str:
    """What became of an amount: per cent as long as that is read easily, then a factor; a dash from nothing."""
    if before == 0:
        return "\N{EN DASH}"
    ratio = after / before
    if 0.5 <= ratio < 2:
        return f"{100 * (ratio - 1):+.1f} %"
    return f"{ratio:.2g} x" if ratio < 10 else f"{ratio:,.0f} x"

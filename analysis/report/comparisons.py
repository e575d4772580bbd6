# SPDX-License-Identifier: BSD-3-Clause
"""Runs set beside each other: how much of one core's throughput is left on many, and what each further kernel fix brings."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.report.runs import Run
from analysis.report.series import by_series, by_workload


@dataclass(frozen=True)
class Kept:
    """Per-core throughput on the most cores relative to one core, the paper's summary of an application."""

    workload: str
    series: str
    one: Run
    most: Run

    @property
    def ratio(self) -> float:
        """Of the means over the trials."""
        return self.most.throughput.mean / self.one.throughput.mean


def kept(runs: Sequence[Run]) -> list[Kept]:
    """One entry per workload and series that ran on one core and on more."""
    found = []
    for workload, group in by_workload(runs).items():
        for series, curve in by_series(group).items():
            one = next((run for run in curve if run.cores == 1), None)
            most = max(curve, key=lambda run: run.cores)
            if one is not None and most.cores > 1 and one.throughput.mean > 0:
                found.append(Kept(workload, series, one, most))
    return found


def ablations(runs: Sequence[Run]) -> list[list[Run]]:
    """Groups of three or more runs that differ only in the fixes of their kernel, each by number of fixes, stock first."""
    groups: dict[tuple[tuple[str, str], ...], dict[tuple[str, ...], Run]] = {}
    for run in runs:
        key = tuple(sorted((name, value) for name, value in run.settings.items() if name != "fixes"))
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
    """What became of an amount: per cent as long as that is read easily, then a factor; from nothing there is neither."""
    if before == 0:
        return "from 0" if after else "+0.0 %"
    ratio = after / before
    if 0.5 <= ratio < 2:
        return f"{100 * (ratio - 1):+.1f} %"
    return f"{ratio:.2g} x" if ratio < 10 else f"{ratio:,.0f} x"

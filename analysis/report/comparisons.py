# SPDX-License-Identifier: BSD-3-Clause
"""Runs set beside each other: how much of one core's throughput is left on many, and what another kernel or machine changes."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Ratio:
    """Throughput of a run over that of another one: of the means, and for any trial of the one over any of the other."""

    mean: float
    low: float
    high: float
    trials: bool
    """Whether there are several, so that ``low`` and ``high`` say something."""


@dataclass(frozen=True)
class Comparison:
    """Series beside one that differs in one thing, by `Run.folder`; ``base`` names it, "" where it is not the same for all."""

    base: str
    ratios: Mapping[Path, Ratio]


def comparisons(runs: Sequence[Run]) -> list[Comparison]:
    """One for each thing (kernel, machine, engine, order, parameters) in which runs differ that are otherwise alike.

    The base is the first of them in the order of ``runs``: stock before its fixes. Runs that are told apart by their builds alone
    are compared with nothing.
    """
    found = []
    plain = [run for run in runs if not any(" build " in word for word in run.distinctions)]
    for thing, name in _THINGS.items():
        compared = [group for group in alike(plain, thing) if len(group) > 1 and group[0].throughput.mean > 0]
        if compared:
            bases = {name(group[0]) for group in compared}
            ratios = {run.folder: ratio(group[0], run) for group in compared for run in group[1:]}
            found.append(Comparison(bases.pop() if len(bases) == 1 else "", ratios))
    return found


def alike(runs: Sequence[Run], thing: str) -> list[list[Run]]:
    """Groups of runs that differ in nothing but ``thing``, one of `_THINGS`."""
    groups: dict[tuple[tuple[str, str], ...], list[Run]] = defaultdict(list)
    for run in runs:
        rest = {key: value for key, value in run.settings.items() if _thing(key) != thing}
        groups[tuple(sorted(rest.items()))].append(run)
    return list(groups.values())


def thing_named(run: Run, thing: str) -> str:
    """What a run calls its kernel, machine, ..."""
    return _THINGS[thing](run)


_THINGS: Mapping[str, Callable[[Run], str]] = {
    "kernel": lambda run: run.kernel,
    "machine": lambda run: run.machine,
    "engine": lambda run: run.engine,
    "order": lambda run: str(run.point.get("order", "seq")),
    "parameters": lambda run: ", ".join(word for word in run.distinctions if "=" in word) or run.parameters,
}
"""What series are compared in, and how a run names its own."""


def _thing(key: str) -> str:
    """Which of `_THINGS` a key of a run's settings is part of; itself where it is of none."""
    return "kernel" if key == "fixes" else key.partition(".")[0]


def ratio(base: Run, run: Run) -> Ratio:
    """Throughput of ``run`` over that of ``base``, which did some work."""
    one, other = base.throughput, run.throughput
    low, high = other.low / one.high, other.high / one.low if one.low else math.inf
    return Ratio(other.mean / one.mean, low, high, one.count > 1 or other.count > 1)


def change(before: float, after: float) -> str:
    """What became of an amount: per cent as long as that is read easily, then a factor; from nothing there is neither."""
    if before == 0:
        return "from 0" if after else "+0.0 %"
    ratio = after / before
    if 0.5 <= ratio < 2:
        return f"{100 * (ratio - 1):+.1f} %"
    return f"{ratio:.2g} x" if ratio < 10 else f"{ratio:,.0f} x"

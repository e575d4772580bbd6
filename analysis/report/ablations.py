# SPDX-License-Identifier: BSD-3-Clause
"""Runs that differ only in the fixes of their kernel: one fix after another, each fix alone, all fixes but one.

Which of the three a set of runs shows is told from the fixes themselves, so that a report of runs that are there says it too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.report.comparisons import change
from analysis.report.runs import Run
from analysis.report.words import heading


@dataclass(frozen=True)
class Scheme:
    """A way to ask what fixes bring. ``explanation`` is of a figure with a bar for each kernel."""

    title: str
    explanation: str


IN_ORDER = Scheme(
    "One fix after another",
    "Each bar has all fixes of the bar above it and those it names; in brackets is what it is of the bar above.",
)
ALONE = Scheme(
    "Each fix alone",
    "Each bar has the one fix that it names and no other, the largest first; in brackets is what it is of the stock kernel.",
)
BUT_ONE = Scheme(
    "All fixes but one",
    "Each bar has all fixes but the one that it names, the smallest first; in brackets is what it is of the kernel with all.",
)


@dataclass(frozen=True)
class Ablation:
    """Runs of a scheme, each with a label; the first is the one that others are measured against."""

    scheme: Scheme
    runs: tuple[Run, ...]
    labels: tuple[str, ...]

    @property
    def first(self) -> Run:
        return self.runs[0]

    @property
    def headings(self) -> tuple[str, ...]:
        """Of what `changes` has of each run."""
        if self.scheme is IN_ORDER:
            return heading("this_step"), heading("all_steps")
        return (f"against {self.labels[0].partition(' ')[0]}",)

    @property
    def ratios(self) -> list[tuple[float | None, ...]]:
        """Of each run its throughput over that of the runs that it is measured against; None for the first."""
        return [
            tuple(
                run.throughput.mean / base.throughput.mean if run is not self.first and base.throughput.mean else None
                for base in bases
            )
            for run, bases in zip(self.runs, self._bases(), strict=True)
        ]

    def changes(self, amounts: Sequence[float]) -> list[str]:
        """What became of an amount of each run, against the run that `headings` names first; "" for the first run."""
        of_run = dict(zip(map(id, self.runs), amounts, strict=True))
        return [
            "" if run is self.first else change(of_run[id(bases[0])], of_run[id(run)])
            for run, bases in zip(self.runs, self._bases(), strict=True)
        ]

    def _bases(self) -> Iterator[tuple[Run, ...]]:
        for number in range(len(self.runs)):
            before = self.runs[max(number - 1, 0)]
            yield (before, self.first) if self.scheme is IN_ORDER else (self.first,)


def ablations(runs: Sequence[Run]) -> list[Ablation]:
    """What runs of three or more kernels show that differ in their fixes alone, group by group."""
    groups: dict[tuple[tuple[str, str], ...], dict[tuple[str, ...], Run]] = {}
    for run in runs:
        key = tuple(sorted((name, value) for name, value in run.settings.items() if name != "fixes"))
        groups.setdefault(key, {})[run.fixes] = run
    return [one for group in groups.values() if len(group) >= 3 for one in _of_group(list(group.values()))]


def _of_group(runs: Sequence[Run]) -> list[Ablation]:
    """The schemes that runs of one group show, each fix set being there once."""
    ordered = sorted(runs, key=lambda run: (len(run.fixes), run.fixes))
    least, whole = ordered[0], ordered[-1]
    alone = [run for run in ordered if len(run.fixes) == 1 and run is not whole] if not least.fixes else []
    but_one = [run for run in ordered if run is not least and _lacks_one(run, whole)]
    found = []
    if chain := _chain(ordered, alone, but_one):
        found.append(Ablation(IN_ORDER, tuple(chain), tuple(chain_labels(chain))))
    if len(alone) > 1:
        by_effect = sorted(alone, key=lambda run: -run.throughput.mean)
        labels = ("stock", *(run.fixes[0] for run in by_effect), _all(whole))
        found.append(Ablation(ALONE, (least, *by_effect, whole), labels))
    if len(but_one) > 1:
        by_effect = sorted(but_one, key=lambda run: run.throughput.mean)
        last = [] if least.fixes else [least]
        labels = (_all(whole), *(f"without {_lacks(run, whole)}" for run in by_effect), *("stock" for _ in last))
        found.append(Ablation(BUT_ONE, (whole, *by_effect, *last), labels))
    return found


def _lacks_one(run: Run, whole: Run) -> bool:
    return len(run.fixes) == len(whole.fixes) - 1 and set(run.fixes) < set(whole.fixes)


def _lacks(run: Run, whole: Run) -> str:
    return ", ".join(sorted(set(whole.fixes) - set(run.fixes)))


def _all(whole: Run) -> str:
    return "all (pk)" if whole.fix_set == "pk" else "all"


def _chain(ordered: Sequence[Run], alone: Sequence[Run], but_one: Sequence[Run]) -> list[Run]:
    """Of all runs those that are one fix after another: no more than one has a fix alone, and one all but one.

    Nothing, where runs are there only for the sake of the other schemes.
    """
    if len(alone) < 2 and len(but_one) < 2:
        return list(ordered)
    least, whole = ordered[0], ordered[-1]
    between = [run for run in ordered if run not in (least, whole, *alone, *but_one)]
    if not between:
        return []
    first = next((run for run in alone if set(run.fixes) < set(between[0].fixes)), None)
    last = next((run for run in but_one if set(run.fixes) > set(between[-1].fixes)), None)
    return [run for run in (least, first, *between, last, whole) if run is not None]


def chain_labels(group: Sequence[Run]) -> list[str]:
    """What each run of a chain adds to the one before: "stock", "+ lseek", ...; its whole set where it is no superset."""
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

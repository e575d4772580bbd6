# SPDX-License-Identifier: BSD-3-Clause
"""Figures behind a reason: a quantity of a run, what it was when the reason was found, and how far off it may be.

A reason in words cannot be checked. Each of its figures is measured again where `verify matrix` runs, and the reason holds only
while all do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from analysis.report.bottlenecks import load_catalogue
from analysis.report.runs import Run
from analysis.report.shares import Share
from analysis.report.words import cores_text
from common.outcome import Failure, bad_input

_KEYS = {"quantity", "cores", "expected", "tolerance", "of", "fields"}


@dataclass(frozen=True)
class Figure:
    """One quantity of the run on ``cores`` cores. ``tolerance`` is absolute, in the quantity's unit (`QUANTITIES`).

    Some quantities are of lines: those of the entries ``of`` of the catalogue, or those with a field like one of ``fields``.
    """

    quantity: str
    cores: int
    expected: float
    tolerance: float
    of: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """What it is a figure of, in words."""
        return " + ".join((*self.of, *self.fields)) if QUANTITIES[self.quantity].of_lines else "the run"

    def measure(self, run: Run) -> float:
        """The quantity in a run.

        Raises:
            Failure: bad-input, when the run's engine does not know it.
        """
        if not QUANTITIES[self.quantity].of_lines:
            return QUANTITIES[self.quantity].measure(run, [])
        chosen = [share for share in run.bottlenecks() if share.bottleneck.id in self.of]
        chosen += [share for share in run.fields() if any(fnmatchcase(share.title, pattern) for pattern in self.fields)]
        return QUANTITIES[self.quantity].measure(run, chosen)

    def holds(self, got: float) -> bool:
        """Whether ``got`` is what was expected."""
        return abs(got - self.expected) <= self.tolerance


@dataclass(frozen=True)
class Quantity:
    """How a quantity is measured, of the whole run or of some of its shares, and how a value of it is written."""

    meaning: str
    measure: Callable[[Run, Sequence[Share]], float]
    of_lines: bool
    is_share: bool
    text: str

    def said(self, value: float) -> str:
        return self.text.format(value)


def _idle(run: Run, _: Sequence[Share]) -> float:
    idle = run.part("idle")
    if idle is None:
        raise bad_input(f"{run.folder}: its engine does not count idle cycles.", "Take runs of an engine that does.")
    return idle


def _instructions(run: Run, _: Sequence[Share]) -> float:
    total = run.metrics["instructions"]
    if total is None:
        raise bad_input(f"{run.folder}: its engine does not count instructions.", "Take runs of an engine that does.")
    return float(total) / int(run.metrics["units"])


QUANTITIES: Mapping[str, Quantity] = {
    "cycles": Quantity(
        "share of the cycles that the cores wait beyond their L2",
        lambda run, shares: sum(share.cycles_share for share in shares),
        True,
        True,
        "{:.2%}",
    ),
    "transfers": Quantity(
        "transfers between cores for a unit of work",
        lambda run, shares: sum(share.same_socket + share.other_socket for share in shares) / int(run.metrics["units"]),
        True,
        False,
        "{:.3g}",
    ),
    "idle": Quantity("share of the cores' time without work", _idle, False, True, "{:.2%}"),
    "instructions": Quantity("instructions of all cores for a unit of work", _instructions, False, False, "{:,.0f}"),
    "milliseconds": Quantity(
        "length of the region in guest time", lambda run, _: 1e3 * float(run.metrics["seconds"]), False, False, "{:.3g} ms"
    ),
}


def read_figures(path: Path, reason: Mapping[str, Any], bottleneck: str) -> tuple[Figure, ...]:
    """The ``figures`` of a reason in the file ``path``; one of lines that names none is of its own ``bottleneck`` (an id).

    Raises:
        Failure: bad-input, when there is none, or one of them is not a figure.
    """
    who = f"the reason for {reason.get('application')} and bottleneck {reason.get('bottleneck')}"
    found = reason.get("figures")
    if not isinstance(found, list) or not found:
        raise bad_input(
            f"{path}: {who} has no figures, so nothing tells when it holds no more.",
            "Give it `figures`, see the comment at the top of analysis/report/paper.toml.",
        )
    return tuple(_figure(path, who, one, bottleneck) for one in found)


def _figure(path: Path, who: str, given: object, bottleneck: str) -> Figure:
    def wrong(why: str) -> Failure:
        return bad_input(f"{path}: a figure of {who} {why}.", "See the comment at the top of analysis/report/paper.toml.")

    if not isinstance(given, Mapping):
        raise wrong("is no table")
    if unknown := given.keys() - _KEYS:
        raise wrong(f"has {', '.join(sorted(unknown))}, which means nothing there")
    quantity = given.get("quantity")
    if not isinstance(quantity, str) or quantity not in QUANTITIES:
        raise wrong(f"is of the quantity {quantity!r}, which is none of {', '.join(QUANTITIES)}")
    cores = given.get("cores")
    if not isinstance(cores, int) or isinstance(cores, bool) or cores < 1:
        raise wrong("has no whole number cores")
    numbers = []
    for key in ("expected", "tolerance"):
        value = given.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
            raise wrong(f"has no number {key}")
        numbers.append(float(value))
    expected, tolerance = numbers
    of, fields = tuple(given.get("of", ())), tuple(given.get("fields", ()))
    if stray := set(of) - {entry.id for entry in load_catalogue()}:
        raise wrong(f"is of {', '.join(sorted(stray))}, which the catalogue does not have")
    if (of or fields) and not QUANTITIES[quantity].of_lines:
        raise wrong(f"is of lines, and {quantity} is of the whole run")
    if of and fields:
        raise wrong("is of entries and of fields, which may be the same lines")
    if QUANTITIES[quantity].of_lines and not (of or fields):
        of = (bottleneck,)
    if QUANTITIES[quantity].is_share and expected - tolerance <= 0 and expected + tolerance >= 1:
        raise wrong("holds for every share")
    return Figure(quantity, cores, expected, tolerance, of, fields)


@dataclass(frozen=True)
class Measured:
    """A figure and what a run shows of it; None: there is no run on as many cores."""

    figure: Figure
    got: float | None

    @property
    def holds(self) -> bool:
        return self.got is not None and self.figure.holds(self.got)

    @property
    def said(self) -> str:
        """What was measured and what was expected, in words."""
        quantity = QUANTITIES[self.figure.quantity]
        got = "not measured" if self.got is None else quantity.said(self.got)
        wanted = f"{quantity.said(self.figure.expected)} +- {quantity.said(self.figure.tolerance)}"
        return f"{self.figure.quantity} of {self.figure.subject} on {cores_text(self.figure.cores)}: {got} (expected {wanted})"


def measure_again(figures: Sequence[Figure], runs: Mapping[int, Run]) -> list[Measured]:
    """Each figure in the run of its number of cores."""
    return [Measured(one, one.measure(runs[one.cores]) if one.cores in runs else None) for one in figures]

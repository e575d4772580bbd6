# SPDX-License-Identifier: BSD-3-Clause
"""Two runs set beside each other: what tells them apart, throughput, and which fields cost less, more, or are new.

A field (type.field, or whatever else names a line) is compared by its transfers between cores for each unit of work, so that runs
of different length can be compared, and by its share of the cycles waited.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from analysis.report.cells import narrow_heading, times
from analysis.report.comparisons import Ratio, change, ratio
from analysis.report.runs import FEW, HANDFUL, Run
from analysis.report.words import amount, heading, percent, rate
from common.terminal import Sections


class Fate(StrEnum):
    """What became of a field from the first run to the second."""

    GONE = "gone"
    NEW = "new"
    GREW = "grown"
    SHRANK = "shrunk"
    SAME = "as before"


_FACTOR = 1.25
"""From how much more or less a field has grown or shrunk."""


@dataclass(frozen=True)
class Field:
    """A field in both runs: ``before`` and ``after`` are transfers between cores for each unit of work."""

    name: str
    before: float
    after: float
    share_before: float
    share_after: float
    """Of the run's cycles waited beyond the L2."""
    fate: Fate


@dataclass(frozen=True)
class Difference:
    """``settings`` are those in which the points differ: name, of the first, of the second ("" where it has none)."""

    one: Run
    other: Run
    settings: tuple[tuple[str, str, str], ...]
    throughput: Ratio | None
    """Of the second over the first; None where the first did nothing."""
    fields: tuple[Field, ...]
    """Those that matter in one of them, the largest change in transfers first."""


def difference(one: Run, other: Run) -> Difference:
    """What tells two runs apart. Runs of different units of work are compared all the same; the table says the units.

    Raises:
        Failure: bad-input, when a table of one cannot be read.
    """
    first, second = one.settings, other.settings
    settings = [(key, first.get(key, ""), second.get(key, "")) for key in sorted(first.keys() | second.keys())]
    builds = {
        f"{what} build": (one.builds.get(what, ""), other.builds.get(what, "")) for what in sorted(one.builds | other.builds)
    }
    settings += [(what, before[:12], after[:12]) for what, (before, after) in builds.items()]
    return Difference(
        one,
        other,
        tuple((key, before, after) for key, before, after in settings if before != after),
        ratio(one, other) if one.throughput.mean > 0 else None,
        tuple(_fields(one, other)),
    )


def _fields(one: Run, other: Run) -> list[Field]:
    before, after = _by_name(one), _by_name(other)
    found = []
    for name in dict.fromkeys((*before, *after)):
        (transfers, share), (later, share_later) = before.get(name, (0.0, 0.0)), after.get(name, (0.0, 0.0))
        if _matters(one, transfers) or _matters(other, later):
            fate = _fate(_matters(one, transfers), _matters(other, later), transfers, later)
            found.append(Field(name, transfers, later, share, share_later, fate))
    return sorted(found, key=lambda field: (-abs(field.after - field.before), field.name))


def _by_name(run: Run) -> dict[str, tuple[float, float]]:
    """Transfers for each unit of work, and share of the cycles waited, by field."""
    units = int(run.metrics.get("units") or 0) or 1
    return {
        share.title: ((share.same_socket + share.other_socket) / units, share.cycles_share)
        for share in run.fields()
        if share.same_socket or share.other_socket
    }


def _matters(run: Run, transfers: float) -> bool:
    """Whether so many transfers for each unit explain anything; the report's own threshold."""
    units = int(run.metrics.get("units") or 0) or 1
    return transfers >= FEW and transfers * units >= HANDFUL


def _fate(was: bool, is_there: bool, before: float, after: float) -> Fate:
    if was and not is_there:
        return Fate.GONE if after < before / _FACTOR else Fate.SAME
    if is_there and not was:
        return Fate.NEW if after > before * _FACTOR else Fate.SAME
    if after > before * _FACTOR:
        return Fate.GREW
    return Fate.SHRANK if after * _FACTOR < before else Fate.SAME


def sentence(found: Difference) -> str:
    """The throughput of the second run over that of the first, with the range of their trials."""
    one, other = found.one, found.other
    rates = f"{amount(other.throughput.mean)} against {amount(one.throughput.mean)} {one.unit}/s/core"
    if one.unit != other.unit:
        return f"They count different work, {one.unit} and {other.unit}: {rates} have no ratio."
    if found.throughput is None:
        return f"The first did nothing in a second: {rates} have no ratio."
    seen = found.throughput
    trials = f" ({times(seen.low)} to {times(seen.high)} over their trials)" if seen.trials else " (one trial each)"
    return f"B does {times(seen.mean)} of what A does{trials}: {rates}."


def settings_table(found: Difference) -> Sections:
    """What is not the same in both."""
    table = Sections("A", "B", title="What differs" if found.settings else "Both are of one point and the same builds")
    for name, before, after in found.settings:
        table.add_text(name)
        table.add_row(before or "none", after or "none")
    return table


def field_table(found: Difference, count: int) -> Sections:
    """The ``count`` fields that changed most."""
    per_unit = heading("all_transfers_per_unit")
    share = heading("share_of_cycles")
    headings = [f"A: {per_unit}", f"B: {per_unit}", "B over A", f"A: {share}", f"B: {share}", ""]
    table = Sections(*map(narrow_heading, headings), title="Fields whose lines move between cores, the largest change first")
    for field in found.fields[:count]:
        table.add_text(field.name, "bold" if field.fate is not Fate.SAME else "")
        ratio_text = change(field.before, field.after)
        table.add_row(
            rate(field.before),
            rate(field.after),
            ratio_text,
            percent(field.share_before),
            percent(field.share_after),
            field.fate.value,
        )
    left = len(found.fields) - count
    if left > 0:
        table.add_text(f"and {left} more that changed less", "dim")
    return table


def counts(fields: Sequence[Field]) -> str:
    """How many fields are gone, new, ...: ``2 gone, 1 new, 3 as before``; empty without any."""
    numbers = {fate: sum(field.fate is fate for field in fields) for fate in Fate}
    return ", ".join(f"{number} {fate.value}" for fate, number in numbers.items() if number)

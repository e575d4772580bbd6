# SPDX-License-Identifier: BSD-3-Clause
"""Who called the instructions that waited: of the lines that cost most, chains of callers with their shares."""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from re import Pattern, compile

import pyarrow as pa
import pyarrow.compute as pc

from analysis.attribute.tables import read_table

PRIMITIVES = Path(__file__).with_name("primitives.toml")

SiteKey = tuple[int, int]
"""Physical address of the line and program counter."""


@dataclass(frozen=True)
class Chain:
    """One way in which a site was reached. ``callers`` are functions from the instruction's caller outwards, inlined ones left
    out; none: not known. ``walks`` counts the looks at the stack, ``cycles`` what these accesses waited."""

    callers: tuple[str, ...]
    walks: int
    cycles: int


@dataclass(frozen=True)
class Taker:
    """A function that accesses a line, itself or by way of a primitive such as a lock's. Shares are of the looks at the line."""

    function: str
    called_by: tuple[str, ...]
    """The most frequent chain of its own callers, from the nearest outwards."""
    transfers_share: float
    cycles_share: float


_Ways = dict[str, dict[tuple[str, ...], list[int]]]
"""Of a function, the chains by which it was reached, each with looks and cycles."""


@cache
def _primitives() -> Pattern[str]:
    patterns = tomllib.loads(PRIMITIVES.read_text(encoding="utf-8"))["functions"]
    return compile("|".join(map(translate, patterns)))


def is_primitive(function: str) -> bool:
    """Whether a function is a lock's, a counter's or a copy's own, and says nothing of who wanted it: primitives.toml."""
    return _primitives().fullmatch(function) is not None


def chains(folder: Path, lines: Sequence[int] | None = None) -> dict[SiteKey, list[Chain]]:
    """The chains of each site that has some, most looks first; of all lines or those at addresses ``lines``."""
    callers = read_table(folder, "callers", ["caller", "parent", "function"]).to_pydict()
    parent = dict(zip(callers["caller"], callers["parent"], strict=True))
    function = dict(zip(callers["caller"], callers["function"], strict=True))

    @cache
    def outwards(caller: int) -> tuple[str, ...]:
        return (function[caller], *outwards(parent[caller])) if caller else ()

    table = read_table(folder, "site-callers")
    if lines is not None:
        table = table.filter(pc.is_in(table.column("paddr"), value_set=pa.array(list(lines), pa.uint64())))
    seen: dict[SiteKey, dict[tuple[str, ...], tuple[int, int]]] = defaultdict(dict)
    for row in table.to_pylist():
        site = seen[(row["paddr"], row["pc"])]
        chain = outwards(row["caller"])
        walks, cycles = site.get(chain, (0, 0))
        site[chain] = (walks + row["walks"], cycles + row["cycles"])
    return {
        key: sorted((Chain(chain, *amounts) for chain, amounts in found.items()), key=lambda one: (-one.walks, one.callers))
        for key, found in seen.items()
    }


def takers(folder: Path, lines: Sequence[int]) -> dict[int, list[Taker]]:
    """Who takes each of the lines at the physical addresses ``lines``, the greatest share of its transfers first.

    Of a line that is mostly reached by way of primitives, a lock's say, only those ways count: who merely uses another field
    beside the lock, or gives it back, does not take it.
    """
    found = chains(folder, lines)
    sites = read_table(folder, "sites", ["paddr", "pc", "function"])
    wanted = sites.filter(pc.is_in(sites.column("paddr"), value_set=pa.array(list(lines), pa.uint64())))
    ways: dict[tuple[int, bool], _Ways] = defaultdict(lambda: defaultdict(dict))
    for row in wanted.to_pylist():
        for chain in found.get((row["paddr"], row["pc"]), ()):
            function, *outer = without_primitives((row["function"], *chain.callers))
            amounts = ways[(row["paddr"], is_primitive(row["function"]))][function].setdefault(tuple(outer), [0, 0])
            amounts[0] += chain.walks
            amounts[1] += chain.cycles
    return {line: list(_takers(ways[(line, True)], ways[(line, False)])) for line in sorted({line for line, _ in ways})}


def without_primitives(functions: Sequence[str]) -> Sequence[str]:
    """Functions from the first on that is no primitive; the last one, where all are."""
    first = next((place for place, function in enumerate(functions) if not is_primitive(function)), len(functions) - 1)
    return functions[first:]


def _takers(by_primitives: _Ways, themselves: _Ways) -> Iterator[Taker]:
    chosen = (
        by_primitives
        if 2 * _walks(by_primitives) >= _walks(by_primitives) + _walks(themselves)
        else _merged(by_primitives, themselves)
    )
    sums = {name: [sum(amounts[i] for amounts in ways.values()) for i in (0, 1)] for name, ways in chosen.items()}
    walks, cycles = (sum(amounts[i] for amounts in sums.values()) for i in (0, 1))
    for name in sorted(sums, key=lambda name: (-sums[name][0], name)):
        usual = min(chosen[name].items(), key=lambda item: (-item[1][0], item[0]))[0]
        yield Taker(name, usual, sums[name][0] / walks if walks else 0.0, sums[name][1] / cycles if cycles else 0.0)


def _walks(ways: _Ways) -> int:
    return sum(walks for of_function in ways.values() for walks, _ in of_function.values())


def _merged(one: _Ways, other: _Ways) -> _Ways:
    found: _Ways = defaultdict(dict)
    for ways in (one, other):
        for name, of_function in ways.items():
            for chain, (walks, cycles) in of_function.items():
                amounts = found[name].setdefault(chain, [0, 0])
                amounts[0] += walks
                amounts[1] += cycles
    return found


def waiting_stacks(folder: Path) -> dict[tuple[str, ...], int]:
    """Where cycles are waited: functions from the outermost caller to the instruction's own, then what is waited for; the cycles.

    Each site's cycles go to its chains by what they were seen to wait. Where none is known the stack begins with the site's
    function. The sum is that of the table sites.
    """
    found = chains(folder)
    stacks: dict[tuple[str, ...], int] = defaultdict(int)
    sites = read_table(folder, "sites", ["paddr", "pc", "function", "field", "cycles"])
    walked = pc.is_in(sites.column("paddr"), value_set=pa.array({paddr for paddr, _ in found}, pa.uint64()))
    for function, field, cycles in _sums(sites.filter(pc.invert(walked))):
        stacks[function, f"[{field}]"] += cycles
    columns = sites.filter(walked).to_pydict()
    for paddr, counter, function, field, cycles in zip(*columns.values(), strict=True):
        ways = found.get((paddr, counter), [Chain((), 1, 1)])
        weights = [way.cycles for way in ways] if any(way.cycles for way in ways) else [way.walks for way in ways]
        for way, share in zip(ways, apportioned(cycles or 0, weights), strict=True):
            stacks[(*reversed(way.callers), function, f"[{field}]")] += share
    return {stack: cycles for stack, cycles in stacks.items() if cycles}


def _sums(sites: pa.Table) -> Iterator[tuple[str, str | None, int]]:
    """The sum of the cycles of the sites with a function and a field."""
    sums = sites.group_by(["function", "field"]).aggregate([("cycles", "sum")])
    for row in sums.to_pylist():
        yield row["function"], row["field"], row["cycles_sum"] or 0


def apportioned(total: int, weights: Sequence[int]) -> list[int]:
    """``total`` in whole parts in proportion to ``weights``, whose sum is above 0; the parts add up to it."""
    whole, shares, given, before = sum(weights), [], 0, 0
    for weight in weights:
        before += weight
        upto = total * before // whole
        shares.append(upto - given)
        given = upto
    return shares

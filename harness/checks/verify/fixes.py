# SPDX-License-Identifier: BSD-3-Clause
"""Does each kernel fix do what it is for? Its microbenchmark on all cores, the stock kernel against the fix alone; where what
another fix removes binds first on the stock kernel, both with that fix.

Two measures on what the fix names (type.field or symbol), each per unit of work. Stores to lines that *every* core stores to:
they do not depend on how the cores happen to interleave. And what moves these lines between cores (or the counters that the fix
names instead). A measure that the stock kernel does not show is left out; if that is both, the fix fails. Beside them, throughput
on all cores, a mean of trials (which core comes first at a contended line is chance, docs/decisions/0011), and on one, where the
region is longer, so that a tick of the clock more or less does not show. A second table says
what one core's time went to: where the linker put the code decides which of it falls out of the instruction cache, so time spent
waiting for code is more of the layout's doing than of the fix's.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

from analysis.attribute.subjects import Kind
from analysis.attribute.tables import read_table
from analysis.report.runs import Run
from common import settings
from common.arguments import positive
from common.outcome import Failure, bad_input
from common.terminal import console
from harness.build import kernel_source
from harness.checks.registry import Check
from harness.checks.verify.measuring import add_source_option, prepare_host, stored_by_all
from harness.run import runner
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.fixes import Measure, Piece
from harness.spec.point import Point

NAME = "fixes"
SUMMARY = "kernel fixes: on 48 cores, stores by every core and transfers on what each is about fall by 10 x, nothing gets slower"
REUSES = True
QUICK = None  # a kernel for each fix, and runs on 48 cores that stores count in

_MACHINE = "opteron-8431"
_TRIALS = 5
_NOISE = 0.01
"""Of the mean's: what is slower by less is as fast, however well the trials agree."""
_ERRORS = 2
"""Standard errors of a difference: what is slower by less is as fast, as far as the trials tell."""
_SLOWER_ALONE = 0.02
_LONGER_ALONE = 20
"""Times the iterations of the region on all cores."""


@dataclass(frozen=True)
class Cost:
    """A unit of work on one core: instructions, cycles, and those in which it waited for kernel code and for other memory."""

    instructions: float
    cycles: float
    code: float
    data: float


@dataclass(frozen=True)
class Seen:
    """A kernel: stores by every core and counters on the lines, per unit of work; work per second and core, on all cores in each
    trial and on one core."""

    stores: float
    moved: float
    rates: tuple[float, ...]
    alone: float
    cost: Cost | None = None

    @property
    def rate(self) -> float:
        """Work per second and core on all cores, the mean of the trials."""
        return statistics.mean(self.rates)

    @property
    def error(self) -> float:
        """Standard error of `rate`; zero of one trial, which does not tell."""
        return statistics.stdev(self.rates) / math.sqrt(len(self.rates)) if len(self.rates) > 1 else 0.0


@dataclass(frozen=True)
class Row:
    """A fix, the stock kernel's run and its own; ``fault`` where there is none."""

    source: str
    piece: Piece
    stock: Seen | None = None
    fixed: Seen | None = None
    fault: str = ""

    @property
    def problems(self) -> list[str]:
        """What falls short, in a few words each."""
        if self.stock is None or self.fixed is None or self.piece.measure is None:
            return [self.fault or "not measured"]
        out = []
        want = self.piece.measure.reduction
        if want is not None:
            seen = [(a, b) for a, b in ((self.stock.stores, self.fixed.stores), (self.stock.moved, self.fixed.moved)) if a > 0]
            out += ["nothing to see on its lines"] if not seen else []
            out += [f"{factor(a, b)} instead of {want:g} x" for a, b in seen if a < want * b]
        loss = self.stock.rate - self.fixed.rate
        if loss > self.stock.rate * _NOISE and loss > _ERRORS * math.hypot(self.stock.error, self.fixed.error):
            out.append("slower on all cores")
        if self.fixed.alone < self.stock.alone * (1 - _SLOWER_ALONE):
            out.append("slower on one core" + self._without_code)
        return out

    @property
    def _without_code(self) -> str:
        """How much of being slower on one core is left without the waits for code."""
        stock, fixed = self.stock and self.stock.cost, self.fixed and self.fixed.cost
        if not stock or not fixed:
            return ""
        more = (fixed.cycles - fixed.code) / (stock.cycles - stock.code) - 1
        return f" ({100 * more:+.1f} % cycles without waits for code)"


def factor(before: float, after: float) -> str:
    """How many times less, for people."""
    return "-" if before == 0 else "all gone" if after == 0 else f"{before / after:.1f} x"


def matches(label: str, names: Sequence[str]) -> bool:
    """Whether a site's label is one of ``names`` or lies below one: inode.i_mutex has inode.i_mutex.count in it."""
    label = label.removeprefix("struct ")
    return any(label == name or label.startswith((f"{name}.", f"{name}[")) for name in names)


def measure(folder: Path, wanted: Measure) -> tuple[float, float]:
    """Stores by every core, and the counters, of accesses to what ``wanted`` names, per unit of work, in a run with hits counted.

    Counted is each access to the very bytes that are named, not all of the line's: a fix answers for its own field, and the line
    may hold another fix's (the count and the lock of a dentry). `bottleneck_table.measure` counts lines. Where ``wanted`` names
    nothing its counters are of all accesses, and there are no stores to look at.
    """
    run = Run(folder)
    sites = read_table(folder, "sites", ["paddr", "field"], counted=["writes", *wanted.counters])
    lines = read_table(folder, "lines", ["paddr", "writers"])
    by_all = lines.column("paddr").to_numpy()[stored_by_all(lines, run.point["core_list"])]
    labels = sites.column("field").to_pylist()
    chosen = np.array([not wanted.lines or matches(label or "", wanted.lines) for label in labels], np.bool_)
    stored = chosen & np.isin(sites.column("paddr").to_numpy(), by_all) & bool(wanted.lines)
    stores = int(sites.column("writes").to_numpy()[stored].sum())
    moved = sum(int(sites.column(name).to_numpy()[chosen].sum()) for name in wanted.counters)
    units = run.metrics["units"]
    return stores / units, moved / units


def cost(folder: Path) -> Cost:
    """What a unit of work took in a run on one core."""
    metrics = Run(folder).metrics
    lines = read_table(folder, "lines", ["paddr", "cycles"])
    kinds = read_table(folder, "memory-types", ["paddr", "kind"])
    if not lines.column("paddr").equals(kinds.column("paddr")):
        raise ValueError(f"{folder}: the lines of memory-types are others than those of lines")
    cycles = lines.column("cycles").to_numpy()
    code = np.array([kind == Kind.CODE for kind in kinds.column("kind").to_pylist()], np.bool_)
    units = metrics["units"]
    return Cost(
        metrics["instructions"] / units,
        metrics["cycles_busy"] / units,
        int(cycles[code].sum()) / units,
        int(cycles[~code].sum()) / units,
    )


def configure(parser: argparse.ArgumentParser) -> None:
    add_source_option(parser, "only fixes of this source")
    parser.add_argument("--fix", action="append", metavar="NAME", help="only this fix (may be given again)")
    parser.add_argument("--together", action="store_true", help="all fixes at once instead of each alone: one kernel to build")
    parser.add_argument("--trials", type=positive, default=_TRIALS, metavar="N", help="runs on all cores (%(default)s)")
    parser.add_argument("--machine", default=_MACHINE, help="%(default)s; smaller ones only show that it works")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, unless it is there; fixes with one benchmark share the stock kernel's."""
    found: dict[str, Point] = {}
    for source, piece in _chosen(arguments.source, arguments.fix):
        if piece.measure is not None:
            for fixes in _kernels(piece, piece.measure, arguments.together):
                wanted = _points(source, fixes, piece.measure, arguments.machine, arguments.trials)
                found |= {one.id: one for one in (wanted.counted, *wanted.trials, wanted.alone)}
    return list(found.values())


def run(arguments: argparse.Namespace) -> Check:
    """Measure every fix of every source that is there (or those named), print one table, judge each row."""
    prepare_host()
    rows = []
    for source, piece in _chosen(arguments.source, arguments.fix):
        row = _row(source, piece, arguments.together, arguments.machine, arguments.trials)
        sys.stderr.write(f"{piece.name}: {'; '.join(row.problems) or 'as it must be'}\n")
        rows.append(row)
    console().print(_table(rows, arguments.together))
    console().print(_costs(rows))
    return judge(rows, arguments.together)


def judge(rows: Sequence[Row], together: bool = False) -> Check:
    """All fixes do what they are for."""
    good = sum(not row.problems for row in rows)
    kernels = "a kernel with all of them" if together else "kernels with each alone"
    figure = (
        f"{NAME}: in {kernels} {good} of {len(rows)} fixes reduce what they are about by 10 x (or as they state), no slower on "
        f"all cores (to {100 * _NOISE:g} % or {_ERRORS} standard errors of the trials) and at most {100 * _SLOWER_ALONE:g} % "
        "slower on one; wanted: all"
    )
    return Check(good == len(rows), figure, len(rows))


def _chosen(source: str | None, names: Sequence[str] | None) -> Iterator[tuple[str, Piece]]:
    """Sources that are here, or the one, and the fixes of them.

    Raises:
        Failure: bad-input, when there is none, or the source that is named is not here.
    """
    found = 0
    for one in [source] if source else kernels.sources():
        recipe = kernels.load_recipe(one)
        fixes = [piece for piece in recipe.fixes.values() if piece.number is not None]
        fixes = [piece for piece in fixes if names is None or piece.name in names]
        if not fixes:
            continue
        found += len(fixes)
        try:
            kernel_source.find_source(recipe)
        except Failure as failure:
            if source:
                raise
            print(f"Left out: {failure.what}")
            continue
        yield from ((one, piece) for piece in fixes)
    if not found:
        raise bad_input(f"No source has a fix {' or '.join(names or ['at all'])}.", "`run.py list fixes` has the names.")


def _kernels(piece: Piece, wanted: Measure, together: bool) -> tuple[str, str]:
    """Fixes of the kernels that are compared."""
    if together:
        return "stock", "pk"
    return wanted.without, "+".join((*wanted.over, piece.name))


def _row(source: str, piece: Piece, together: bool, machine: str, trials: int) -> Row:
    if piece.measure is None:
        return Row(source, piece, fault="fix.toml has no [measure]")
    try:
        both = _kernels(piece, piece.measure, together)
        stock, fixed = (_see(source, which, piece.measure, machine, trials) for which in both)
    except Failure as failure:
        return Row(source, piece, fault=str(failure.unless_interrupted().what))
    return Row(source, piece, stock, fixed)


def _see(source: str, fixes: str, wanted: Measure, machine: str, trials: int) -> Seen:
    chosen = _points(source, fixes, wanted, machine, trials)
    counted = _run(chosen.counted)
    rates = [Run(_run(one)).per_core for one in chosen.trials]
    alone = _run(chosen.alone)
    stores, moved = measure(counted, wanted)
    return Seen(stores, moved, tuple(rates), Run(alone).per_core, cost(alone))


@dataclass(frozen=True)
class _Points:
    """What is run of a kernel for one fix: with hits counted, trials on all cores, and on one."""

    counted: Point
    trials: Sequence[Point]
    alone: Point


def _points(source: str, fixes: str, wanted: Measure, machine: str, trials: int) -> _Points:
    counted = _point(source, fixes, wanted, machine, {"set.count_hits": "1"})
    longer = {f"param.{name}": str(int(counted.parameters[name]) * _LONGER_ALONE) for name in ("iterations", "warmup")}
    each = [_point(source, fixes, wanted, machine, {"trial": str(number + 1)}) for number in range(trials)]
    return _Points(counted, each, _point(source, fixes, wanted, machine, {"cores": "1", **longer}))


def _point(source: str, fixes: str, wanted: Measure, machine: str, more: sweep.Settings) -> Point:
    parameters = {f"param.{name}": value for name, value in wanted.parameters.items()}
    return points.resolve({"kernel": f"{source}:{fixes}", "workload": wanted.workload, "machine": machine, **parameters, **more})


def _run(wanted: Point) -> Path:
    return runner.run_point(wanted, settings.load().runs).folder


def _table(rows: Sequence[Row], together: bool) -> Table:
    title = f"The stock kernel -> with {'all fixes' if together else 'the fix alone'} (fast engine; cycles are a model's)"
    table = Table(title=title, title_justify="left")
    for heading in ("fix", "benchmark", "stores by all cores /op", "moved /op", "op/s/core, all", "op/s/core, one", "verdict"):
        table.add_column(heading, overflow="fold")  # a name that is cut off cannot be asked for
    for row in rows:
        cells = ["", "", "", ""]
        if row.stock and row.fixed:
            stock, fixed = row.stock, row.fixed
            pairs = [(stock.stores, fixed.stores), (stock.moved, fixed.moved)]
            cells = [f"{a:.2f} -> {b:.2f} ({factor(a, b)})" for a, b in pairs]
            rates = [f"{one.rate:,.0f} ± {one.error:,.0f}" for one in (stock, fixed)]
            cells += [f"{rates[0]} -> {rates[1]} ({100 * (fixed.rate / stock.rate - 1):+.1f} %)"]
            cells += [f"{stock.alone:,.0f} -> {fixed.alone:,.0f} ({100 * (fixed.alone / stock.alone - 1):+.1f} %)"]
        workload = row.piece.measure.workload if row.piece.measure else ""
        if row.piece.measure and row.piece.measure.over and not together:
            workload += f", both with {', '.join(row.piece.measure.over)}"
        verdict = "[red]" + "; ".join(row.problems) + "[/]" if row.problems else "as it must be"
        effect = f" ({row.piece.measure.effect})" if row.piece.measure and row.piece.measure.effect else ""
        table.add_row(f"{row.source} {row.piece.number} {row.piece.name}", workload, *cells, verdict + effect)
    return table


def _costs(rows: Sequence[Row]) -> Table:
    table = Table(title="A unit of work on one core", title_justify="left")
    for heading in ("fix", "instructions", "cycles", "waits for code", "for data"):
        table.add_column(heading)
    for row in rows:
        if row.stock and row.fixed and row.stock.cost and row.fixed.cost:
            names = ("instructions", "cycles", "code", "data")
            pairs = [(getattr(row.stock.cost, name), getattr(row.fixed.cost, name)) for name in names]
            table.add_row(f"{row.source} {row.piece.number} {row.piece.name}", *(f"{a:,.0f} -> {b:,.0f}" for a, b in pairs))
    return table

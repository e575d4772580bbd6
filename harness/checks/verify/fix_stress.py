# SPDX-License-Identifier: BSD-3-Clause
"""Do the kernel fixes stay right under concurrency? Every stress on a kernel with all fixes that checks itself.

The kernel is built with lock dependency checking and slab, list and spin-lock debugging. A workload's own checks end the run;
what the kernel says about itself is looked for on the console. No cache model runs: the order of the cores is the engine's, which
changes core every few dozen instructions.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common.arguments import positive
from common.outcome import Failure
from common.progress import step
from common.terminal import console
from harness.build import image, kernel, kernel_source
from harness.build.kernel import Kernel
from harness.checks.registry import Check
from harness.checks.verify.measuring import Measured, add_source_option, keep, prepare_host, read_console, scratch
from harness.run.engines.fast import FastEngine
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec import workload
from harness.spec.point import Point

NAME = "fix-stress"
SUMMARY = "kernel fixes under stress, lock dependency and slab checks on: a million operations, no word from the kernel"
QUICK = None  # a kernel with every check, and a million operations on it
BESIDES = "A stress that has not done its operations then is run again for the rest."

_OPERATIONS = 1_000_000
_QUANTUM = 53
"""Cycles, which are instructions here, that a core may be ahead of another."""
_DEBUGGING = (
    "CONFIG_PROVE_LOCKING=y",
    "CONFIG_DEBUG_SPINLOCK=y",
    "CONFIG_DEBUG_MUTEXES=y",
    "CONFIG_DEBUG_LOCK_ALLOC=y",
    "CONFIG_DEBUG_LIST=y",
    "CONFIG_SLUB_DEBUG=y",
    "CONFIG_SLUB_DEBUG_ON=y",
)
"""Configuration lines that every source takes; what one needs besides is in its kernel.toml."""
# A kernel that complains prints one of these (a report of lockdep starts with INFO: or WARNING:, or, in old ones, with a box).
_COMPLAINTS = re.compile(
    r"WARNING:|BUG[: ]|\bOops\b|general protection|INFO: (?!lockdep is turned off)|possible (?:circular|recursive|irq) lock|"
    r"inconsistent lock state|bad unlock balance|held lock freed|lock held when returning|suspicious (?:rcu|RCU)|"
    r"Poison overwritten|Redzone|Object already free|list_(?:add|del) corruption|kernel panic|Call Trace|soft lockup|rcu_sched"
)


@dataclass(frozen=True)
class Stressed:
    """One variant: operations done, and what went wrong (empty: nothing)."""

    source: str
    fixes: str
    variant: str
    operations: int
    fault: str


def complaints(text: str) -> list[str]:
    """Lines of a console on which the kernel complains about itself."""
    return [line.strip() for line in text.splitlines() if not line.startswith("@mosbench") and _COMPLAINTS.search(line)]


def answers(text: str) -> list[str]:
    """Lines of a console on which the stress program says what the kernel answered wrongly."""
    return [line.strip() for line in text.splitlines() if line.startswith("stress: ")]


def configure(parser: argparse.ArgumentParser) -> None:
    variants = _variants()
    add_source_option(parser, "only this source (default: all that are there)")
    parser.add_argument("--fixes", default="pk", help="stock, pk or NAME+NAME (%(default)s)")
    parser.add_argument("--variant", action="append", choices=variants, help="only this stress (may be given again)")
    parser.add_argument("--cores", type=positive, default=12, help="cores of the machine opteron-8431 (%(default)s)")
    parser.add_argument("--operations", type=positive, default=_OPERATIONS, help="of all variants together (%(default)s)")


def extra_config(source: str) -> tuple[str, ...]:
    """Lines of the configuration of the kernel that checks itself."""
    return (*_DEBUGGING, *kernels.load_recipe(source).checking)


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs first of each stress."""
    chosen = arguments.variant or _variants()
    first = _first(arguments.operations // len(chosen), arguments.cores)
    return [
        _point(source, arguments.fixes, variant, arguments.cores, first)
        for source in _sources(arguments.source, arguments.fixes)
        for variant in chosen
    ]


def _sources(source: str | None, fixes: str) -> Iterator[str]:
    """Those that are here and have such fixes; without ``source`` the others are named."""
    for one in [source] if source else kernels.sources():
        recipe = kernels.load_recipe(one)
        if not kernels.chosen_fixes(recipe, fixes.split("+")) and fixes != "stock":
            continue
        try:
            kernel_source.find_source(recipe)
        except Failure as failure:
            if source:
                raise
            print(f"Left out: {failure.what}")
            continue
        yield one


def run(arguments: argparse.Namespace) -> Check:
    """Build the debugging kernel, run every variant, print one table."""
    prepare_host()
    chosen = arguments.variant or _variants()
    done: list[Stressed] = []
    with scratch(NAME) as folder:
        for source in _sources(arguments.source, arguments.fixes):
            each = arguments.operations // len(chosen)
            done += _stress(source, arguments.fixes, chosen, arguments.cores, each, folder / source)
        console().print(_table(done))
        ended = judge(done, arguments.operations)
        if not ended.passed:
            keep(folder)
    return ended


def _variants() -> list[str]:
    return list(workload.load("stress").variants)


def judge(done: Sequence[Stressed], operations: int) -> Check:
    """No fault, and for each source as many operations as were wanted."""
    faults = [one for one in done if one.fault]
    counted = {one.source: sum(other.operations for other in done if other.source == one.source) for one in done}
    least = min(counted.values(), default=0)
    figure = (
        f"{NAME}: {len(done)} stresses, {sum(counted.values()):,} operations, {len(faults)} with a fault; wanted: at least "
        f"{operations:,} for each source, none with a fault"
    )
    return Check(not faults and least >= operations, figure, len(done))


def _stress(source: str, fixes: str, variants: Sequence[str], cores: int, each: int, folder: Path) -> Iterator[Stressed]:
    names = points.parse_kernel(f"{source}:{fixes}")[1]
    built = kernel.build(source, names, extra_config=extra_config(source))
    for variant in variants:
        yield _one(source, fixes, variant, cores, each, built, folder / variant)


def _one(source: str, fixes: str, variant: str, cores: int, each: int, built: Kernel, folder: Path) -> Stressed:
    """Run a variant until it has done ``each`` operations: an iteration is at least one, most are more, so a first run tells."""
    operations, iterations = 0, _first(each, cores)
    for attempt in range(20):
        try:
            measured = _boot(source, fixes, variant, cores, iterations, built, folder / str(attempt))
        except Failure as failure:
            found = failure.unless_interrupted().what
            said = [*answers(_text(folder / str(attempt)))[:1], *complaints(_text(folder / str(attempt)))[:2]]
            return Stressed(source, fixes, variant, operations, "; ".join([found, *said]))
        operations += int(measured.result["units"])
        if said := complaints(_text(folder / str(attempt))):
            return Stressed(source, fixes, variant, operations, said[0])
        if operations >= each:
            break
        per_iteration = int(measured.result["units"]) / iterations
        iterations = int((each - operations) / per_iteration) + 1
    return Stressed(source, fixes, variant, operations, "")


def _first(each: int, cores: int) -> int:
    """Iterations of the first run of a stress that is to do ``each`` operations."""
    return max(each // cores // 8, 1)


def _text(folder: Path) -> str:
    path = folder / "console.log"
    return path.read_text(errors="replace") if path.is_file() else ""


def _point(source: str, fixes: str, variant: str, cores: int, iterations: int) -> Point:
    return points.resolve(
        {"kernel": f"{source}:{fixes}", "workload": f"stress:{variant}:iterations={iterations}", "cores": str(cores)}
    )


def _boot(source: str, fixes: str, variant: str, cores: int, iterations: int, built: Kernel, folder: Path) -> Measured:
    wanted = _point(source, fixes, variant, cores, iterations)
    (folder / "engine").mkdir(parents=True)
    engine = FastEngine({"snapshot": "off", "model": "", "quantum": str(_QUANTUM)})
    with step(f"{wanted.title}, {iterations} iterations") as current:
        engine.execute(wanted, built, image.of(wanted), folder, current)
    return Measured(wanted, folder, read_console(folder / "console.log"))


def _table(done: Sequence[Stressed]) -> Table:
    table = Table("kernel", "stress", "operations", "result", title="Stress under a checking kernel", title_justify="left")
    for one in done:
        result = f"[red]{one.fault}[/]" if one.fault else "nothing wrong"
        table.add_row(f"{one.source}:{one.fixes}", one.variant, f"{one.operations:,}", result)
    return table

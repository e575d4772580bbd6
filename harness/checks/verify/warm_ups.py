# SPDX-License-Identifier: BSD-3-Clause
"""Is a default region warm and long enough? On one core twice the work must give the same throughput.

Every variant of a workload that is there to be measured (its workload.toml has `work`) runs on as few cores as it can, at
its default size and with twice as much work. Where the first part of a region is slower than the rest, be it for cold caches,
for slabs that are begun or for a tick of the kernel's clock, the second run is faster, and throughput on many cores looks too
good beside the first.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from common.outcome import Failure, bad_input
from common.terminal import console
from harness.build import kernel_source
from harness.checks.registry import Check
from harness.checks.verify.measuring import execute, keep, point, prepare_host, scratch
from harness.run import runner
from harness.run.metrics import throughput
from harness.spec import kernel as kernels
from harness.spec import workload
from harness.spec.point import Point

NAME = "warm-ups"
SUMMARY = "every workload at its default size on one core: twice the work changes its throughput by less than 2 %"
QUICK = ("--workload", "micro:open-close,micro:socket,micro:stat", "--kernel", kernels.default_source())

_BOUND = 0.02


@dataclass(frozen=True)
class Pair:
    """A default point and the same with twice the work, as texts; ``title`` names both."""

    title: str
    default: str
    twice: str


@dataclass(frozen=True)
class Change:
    """Throughput of a pair, in units for each second and core."""

    title: str
    unit: str
    default: float
    twice: float
    milliseconds: float
    """Length of the default region."""

    @property
    def share(self) -> float:
        """What the longer run has more, as a share of its throughput."""
        return 1 - self.default / self.twice

    @property
    def suffices(self) -> bool:
        return abs(self.share) < _BOUND


def variants(words: Sequence[str]) -> list[str]:
    """Those to look at, as "micro:stat": all that are measured, or those of ``words``: workloads, or single variants.

    Raises:
        Failure: bad-input, for a word that is neither.
    """
    known = {f"{one.name}:{variant}": one.name for one in workload.load_all() if one.work for variant in one.variants}
    for word in words:
        if word not in known and word not in known.values():
            raise bad_input(f"{word!r} is no workload that is measured.", f"Use {', '.join(sorted({*known.values(), *known}))}.")
    return [text for text, name in known.items() if not words or text in words or name in words]


def pairs(texts: Sequence[str], sources: Sequence[str]) -> Iterator[Pair]:
    """The points of each variant on each kernel source."""
    for source in sources:
        for text in texts:
            job = workload.parse(text)
            work = job.workload.work
            twice = 2 * int(job.parameters[work])
            place = f"kernel={source} * cores={job.needs_cores_min}"
            yield Pair(f"{text} on {source}", f"workload={text} * {place}", f"workload={text}:{work}={twice} * {place}")


def _sources() -> list[str]:
    """The default one and the paper's, where they are here."""
    here = kernel_source.available()
    return [source for source in dict.fromkeys((kernels.default_source(), kernels.paper_source())) if source in here]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workload", metavar="A,B", help="workloads and variants (default: all that are measured)")
    parser.add_argument("--kernel", metavar="A,B", help=f"kernels, SOURCE[:FIXES] (default: {','.join(_sources())})")


def _wanted(arguments: argparse.Namespace) -> list[Pair]:
    words = list(filter(None, (arguments.workload or "").split(",")))
    chosen = arguments.kernel.split(",") if arguments.kernel else _sources()
    return list(pairs(variants(words), chosen))


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs, pair after pair."""
    return [point(text) for pair in _wanted(arguments) for text in (pair.default, pair.twice)]


def run(arguments: argparse.Namespace) -> Check:
    """Run each pair, print both throughputs, judge the largest change."""
    wanted = _wanted(arguments)
    prepare_host()
    changes, failed = [], []
    with scratch(NAME) as folder:
        for number, pair in enumerate(wanted):
            try:
                change = measure(pair, folder / str(number))
            except Failure as failure:
                failed.append(f"{pair.title}: {failure.unless_interrupted()}")
                sys.stderr.write(f"{failed[-1]}\n")
                keep(folder)
                continue
            changes.append(change)
            sys.stderr.write(f"{change.title}: {100 * change.share:+.1f} %\n")
            shutil.rmtree(folder / str(number))
    console().print(table(changes))
    return judge(changes, failed)


def measure(pair: Pair, folder: Path) -> Change:
    """Run both points of a pair into ``folder``.

    Raises:
        Failure: every typed outcome but ok.
    """
    ends = []
    for size, text in (("default", pair.default), ("twice", pair.twice)):
        wanted = point(text)
        runner.prepare(wanted)
        ends.append(throughput(execute(wanted, folder / size).result, wanted))
    first, second = ends
    rates = (first["units_per_second_core"], second["units_per_second_core"])
    return Change(pair.title, first["unit"], *rates, 1e3 * first["seconds"])


def table(changes: Sequence[Change]) -> Table:
    """A row for each pair."""
    shown = Table("workload and kernel", "unit", title="Throughput per second and core", title_justify="left")
    for heading in ("region, ms", "default", "twice the work", "change"):
        shown.add_column(heading, justify="right")
    for one in changes:
        change = f"{100 * one.share:+.1f} %"
        figures = (f"{one.milliseconds:.3g}", f"{one.default:,.0f}", f"{one.twice:,.0f}")
        shown.add_row(one.title, one.unit, *figures, change if one.suffices else f"[red]{change}[/]")
    return shown


def judge(changes: Sequence[Change], failed: Sequence[str]) -> Check:
    """Every point ran, no change is as large as the bound, and there was one to judge."""
    if not changes:
        return Check(False, f"{NAME}: no point was run{_listed(failed)}", 0)
    cold = [one.title for one in changes if not one.suffices]
    worst = max(changes, key=lambda one: abs(one.share))
    figure = (
        f"{NAME}: {len(changes)} default points, largest change with twice the work {100 * worst.share:+.1f} % ({worst.title}), "
        f"{len(failed)} did not run; wanted: less than {100 * _BOUND:g} %, all run"
    )
    return Check(not cold and not failed, figure + _listed([*cold, *failed]), len(changes))


def _listed(problems: Sequence[str]) -> str:
    return f" (not so: {', '.join(problems)})" if problems else ""

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py bottlenecks`: the paper's bottlenecks one by one, each by the microbenchmark of the fix that removes it.

Each benchmark runs on every kernel and number of cores that are asked for, on the engine that is asked for and, beside it, on
the fast one. Where something else binds first on the stock kernel, as the fix says, that is fixed on the kernel without it. For
a unit of work it says how long it takes, how many lines move between cores and how many probes that needs; how much of it is on
what the fix is about; and which field has most of the transfers, accessed where. gem5 takes its time, so regions are short;
cores are in order on both. Complete runs are used again: a command that was cut off goes on where it was.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from analysis.report import agreement
from analysis.report.agreement import Side
from analysis.report.runs import Run
from common import settings
from common.columns import say, tell
from common.outcome import Failure, Outcome, bad_input
from common.terminal import console, plain_table
from harness.checks.verify.fixes import measure
from harness.cli import dry_run, options
from harness.run import many
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec.fixes import Measure, Piece
from harness.spec.point import Point

_FEW_CORES = 8
_MOST = {"iterations": 101, "warmup": 23}
"""Of each core, on few cores."""
_MOST_ON_STOCK = {"iterations": 31, "warmup": 23}
"""Of each of more cores with a kernel that has not the fix: where 48 wait for one lock, gem5 takes ten minutes for that. After a
warm-up of 11 gem5's queue at another lock than after 23, probably since it begins with empty caches."""
_MOST_ON_FIXED = {"iterations": 211, "warmup": 23}
"""Of the same with it: nobody waits, and a region of 31 would be shorter than a tick of the clock takes."""
_CONNECTIONS = {"connections": 4}
"""Of clients behind the network card, for each core at most."""
_NODE_MIB = 256


@dataclass(frozen=True)
class Case:
    """A bottleneck on one kernel, number of cores and engine."""

    fix: Piece
    point: Point


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="FIX", help="names or numbers of fixes (default: all 16)")
    parser.add_argument("--engine", default="gem5", help="%(default)s; the fast engine is beside it")
    source = kernels.paper_source()
    parser.add_argument("--kernel", default=f"{source}:stock,{source}:pk", metavar="A,B", help="of one source (%(default)s)")
    parser.add_argument("--cores", default="8,48", metavar="N,M", help="%(default)s")
    parser.add_argument("--machine", default=points.DEFAULTS["machine"], help="%(default)s")
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    cases = select(arguments)
    wanted = list({case.point.id: case.point for case in cases}.values())
    if arguments.dry_run:
        return dry_run.show(wanted, arguments.output, reuse=arguments.reuse, jobs=arguments.jobs or settings.load().job_count)
    many.prepare_all(wanted)
    finished = {ended.point.id: ended for ended in options.run_points(wanted, arguments)}
    failed = [ended for ended in finished.values() if ended.outcome is not Outcome.OK]
    for ended in failed:
        say(f"mosbench: {ended.point.title}: {Failure(ended.outcome, ended.what, ended.cure)}")
    seen = [(case, finished[case.point.id].folder) for case in cases if finished[case.point.id].outcome is Outcome.OK]
    rows = [(case, Seen(agreement.read_side(folder), Run(folder), case.fix.measure)) for case, folder in seen if folder]
    for table in tables(rows):
        console().print(table)
    tell(f"bottlenecks: {len(rows)} of {len(cases)} cases of {len({case.fix.number for case, _ in rows})} bottlenecks were run.")
    return failed[0].outcome.exit_status if failed else 0


def select(arguments: argparse.Namespace) -> list[Case]:
    """What the options mean, bottleneck by bottleneck.

    Raises:
        Failure: bad-input, naming the setting.
    """
    texts = arguments.kernel.split(",")
    sources = {points.parse_kernel(text)[0] for text in texts}
    if len(sources) != 1:
        raise bad_input(f"Fixes are of one source, and the kernels are of {' and '.join(sorted(sources))}.", "Name one source's.")
    every = [one for one in kernels.load_recipe(sources.pop()).fixes.values() if one.number is not None and one.measure]
    if unknown := [name for name in arguments.names if not any(name in (one.name, str(one.number)) for one in every)]:
        raise bad_input(f"There is no fix {unknown[0]!r} with a benchmark.", "`run.py list fixes` has the names and numbers.")
    chosen = [one for one in every if not arguments.names or one.name in arguments.names or str(one.number) in arguments.names]
    engines = dict.fromkeys((arguments.engine, "fast"))
    return [
        Case(fix, _point(fix, fix.measure, {"kernel": kernel, "cores": cores, "engine": engine, "machine": arguments.machine}))
        for fix in chosen
        if fix.measure
        for cores in arguments.cores.split(",")
        for kernel in (_without(fix.measure, text) for text in texts)
        for engine in engines
    ]


def _without(wanted: Measure, kernel: str) -> str:
    """A stock kernel with what its fix needs so that its bottleneck is seen; any other as it is."""
    source, fixes = points.parse_kernel(kernel)
    return kernel if fixes else f"{source}:{wanted.without}"


def _point(fix: Piece, wanted: Measure, more: dict[str, str]) -> Point:
    """The benchmark as the fix has it, with a region that is short enough for gem5."""
    parameters = {f"param.{name}": value for name, value in wanted.parameters.items()}
    machine = {"set.node_mib": str(_NODE_MIB), "set.core": "in-order"}
    whole = points.resolve({"workload": wanted.workload, **parameters, **machine, **more})
    shape = _MOST if whole.cores <= _FEW_CORES else _MOST_ON_FIXED if fix.name in whole.fixes else _MOST_ON_STOCK
    bounds = {name: most for name, most in {**shape, **_CONNECTIONS}.items() if name in whole.parameters}
    less = {f"param.{name}": str(min(most, int(whole.parameters[name]))) for name, most in bounds.items()}
    return points.resolve({"workload": wanted.workload, **parameters, **less, **machine, **more})


class Seen:
    """What a run says of a bottleneck."""

    def __init__(self, side: Side, run: Run, wanted: Measure | None) -> None:
        self.side = side
        self.on_its_lines = measure(run.folder, wanted)[1] if wanted and wanted.lines else None
        hottest = run.hot_lines(1)
        site = hottest[0].sites[0] if hottest and hottest[0].sites else None
        self.line = f"{hottest[0].paddr:#x}" if hottest else ""
        self.function = site.function if site else ""

    def count(self, name: str) -> str:
        """Of a unit of work; empty where the engine does not know it."""
        found = self.side.counts.get(name)
        return "" if found is None else f"{found / self.side.units:.2f}"


def tables(rows: Sequence[tuple[Case, Seen]]) -> tuple[Table, Table]:
    """Figures of each case, and what the transfers were about."""
    counts = plain_table("bottleneck", "cores", "kernel", "engine", "cycles", title="For a unit of work")
    for heading in ("on its lines", *agreement.COUNTS):
        counts.add_column(heading, overflow="fold", justify="right")
    fields = plain_table("bottleneck", "cores", "kernel", "engine", title="Where most transfers of written lines are")
    for heading in ("field", "share", "hottest line", "accessed most by"):
        fields.add_column(heading, overflow="fold")
    for case, seen in rows:
        name = [f"{case.fix.number} {case.fix.name}", str(case.point.cores), case.point.kernel_text, case.point.engine]
        on_its = "" if seen.on_its_lines is None else f"{seen.on_its_lines:.2f}"
        counts.add_row(*name, f"{seen.side.cycles_per_unit:,.0f}", on_its, *map(seen.count, agreement.COUNTS))
        top = seen.side.top[0] if seen.side.top else ""
        fields.add_row(*name, top, f"{100 * seen.side.share(top):.0f} %" if top else "", seen.line, seen.function)
    return counts, fields

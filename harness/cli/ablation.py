# SPDX-License-Identifier: BSD-3-Clause
"""`run.py ablation`: one fix after another on microbenchmarks, from the stock kernel to one with all of them.

Every step is a kernel of its own. Which fixes, and in which order, is the user's: a chain of the few that a workload meets is
built sooner than one of all. The last step is always pk. The report has a figure of each workload.
"""

import argparse
from collections.abc import Sequence

from common.outcome import bad_input
from harness.cli import options
from harness.cli.conclude import run_and_conclude
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec import workload
from harness.spec.point import Point

WORKLOADS = ("micro:open-close", "micro:stat", "micro:accept", "micro:lseek", "micro:udp-send")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", choices=kernels.sources(), default=kernels.paper_source(), help="kernel source (%(default)s)")
    parser.add_argument("--fixes", metavar="A,B", help="fixes in the order in which they are added (default: all, by number)")
    parser.add_argument("--workload", action="append", metavar="A,B", help=f"workloads (default: {', '.join(WORKLOADS)})")
    parser.add_argument("--cores", default="48", metavar="N,M", help="core counts (%(default)s)")
    parser.add_argument("--machine", default=points.DEFAULTS["machine"], help="%(default)s")
    parser.add_argument("--engine", default=points.DEFAULTS["engine"], help="%(default)s")
    options.add_trials_option(parser)
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    wanted = select(arguments)
    return run_and_conclude(wanted, arguments, "ablation")


def select(arguments: argparse.Namespace) -> list[Point]:
    """The points that the options mean, workload by workload.

    Raises:
        Failure: bad-input, naming the setting.
    """
    texts = arguments.workload or [",".join(WORKLOADS)]
    kernels = chain(arguments.source, arguments.fixes.split(",") if arguments.fixes else None)
    fixed = {"machine": arguments.machine, "engine": arguments.engine}
    return [
        points.resolve({**fixed, "workload": workload, "cores": cores, "kernel": text, "trial": trial})
        for workload in (one for text in texts for one in workload.listed(text))
        for cores in arguments.cores.split(",")
        for text in kernels
        for trial in options.trials(arguments)
    ]


def chain(source: str, fixes: Sequence[str] | None) -> list[str]:
    """Kernels from stock over each further fix to pk, each once.

    Raises:
        Failure: bad-input for an unknown fix, or a source without any.
    """
    known = [name for name, piece in kernels.load_recipe(source).fixes.items() if piece.number is not None]
    if not known:
        raise bad_input(f"{source} has no fixes.", "`run.py list fixes` says which sources have.")
    steps = fixes or known
    sets = ["+".join(steps[: count + 1]) for count in range(len(steps))]
    named = {points.parse_kernel(f"{source}:{text}")[1]: text for text in ["stock", *sets, "pk"]}
    return [f"{source}:{text}" for text in named.values()]

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py lab`, the main job: prepare kernel, image and engine, run and analyse the points, print a table, write the report."""

import argparse

from harness.cli import options
from harness.cli.conclude import run_and_conclude
from harness.spec import machine, sweep, workload
from harness.spec import point as points
from harness.spec.kernel import default_source
from harness.spec.point import Point

WORKLOADS = (
    "micro:open-close",
    "micro:open-close-own",
    "micro:shared-atomic",
    "micro:private-counters",
    "memcached:requests=200,warmup=40",
    "gmake:objects=96",
)
"""What `lab` runs by default: a shared kernel object and its private counterpart, a shared line and its private counterpart, two
applications, smaller than by default so that all takes minutes."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workload",
        action="append",
        metavar="A,B",
        help=f"workloads, names or paths of folders (default: {', '.join(WORKLOADS)})",
    )
    parser.add_argument("--cores", metavar="N,M", help="core counts (default: 1, one, two and four sockets, all)")
    parser.add_argument("--kernel", default=default_source(), metavar="A,B", help="kernels, SOURCE[:FIXES] (%(default)s)")
    parser.add_argument("--machine", default=points.DEFAULTS["machine"], metavar="A,B", help="machines (%(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the machine")
    parser.add_argument("--engine", default=points.DEFAULTS["engine"], help="%(default)s")
    parser.add_argument(
        "--order", default=points.DEFAULTS["order"], help="core order: seq fills a socket first, rr spreads (%(default)s)"
    )
    options.add_trials_option(parser)
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    wanted = select(arguments)
    return run_and_conclude(wanted, arguments, "lab")


def select(arguments: argparse.Namespace) -> list[Point]:
    """The points that the options mean.

    Raises:
        Failure: bad-input, naming the setting.
    """
    overrides = dict(map(options.settings_text, arguments.set))
    space = sweep.Space(({"engine": arguments.engine, "order": arguments.order},))
    for key, value in overrides.items():
        space = space * sweep.alternatives(f"set.{key}", [value])
    space = space * sweep.alternatives("kernel", arguments.kernel.split(","))
    space = space * sweep.alternatives(
        "workload", [one for text in arguments.workload or [",".join(WORKLOADS)] for one in workload.listed(text)]
    )
    space = space * sweep.alternatives("trial", options.trials(arguments))
    options.say_notes(space)
    out = []
    for name in arguments.machine.split(","):
        counts = arguments.cores.split(",") if arguments.cores else list(map(str, machine.load(name, overrides).core_counts))
        here = space * sweep.alternatives("machine", [name]) * sweep.alternatives("cores", counts)
        out += [points.resolve(settings) for settings in here.settings]
    return out

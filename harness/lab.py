# SPDX-License-Identifier: BSD-3-Clause
"""`run.py lab`, the main job: prepare kernel, image and engine, run and analyse the points, print a table, write the report."""

import argparse
import shutil
from collections.abc import Sequence

from harness import image, machine, runner, sweep, tools
from harness import point as points
from harness.commands import options
from harness.engines import base
from harness.machine import Machine
from harness.outcome import bad_input
from harness.paths import cache_root
from harness.point import Point

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
_DISK_GIB = 6  # the builds take about 5 GiB at their peak (the kernel's build tree)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workload", action="append", metavar="A,B", help=f"workloads (default: {', '.join(WORKLOADS)})")
    parser.add_argument("--cores", metavar="N,M", help="core counts (default: 1, one, two and four sockets, all)")
    parser.add_argument(
        "--kernel", default=points.DEFAULTS["kernel"], metavar="A,B", help="kernels, SOURCE[:FIXES] (%(default)s)"
    )
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
    prepare_all(wanted)
    finished = options.run_points(wanted, arguments)
    return options.conclude(finished, wanted, options.report_path(arguments, "lab"))


def select(arguments: argparse.Namespace) -> list[Point]:
    """The points that the options mean.

    Raises:
        Failure: bad-input, naming the setting.
    """
    overrides = dict(map(settings_text, arguments.set))
    space = sweep.Space(({"engine": arguments.engine, "order": arguments.order},))
    for key, value in overrides.items():
        space = space * sweep.alternatives(f"set.{key}", [value])
    space = space * sweep.alternatives("kernel", arguments.kernel.split(","))
    space = space * sweep.alternatives(
        "workload", [one for text in arguments.workload or [",".join(WORKLOADS)] for one in listed(text)]
    )
    space = space * sweep.alternatives("trial", options.trials(arguments))
    out = []
    for name in arguments.machine.split(","):
        counts = arguments.cores.split(",") if arguments.cores else list(map(str, core_counts(machine.load(name, overrides))))
        here = space * sweep.alternatives("machine", [name]) * sweep.alternatives("cores", counts)
        out += [points.resolve(settings) for settings in here.settings]
    return out


def core_counts(made: Machine) -> list[int]:
    """Default core counts: one core; one, two, four, ... sockets; the whole machine."""
    counts = {1, made.cores}
    sockets = 1
    while sockets * 2 <= made.sockets:
        counts.add(sockets * made.cores_per_socket)
        sockets *= 2
    return sorted(counts)


def listed(text: str) -> list[str]:
    """Workloads separated by commas, where a workload's own parameters may have commas: "micro:stat:a=1,b=2,memcached"."""
    out: list[str] = []
    for piece in filter(None, text.split(",")):
        if "=" in piece and ":" not in piece and out and "=" in out[-1]:
            out[-1] += f",{piece}"
        else:
            out.append(piece)
    return out


def settings_text(text: str) -> tuple[str, str]:
    """KEY=VALUE of a --set."""
    key, equals, value = text.partition("=")
    if not equals:
        raise bad_input(f"--set {text} is not KEY=VALUE.", "Write for example --set l2_kib=1024.")
    return key, value


def prepare_all(wanted: Sequence[Point]) -> None:
    """Host packages, kernels, image and engines of all points, in turn, before the first of them runs.

    Raises:
        Failure: bad-input, when something cannot be had on this host.
    """
    engines = [base.engine(name) for name in sorted({point.engine for point in wanted})]
    _check_room()
    tools.require(*tools.of_groups("engine", "kernel", "image"))
    for source, fixes in sorted({(point.source, point.fixes) for point in wanted}):
        runner.build_kernel(source, fixes)
    image.build()
    for engine in engines:
        engine.prepare()


def _check_room() -> None:
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root).free
    if not any((root / kind).is_dir() for kind in ("kernels", "images", "engines")) and free < _DISK_GIB << 30:
        raise bad_input(
            f"{root} has {free >> 30} GiB left, and setting up takes {_DISK_GIB}.",
            "Free some, or set MOSBENCH_CACHE to a larger disk.",
        )

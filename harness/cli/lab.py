# SPDX-License-Identifier: BSD-3-Clause
"""`run.py lab`, the main job: prepare kernel, image and engine, run and analyse the points, print a table, write the report."""

import argparse

from harness.cli import options
from harness.cli.conclude import run_and_conclude
from harness.spec import machine
from harness.spec import point as points
from harness.spec.point import Point

WORKLOADS = (
    "micro:open-close",
    "micro:open-close-own",
    "micro:shared-atomic",
    "micro:private-counters",
    "memcached:requests=200,warmup=40",
    "gmake:objects=96,declarations=40",
)
"""What `lab` runs by default: a shared kernel object and its private counterpart, a shared line and its private counterpart, two
applications, smaller than by default so that all takes minutes."""


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_point_options(parser, {"workload": ", ".join(WORKLOADS), "cores": "1, one, two and four sockets, all"})
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
    defaults = {"machine": [points.DEFAULTS["machine"]], "workload": list(WORKLOADS)}
    given = options.given(arguments)
    space = options.space("", {**defaults, **given})
    if "cores" in given:
        return [points.resolve(settings) for settings in space.settings]
    overrides = dict(map(options.settings_text, arguments.set))
    counts = {name: machine.load(name, overrides).core_counts for name in {one["machine"] for one in space.settings}}
    return [points.resolve({**one, "cores": str(cores)}) for one in space.settings for cores in counts[one["machine"]]]

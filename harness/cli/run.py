# SPDX-License-Identifier: BSD-3-Clause
"""`run.py run POINT`: run one point, unless a complete run of it is there. Executors start this command."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

from common.outcome import Failure, bad_input
from harness.build import host_packages
from harness.cli import options
from harness.run import runner
from harness.run.run_directory import interrupted
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.point import Point


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "point",
        metavar="POINT",
        help='settings such as "workload=micro:open-close * cores=48", or a point.toml (of a run directory)',
    )
    parser.add_argument("--engine", metavar="ENGINE", help="instead of the point's: fast or gem5")
    options.add_run_options(parser)
    parser.add_argument(
        "--keep-memory", action="store_true", help="keep the guest's memory at the end of the region (engine/memory.elf)"
    )
    parser.add_argument("--json", action="store_true", help="end with one line of JSON: outcome, folder, what, cure")


def read(text: str) -> Point:
    """The one point that ``text`` means.

    Raises:
        Failure: bad-input, also when it means several.
    """
    if text.endswith(".toml") and "=" not in text:
        return points.read(Path(text))
    space = sweep.parse(text)
    options.say_notes(space)
    if len(space.settings) != 1:
        raise bad_input(f"{text!r} means {len(space.settings)} points.", "`run.py sweep` runs several.")
    return points.resolve(space.settings[0])


def main(arguments: argparse.Namespace) -> int:
    try:
        point = read(arguments.point)
        if arguments.engine:
            point = replace(point, engine=arguments.engine)
        if not arguments.json:  # an executor has prepared the host
            host_packages.require(*host_packages.of_groups("engine", "kernel", "image"))
        ran = runner.run_point(point, arguments.output, reuse=arguments.reuse, keep_memory=arguments.keep_memory)
    except Failure as failure:
        return _failed(arguments, failure)
    except KeyboardInterrupt:
        return _failed(arguments, interrupted())
    if arguments.json:
        print(json.dumps({"outcome": "ok", "folder": str(ran.folder), "reused": ran.reused, "what": " ".join(ran.notes)}))
    else:
        for note in ran.notes:
            print(note)
        print(f"{'There already' if ran.reused else 'Complete'}: {ran.folder}")
    return 0


def _failed(arguments: argparse.Namespace, failure: Failure) -> int:
    if not arguments.json:
        raise failure
    print(json.dumps({"outcome": failure.outcome.value, "what": failure.what, "cure": failure.cure}))
    return failure.outcome.exit_status

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py verify [NAME]` and `run.py bench [NAME]`: list the checks of harness/checks/verify or bench, or run one."""

import argparse
import importlib

from common import settings
from common.columns import tell
from common.outcome import bad_input
from harness.checks import registry
from harness.cli import dry_run


def configure(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=parser.prog.split()[-1])  # verify or bench: also the name of the package
    dry_run.add_option(parser)
    parser.add_argument("name", nargs="?", metavar="NAME", help="which to run; without it they are listed")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="passed on to it")


def main(arguments: argparse.Namespace) -> int:
    known = registry.find(importlib.import_module(f"harness.checks.{arguments.command}"))
    if arguments.name is None:
        for one in known.values():
            tell(f"{one.name:<16} {one.summary}", 17)
        return 0
    if arguments.name not in known:
        raise bad_input(f"There is no check {arguments.name!r} in {arguments.command}.", f"Use one of {', '.join(known)}.")
    words = [word for word in arguments.arguments if word != "--dry-run"]
    if arguments.dry_run or len(words) < len(arguments.arguments):
        one = known[arguments.name]
        points = one.planned(words)
        if points is None:
            tell(f"{arguments.name} finds its points as it goes: builds, points, minutes and GB are unknown.")
            return 0
        reuse = "same" if one.reuses else "none"
        return dry_run.show(points, settings.load().runs, reuse=reuse, more=one.besides, extra_config=one.extra_config)
    ended = known[arguments.name].run(arguments.arguments)
    print(ended.line, flush=True)
    return 0 if ended.passed else 1

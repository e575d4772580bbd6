# SPDX-License-Identifier: BSD-3-Clause
"""`run.py engine build [ENGINE]`."""

import argparse

from harness import tools
from harness.engines import base


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build",))
    parser.add_argument("engine", nargs="?", default="fast", help=f"{', '.join(base.names())} (%(default)s)")


def main(arguments: argparse.Namespace) -> int:
    engine = base.engine(arguments.engine)
    tools.require(*tools.of_groups("engine"))
    print(engine.prepare().folder)
    return 0

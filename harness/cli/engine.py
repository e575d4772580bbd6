# SPDX-License-Identifier: BSD-3-Clause
"""`run.py engine build [ENGINE]`."""

import argparse

from harness.build import host_packages
from harness.run.engines import base


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build",))
    parser.add_argument("engine", nargs="?", default="fast", help=f"{', '.join(base.names())} (%(default)s)")


def main(arguments: argparse.Namespace) -> int:
    engine = base.engine(arguments.engine)
    host_packages.require(*host_packages.of_groups("engine"))
    print(engine.prepare().folder)
    return 0

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py kernel build KERNEL`."""

import argparse

from harness import point, runner, tools


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build",))
    parser.add_argument("kernel", nargs="?", default=point.DEFAULTS["kernel"], help="SOURCE or SOURCE:FIXES (%(default)s)")


def main(arguments: argparse.Namespace) -> int:
    source, fixes = point.parse_kernel(arguments.kernel)
    tools.require(*tools.of_groups("kernel"))
    print(runner.build_kernel(source, fixes).folder)
    return 0

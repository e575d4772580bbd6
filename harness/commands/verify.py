# SPDX-License-Identifier: BSD-3-Clause
"""`run.py verify [NAME]`: list the checks of harness/verify, or run one; see harness/check.py."""

import argparse

from harness import check, verify
from harness.outcome import bad_input


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="which to run; without it they are listed")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="passed on to it")


def main(arguments: argparse.Namespace) -> int:
    known = check.find(verify)
    if arguments.name is None:
        for one in known.values():
            print(f"{one.name:<16} {one.summary}")
        return 0
    if arguments.name not in known:
        raise bad_input(f"There is no check {arguments.name!r} in verify.", f"Use one of {', '.join(known) or 'none so far'}.")
    ended = known[arguments.name].run(arguments.arguments)
    print(ended.figure, flush=True)
    return 0 if ended.passed else 1

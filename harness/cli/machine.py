# SPDX-License-Identifier: BSD-3-Clause
"""`run.py machine show NAME`: a machine with everything resolved, and what follows from it."""

import argparse

from harness.cli.options import settings_text
from harness.spec import machine


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show",))
    parser.add_argument("name", metavar="NAME", help=f"a machine ({', '.join(machine.names())}) or the path of a .toml file")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key")


def main(arguments: argparse.Namespace) -> int:
    made = machine.load(arguments.name, dict(map(settings_text, arguments.set)))
    print(made.flat(), end="")
    print("\nMemory latency in cycles, row: socket of the core, column: home of the line")
    for socket in range(made.sockets):
        print("  ".join(f"{made.memory_cycles(socket, home):4}" for home in range(made.sockets)))
    return 0

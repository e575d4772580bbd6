# SPDX-License-Identifier: BSD-3-Clause
"""`run.py machine show NAME`: a machine with everything resolved; `run.py machine keys`: what a machine can be."""

import argparse
import sys
import textwrap
from collections.abc import Iterator, Mapping

from rich.markup import escape
from rich.table import Table

from common.columns import tell
from common.outcome import bad_input
from common.terminal import console
from harness.cli.options import settings_text
from harness.spec import machine, machine_schema
from harness.spec.machine import Machine
from harness.spec.machine_schema import Key, schema

_PADDED = 32  # columns of "key value" in front of what is said of it
_VALUE = 16  # columns of a value and its unit; longer ones are broken


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show", "keys"), help="a machine, or all keys that machines have, as a Markdown table")
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help=f"a machine ({', '.join(machine.names())}) or the path of a .toml file"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key")
    parser.add_argument("--engine", metavar="ENGINE", help="print the machine file that this engine reads")


def main(arguments: argparse.Namespace) -> int:
    if arguments.action == "keys":
        print(machine_schema.markdown(), end="")
        return 0
    if arguments.name is None:
        raise bad_input("machine show needs a name.", f"Name one of {', '.join(machine.names())}, or a .toml file.")
    overrides = dict(map(settings_text, arguments.set))
    if arguments.engine:
        known = sorted({engine for key in schema().keys.values() for engine in key.engines})
        if arguments.engine not in known:
            raise bad_input(f"There is no engine {arguments.engine!r}.", f"Use {' or '.join(known)}.")
        print(machine.load(arguments.name, overrides, arguments.engine).flat(arguments.engine), end="")
        return 0
    made = machine.load(arguments.name, overrides)
    sources = machine.sources(arguments.name, overrides)
    if sys.stdout.isatty():
        console().print(table(made, sources))
    else:
        print("\n".join(_lines(made, sources, console().width)))
    print()
    tell("Memory latency in cycles, row: socket of the core, column: home of the line")
    for socket in range(made.sockets):
        print("  ".join(f"{made.miss_cycles(socket, home):4}" for home in range(made.sockets)))
    return 0


def table(made: Machine, sources: Mapping[str, str]) -> Table:
    """Every key of a machine for a terminal."""
    shown = Table(title=made.name)
    shown.add_column("key", no_wrap=True)
    shown.add_column("value", max_width=_VALUE)
    shown.add_column(escape("meaning [where the value is from]"))
    values = made.values()
    for key in schema().keys.values():
        shown.add_row(key.name, f"{values[key.name]} {key.unit}", escape(_said(key, sources)))
    return shown


def _lines(made: Machine, sources: Mapping[str, str], width: int) -> Iterator[str]:
    """Lines for each key, the first of which begins with "key value"; what is longer than ``width`` goes on in the next."""
    values = made.values()
    for key in schema().keys.values():
        unit = f"{key.unit}. " if key.unit else ""
        shown = f"{key.name} {values[key.name]}"
        line = f"{shown:{_PADDED}} # {unit}{_said(key, sources)}"
        if len(line) <= width:
            yield line
            continue
        indent = " " * _PADDED + " # "
        yield from textwrap.wrap(shown, width, subsequent_indent="  ") if len(shown) > _PADDED else ()
        begin = indent if len(shown) > _PADDED else f"{shown:{_PADDED}} # "
        yield from textwrap.wrap(unit + _said(key, sources), width, initial_indent=begin, subsequent_indent=indent)


def _said(key: Key, sources: Mapping[str, str]) -> str:
    return f"{key.meaning} [{sources[key.name]}]" if key.name in sources else key.meaning

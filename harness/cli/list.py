# SPDX-License-Identifier: BSD-3-Clause
"""`run.py list THINGS [NAME]`: workloads, machines, kernels, fixes, or the words of tables and reports."""

import argparse
from collections.abc import Callable, Mapping

from rich.table import Table

from analysis.report.words import load_words
from common.outcome import bad_input
from common.terminal import console, plain_table
from harness.spec import kernel as kernels
from harness.spec import machine, workload


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("things", choices=tuple(TABLES))
    parser.add_argument("name", nargs="?", help="of workloads: only this one")


def main(arguments: argparse.Namespace) -> int:
    if arguments.name is not None and arguments.things != "workloads":
        raise bad_input(f"list {arguments.things} takes no name.", f"Give `./run.py list {arguments.things}`.")
    for table in _workloads(arguments.name) if arguments.name else TABLES[arguments.things]():
        console().print(table)
    return 0


def _workloads(name: str | None = None) -> list[Table]:
    """Of each workload its variants, and its parameters with what they can be."""
    return [
        table
        for one in ([workload.load(name)] if name else workload.load_all())
        for table in (_variants(one), _parameters(one), _sizes(one))
        if table.row_count
    ]


def _variants(one: workload.Workload) -> Table:
    table = plain_table("workload", "what it does", "unit", "parameters (default)", title=f"{one.name}: {one.summary}")
    for variant in one.variants.values():
        named = f"{one.name}:{variant.name}"
        usual = f"{named} (default)" if variant.name == one.default_variant else named
        parameters = ", ".join(f"{p.name} ({p.default})" for p in variant.parameters.values())
        table.add_row(usual, variant.summary, variant.unit, parameters)
    return table


def _parameters(one: workload.Workload) -> Table:
    table = plain_table("parameter", "default", "what it can be", "meaning", title=f"Parameters of {one.name}")
    known = {p.name: p for variant in one.variants.values() for p in variant.parameters.values()}
    for name, parameter in known.items():
        defaults = {_default(v.parameters[name]) for v in one.variants.values() if name in v.parameters}
        default = defaults.pop() if len(defaults) == 1 else "the variant's"
        table.add_row(name, default, parameter.allowed.removeprefix("a whole number from "), parameter.summary)
    return table


def _sizes(one: workload.Workload) -> Table:
    table = plain_table("size", "what it is", "parameters", title=f"Sizes of {one.name}: size=NAME stands for its parameters")
    for size in one.sizes.values():
        values = {**size.parameters, **{f"set.{key}": value for key, value in size.machine.items()}}
        given = ", ".join(f"{key}={value}" for key, value in values.items())
        table.add_row(size.name, size.summary, f"{size.workload}:size={size.name}" if size.workload else given)
    return table


def _default(parameter: workload.Parameter) -> str:
    if not parameter.otherwise or parameter.default not in parameter.needs:
        return parameter.default
    return f"{parameter.default}; {parameter.otherwise} without a {parameter.needs[parameter.default]}"


def _machines() -> list[Table]:
    table = plain_table("machine", "sockets", "cores", "GHz", "memory", title="Machines")
    for name in machine.names():
        made = machine.load(name)
        table.add_row(name, str(made.sockets), str(made.cores), f"{made.clock_ghz:g}", f"{made.memory_mib} MiB")
    return [table]


def _kernels() -> list[Table]:
    table = plain_table("kernel", "what it is", "fixes", title="Kernels")
    for source in kernels.sources():
        recipe = kernels.load_recipe(source)
        fixes = [piece.name for piece in recipe.fixes.values() if piece.number is not None]
        name = f"{source} (default)" if source == kernels.default_source() else source
        table.add_row(name, recipe.summary, ", ".join(fixes) or "none")
    return [table]


def _fixes() -> list[Table]:
    table = plain_table("kernel", "paper's number", "fix", "what it does", "option", "needs", title="Fixes of kernels")
    for source in kernels.sources():
        for piece in kernels.load_recipe(source).fixes.values():
            number = "library" if piece.number is None else str(piece.number)
            option = f"CONFIG_{piece.option.symbol}" if piece.option else ""
            table.add_row(source, number, piece.name, piece.summary, option, ", ".join(piece.needs))
    return [table]


def _words() -> list[Table]:
    table = plain_table("word", "what it means in tables and reports", title="Words")
    for word in load_words().values():
        table.add_row(word.name, word.meaning)
    return [table]


TABLES: Mapping[str, Callable[[], list[Table]]] = {
    "workloads": _workloads,
    "machines": _machines,
    "kernels": _kernels,
    "fixes": _fixes,
    "words": _words,
}

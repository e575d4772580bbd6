# SPDX-License-Identifier: BSD-3-Clause
"""`run.py list THINGS`: workloads, machines, kernels, fixes, runs, or the words of tables and reports."""

import argparse

from rich.table import Table

from analysis.report.words import load_words
from common import settings
from common.terminal import console
from harness.run import run_directory
from harness.spec import kernel as kernels
from harness.spec import machine, workload


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("things", choices=tuple(TABLES))


def main(arguments: argparse.Namespace) -> int:
    console().print(TABLES[arguments.things]())
    return 0


def _workloads() -> Table:
    table = Table("workload", "what it does", "unit", "parameters (default)", title="Workloads")
    for one in workload.load_all():
        for variant in one.variants.values():
            parameters = ", ".join(f"{p.name} ({p.default})" for p in variant.parameters.values())
            table.add_row(f"{one.name}:{variant.name}", variant.summary, variant.unit, parameters)
    return table


def _machines() -> Table:
    table = Table("machine", "sockets", "cores", "GHz", "memory", title="Machines")
    for name in machine.names():
        made = machine.load(name)
        table.add_row(name, str(made.sockets), str(made.cores), f"{made.clock_ghz:g}", f"{made.memory_mib} MiB")
    return table


def _kernels() -> Table:
    table = Table("kernel", "what it is", "fixes", title="Kernels")
    for source in kernels.sources():
        recipe = kernels.load_recipe(source)
        fixes = [piece.name for piece in recipe.fixes.values() if piece.number is not None]
        name = f"{source} (default)" if source == kernels.default_source() else source
        table.add_row(name, recipe.summary, ", ".join(fixes) or "none")
    return table


def _fixes() -> Table:
    table = Table("kernel", "paper's number", "fix", "what it does", "option", "needs", title="Fixes of kernels")
    for source in kernels.sources():
        for piece in kernels.load_recipe(source).fixes.values():
            number = "library" if piece.number is None else str(piece.number)
            option = f"CONFIG_{piece.option.symbol}" if piece.option else ""
            table.add_row(source, number, piece.name, piece.summary, option, ", ".join(piece.needs))
    return table


def _runs() -> Table:
    table = Table("run", title=f"Complete runs in {settings.load().runs}")
    for folder in run_directory.complete_runs(settings.load().runs):
        table.add_row(folder.name)
    return table


def _words() -> Table:
    table = Table("word", "what it means in tables and reports", title="Words")
    for word in load_words().values():
        table.add_row(word.name, word.meaning)
    return table


TABLES = {
    "workloads": _workloads,
    "machines": _machines,
    "kernels": _kernels,
    "fixes": _fixes,
    "runs": _runs,
    "words": _words,
}

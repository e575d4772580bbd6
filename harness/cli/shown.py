# SPDX-License-Identifier: BSD-3-Clause
"""Which runs a command shows, and how much of them: the options --tables, --workload, --kernel and --machine."""

import argparse
from collections.abc import Mapping, Sequence

from analysis.report.runs import Run
from common.outcome import bad_input


def add_tables_option(parser: argparse.ArgumentParser) -> None:
    """--tables."""
    parser.add_argument(
        "-v", "--tables", action="store_true", help="show the long tables too: time, lines, bottlenecks, functions, trials"
    )


def add_filters(parser: argparse.ArgumentParser) -> None:
    """--workload, --kernel and --machine, of what is shown."""
    parser.set_defaults(filters=True)
    for name, example in _FILTERS.items():
        parser.add_argument(f"--{name}", metavar="A,B", help=f"show only runs of these: {example}")


_FILTERS = {"workload": "micro, micro:stat", "kernel": "SOURCE, SOURCE:pk, pk", "machine": "opteron-8431"}
"""Option -> examples of what it takes."""


def names(run: Run) -> Mapping[str, set[str]]:
    """What a run can be chosen by."""
    fixes = "+".join(run.fixes)
    kernels = {run.source, run.fix_set, *(f"{run.source}:{text}" for text in (run.fix_set, fixes) if text)}
    return {
        "workload": {run.application, run.workload},
        "kernel": kernels,
        "machine": {str(run.point["machine"]["name"])},
    }


def chosen(runs: Sequence[Run], arguments: argparse.Namespace) -> list[Run]:
    """The runs that the options of `add_filters` leave; all of them where the command has none.

    Raises:
        Failure: bad-input, when that is none; the sentence says what there is.
    """
    left = list(runs)
    for what in _FILTERS if getattr(arguments, "filters", False) else ():
        if (text := getattr(arguments, what)) is None:
            continue
        kept = [run for run in left if names(run)[what] & set(text.split(","))]
        if not kept:
            there = sorted(set().union(*(names(run)[what] for run in left)))
            raise bad_input(f"No run is of {what} {text}.", f"There are runs of {', '.join(there)}.")
        left = kept
    return left

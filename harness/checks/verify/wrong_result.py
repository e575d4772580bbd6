# SPDX-License-Identifier: BSD-3-Clause
"""Is damaged work found? Each fault that an application can put into its own work must end as the outcome wrong-result.

`verify wrong-result [APPLICATION ...]`: each application at its smallest size on the small machine, in its default variant, with
each value of its parameter `fault` in workload.toml, and without a fault as the counter-check.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from common.outcome import Failure, Outcome, bad_input
from common.terminal import console
from harness.checks.registry import Check
from harness.checks.verify.applications import SMALL_MACHINE, applications
from harness.checks.verify.measuring import execute, keep, point, prepare_host, scratch
from harness.run import runner
from harness.spec import workload
from harness.spec.point import Point

NAME = "wrong-result"
SUMMARY = "each application with a fault put into its work: a flipped byte, a lost message or row ends as wrong-result"


def faults(name: str) -> list[str]:
    """Values of the application's parameter `fault` that are one.

    Raises:
        Failure: bad-input, when it has none.
    """
    chosen = workload.load(name)
    parameter = chosen.variants[chosen.default_variant].parameters.get("fault")
    found = [value for value in parameter.values if value != "none"] if parameter else []
    if not found:
        raise bad_input(f"The application {name} has no fault to provoke.", "Add a parameter fault to its workload.toml.")
    return found


def outcome_of(text: str, folder: Path) -> tuple[str, str]:
    """Outcome of a point, and what was said of it."""
    try:
        ran = execute(point(text), folder)
    except Failure as failure:
        return failure.unless_interrupted().outcome.value, failure.what
    return Outcome.OK.value, str(ran.result.get("detail", ""))


def cases(names: Sequence[str]) -> Iterator[tuple[str, str, Outcome]]:
    """Application, fault and outcome wanted."""
    for name in names:
        yield name, "none", Outcome.OK
        for fault in faults(name):
            yield name, fault, Outcome.WRONG_RESULT


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("applications", nargs="*", metavar="APPLICATION", help="only these")


def planned(arguments: argparse.Namespace) -> list[Point]:
    """What `run` runs."""
    return [point(_text(name, fault)) for name, fault, _ in cases(_names(arguments))]


def _names(arguments: argparse.Namespace) -> list[str]:
    known = applications()
    for word in arguments.applications:
        if word not in known:
            raise bad_input(f"{word!r} is no application.", f"Use {', '.join(known)}.")
    return arguments.applications or known


def _text(name: str, fault: str) -> str:
    return f"{SMALL_MACHINE} * workload={workload.smallest(name, fault=fault)}"


def run(arguments: argparse.Namespace) -> Check:
    """Provoke every fault, print what was said of each."""
    names = _names(arguments)
    wanted_cases = list(cases(names))
    prepare_host()
    table = Table("application", "fault", "outcome", "said", title="Damaged work", title_justify="left", show_lines=True)
    provoked, missed = 0, []
    with scratch(NAME) as folder:
        for number, (name, fault, wanted) in enumerate(wanted_cases):
            text = _text(name, fault)
            runner.prepare(point(text))
            outcome, said = outcome_of(text, folder / str(number))
            provoked += fault != "none"
            right = outcome == wanted.value
            if not right:
                missed.append(f"{name} with fault {fault} ended as {outcome} instead of {wanted.value}: {said}")
                keep(folder)
            sys.stderr.write(f"{name}, fault {fault}: {outcome}\n")
            table.add_row(name, fault, outcome if right else f"[red]{outcome}[/]", re.sub(r"\[", r"\\[", said))
    console().print(table)
    for line in missed:
        print(line)
    figure = f"{NAME}: {provoked} faults in {len(names)} applications, {len(missed)} outcomes other than wanted; wanted: 0"
    return Check(not missed, figure, provoked)

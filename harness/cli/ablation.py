# SPDX-License-Identifier: BSD-3-Clause
"""`run.py ablation`: what each kernel fix brings, from the stock kernel to one with all of them.

Every set of fixes is a kernel of its own. A scheme says which sets: one fix after another, each alone, all but each. Which fixes,
and in which order, is the user's: kernels for the few that a workload meets are built sooner than for all. Stock and pk are
always among them. The report has a table and figures of each scheme and workload.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence

from analysis.report.paper import load_paper, the_sixteen
from common.outcome import bad_input
from harness.cli import options
from harness.cli.conclude import run_and_conclude
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec import workload
from harness.spec.fixes import WITHOUT
from harness.spec.point import Point

WORKLOADS = ("micro:open-close", "micro:stat", "micro:accept", "micro:lseek", "micro:udp-send")
OF_PAPER = "paper"
"""What --fixes may be in the place of names: those that the paper's figure 1 ties to the workload's application."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", choices=kernels.sources(), default=kernels.paper_source(), help="kernel source (%(default)s)")
    parser.add_argument(
        "--fixes",
        metavar="A,B",
        help=f"fixes in the order in which they are added (default: all, by number); {OF_PAPER}: those that the paper's figure 1 "
        "ties to the application",
    )
    parser.add_argument(
        "--scheme",
        metavar="A,B",
        default="in-order",
        help=f"which sets of fixes beside stock and pk: {'; '.join(f'{name}: {what}' for name, (what, _) in SCHEMES.items())} "
        "(%(default)s)",
    )
    parser.add_argument("--workload", action="append", metavar="A,B", help=f"workloads (default: {', '.join(WORKLOADS)})")
    parser.add_argument("--cores", default="48", metavar="N,M", help="core counts (%(default)s)")
    parser.add_argument("--machine", default=points.DEFAULTS["machine"], help="%(default)s")
    parser.add_argument("--engine", default=points.DEFAULTS["engine"], help="%(default)s")
    options.add_trials_option(parser)
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    wanted = select(arguments)
    return run_and_conclude(wanted, arguments, "ablation")


def select(arguments: argparse.Namespace) -> list[Point]:
    """The points that the options mean, workload by workload.

    Raises:
        Failure: bad-input, naming the setting.
    """
    texts = arguments.workload or [",".join(WORKLOADS)]
    schemes = arguments.scheme.split(",")
    fixed = {"machine": arguments.machine, "engine": arguments.engine}
    return [
        points.resolve({**fixed, "workload": work, "cores": cores, "kernel": text, "trial": trial})
        for work in (one for text in texts for one in workload.listed(text))
        for cores in arguments.cores.split(",")
        for text in fix_sets(arguments.source, _fixes(arguments, work), schemes)
        for trial in options.trials(arguments)
    ]


def _fixes(arguments: argparse.Namespace, work: str) -> list[str] | None:
    if arguments.fixes == OF_PAPER:
        return of_paper(arguments.source, work)
    return arguments.fixes.split(",") if arguments.fixes else None


def of_paper(source: str, work: str) -> list[str]:
    """The fixes of ``source`` for what the paper's figure 1 has the application of the workload ``work`` meet, by number.

    Raises:
        Failure: bad-input, for no application of the paper, or one without such a fix.
    """
    name = workload.parse(work).workload.name
    application = load_paper().applications.get(name)
    if application is None:
        raise bad_input(f"{name} is none of the paper's applications.", "Name the fixes, or leave --fixes out.")
    numbers = {entry.paper for entry in the_sixteen() if application.title in entry.applications}
    found = [fix for fix, piece in kernels.load_recipe(source).fixes.items() if piece.number in numbers]
    if not found:
        raise bad_input(f"The paper's figure 1 ties no fix of {source} to {name}.", "Name the fixes, or leave --fixes out.")
    return found


def fix_sets(source: str, fixes: Sequence[str] | None, schemes: Sequence[str] = ("in-order",)) -> list[str]:
    """Kernels of the schemes for these fixes (none: all of the source), each once: stock first, pk last.

    Raises:
        Failure: bad-input for an unknown scheme or fix, or a source without any.
    """
    known = [name for name, piece in kernels.load_recipe(source).fixes.items() if piece.number is not None]
    if not known:
        raise bad_input(f"{source} has no fixes.", "`run.py list fixes` says which sources have.")
    sets: list[str] = []
    for scheme in schemes:
        if scheme not in SCHEMES:
            raise bad_input(f"There is no scheme {scheme!r}.", f"Use some of {', '.join(SCHEMES)}.")
        sets += SCHEMES[scheme][1](fixes or known)
    named: dict[tuple[str, ...], str] = {}
    for text in ("stock", *sets, "pk"):
        chosen = points.parse_kernel(f"{source}:{text}")[1]
        named[chosen] = text if text in ("stock", "pk") else named.get(chosen, text)
    everything = points.parse_kernel(f"{source}:pk")[1]
    return [f"{source}:{text}" for chosen, text in named.items() if chosen != everything] + [f"{source}:pk"]


def _in_order(fixes: Sequence[str]) -> list[str]:
    return ["+".join(fixes[: count + 1]) for count in range(len(fixes))]


def _alone(fixes: Sequence[str]) -> list[str]:
    return list(fixes)


def _all_but_one(fixes: Sequence[str]) -> list[str]:
    return [f"{WITHOUT}{fix}" for fix in fixes]


SCHEMES: Mapping[str, tuple[str, Callable[[Sequence[str]], list[str]]]] = {
    "in-order": ("one fix after another", _in_order),
    "alone": ("each by itself", _alone),
    "all-but-one": ("all fixes but each of these", _all_but_one),
}
"""Scheme -> what it is, and its sets of fixes, given those asked for."""

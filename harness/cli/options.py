# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and what they mean."""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.report.estimate import FEWEST
from common import settings
from common.arguments import positive
from common.columns import say
from common.outcome import bad_input
from harness.cli import dry_run
from harness.cli.shown import add_tables_option
from harness.run import many
from harness.run.executors import registry
from harness.run.executors.base import Finished
from harness.run.executors.registry import Wanted
from harness.run.runner import REUSE
from harness.spec import sweep, workload
from harness.spec.kernel import default_source
from harness.spec.point import DEFAULTS, Point
from harness.spec.sweep import Space


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """--output and --reuse."""
    own = settings.load()
    parser.add_argument(
        "--output", type=_runs_folder, default=own.runs, metavar="FOLDER", help="folder of the run directories (%(default)s)"
    )
    parser.add_argument(
        "--reuse",
        choices=REUSE,
        default="same",
        help="which complete run of a point stands in for a new one: made from the same builds (default), any, or none",
    )


def add_many_options(parser: argparse.ArgumentParser) -> None:
    """The options of commands that run many points and write a report."""
    add_run_options(parser)
    add_tables_option(parser)
    dry_run.add_option(parser)
    own = settings.load()
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help=f"points at a time (on this host {own.job_count}, elsewhere as many as there is room for)",
    )
    hosts = parser.add_argument_group("where points run (docs/guides/many-hosts.md)")
    where = "; ".join(f"{name}: {place}" for name, (_, place) in registry.EXECUTORS.items())
    hosts.add_argument("--executor", choices=tuple(registry.EXECUTORS), default="local", help=f"{where} (%(default)s)")
    hosts.add_argument("--partition", default="", metavar="P", help="slurm: the partition")
    hosts.add_argument(
        "--submit", action="append", default=[], metavar="OPTION", help="slurm: an option of sbatch, as --submit=--time=60"
    )
    hosts.add_argument(
        "--server-dir", default="", metavar="FOLDER", help="hyperqueue: the server's folder (default: HyperQueue's own)"
    )
    parser.add_argument("--report", type=report_file, default=None, metavar="FILE", help="where to write the HTML report")


def _runs_folder(text: str) -> Path:
    """--output, refused before anything is built for it."""
    if os.path.exists(text) and not os.path.isdir(text):
        raise bad_input(f"--output {text} is no folder.", "Name a folder; it need not be there yet.")
    return Path(text)


def report_file(text: str) -> Path:
    """--report, refused before anything is run for it."""
    path = Path(text)
    if os.path.isdir(path):
        raise bad_input(f"--report {text} is a folder.", f"Name a file, for example {path / 'report.html'}.")
    return path


def add_point_options(parser: argparse.ArgumentParser, defaults: Mapping[str, str] | None = None) -> None:
    """--workload, --cores, --kernel, --machine, --set, --engine and --order: what points there are (`given`, `space`).

    ``defaults`` is for the help: what a command takes where it is not what a point has anyhow.
    """
    of_points = {**DEFAULTS, "cores": "all of the machine", "kernel": default_source(), **(defaults or {})}
    group = parser.add_argument_group("which points", "in the place of settings of the same name, or besides others")
    for key, what in _SETTINGS.items():
        words = f"{what} (default: {of_points[key]})" if key in of_points else what
        if key == "workload":
            group.add_argument("--workload", action="append", default=[], metavar="A,B", help=words)
        else:
            group.add_argument(f"--{key}", metavar="A,B", help=words)
    group.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another value for a key of the machine")


_SETTINGS = {
    "machine": "machines, names or paths of .toml files",
    "kernel": "kernels, SOURCE[:FIXES]",
    "workload": "workloads, names or paths of folders",
    "engine": "engines, fast or gem5",
    "order": "core orders: seq fills a socket first, rr spreads",
    "cores": "core counts",
}
"""Option -> what it takes; the first varies slowest."""


def given(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Settings that the options of `add_point_options` and `add_trials_option` name, each with its alternatives."""
    found = {key: text.split(",") for key in _SETTINGS if isinstance(text := getattr(arguments, key), str)}
    if arguments.workload:
        found["workload"] = [one for text in arguments.workload for one in workload.listed(text)]
    found |= {f"set.{key}": [value] for key, value in map(settings_text, arguments.set)}
    if arguments.trials != 1:
        found["trial"] = trials(arguments)
    order = [*(key for key in found if key.startswith("set.")), *(key for key in _SETTINGS if key != "cores"), "trial", "cores"]
    return {key: found[key] for key in order if key in found}


def space(text: str, settings: Mapping[str, Sequence[str]], *, program: bool = False) -> Space:
    """The points of ``text`` combined with each of the alternatives of ``settings`` (`given`); says what was understood.

    ``program``: the workload among ``settings`` is from --program.

    Raises:
        Failure: bad-input, for text that is no sweep, and for a key that both name.
    """
    whole = sweep.parse(text) if text else Space(({},))
    for key, values in settings.items():
        if any(key in one for one in whole.settings):
            options = {"set": "--set", "trial": "--trials", "workload": "--program" if program else "--workload"}
            option = options.get(key.partition(".")[0], f"--{key}")
            raise bad_input(f"{text!r} names {key}, and so does {option}.", "Give one of the two.")
        whole = whole * sweep.alternatives(key, values)
    say_notes(whole)
    return whole


def add_trials_option(parser: argparse.ArgumentParser) -> None:
    """--trials and --width; ``trials`` names the trials to begin with."""
    parser.add_argument(
        "--trials",
        type=_number_of_trials,
        default=1,
        metavar="N|auto",
        help="runs of each point, all but the first perturbed (%(default)s); auto: as many as it takes "
        f"until the mean is known to --width, at least {FEWEST} and at most {many.MOST_TRIALS}",
    )
    parser.add_argument(
        "--width",
        type=_share,
        default=_share("5%"),
        metavar="W%",
        help="with --trials auto: half the 95 %% interval of throughput, of the mean (5%%)",
    )


def _number_of_trials(text: str) -> int | None:
    """A number of trials; None for auto."""
    return None if text == "auto" else positive(text)


def _share(text: str) -> float:
    """A share such as "5%"."""
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = 0.0
    if not 0 < value < 1 or not text.endswith("%"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a share such as 5%")
    return value


def trials(arguments: argparse.Namespace) -> list[str]:
    """The values of a point's ``trial`` that --trials means: 1, 2, ... N; for auto those that are run in any case."""
    return [str(number + 1) for number in range(arguments.trials or FEWEST)]


def width(arguments: argparse.Namespace) -> float | None:
    """The share of itself to which a mean is to be known, where trials are run for that."""
    return arguments.width if getattr(arguments, "trials", 1) is None else None


def run_points(points: Sequence[Point], arguments: argparse.Namespace) -> list[Finished]:
    """Run ``points`` as the options of `add_many_options` and `add_trials_option` say."""
    root, wanted = Path(arguments.output), width(arguments)
    executor = registry.make(
        Wanted(arguments.executor, arguments.jobs or 0, arguments.partition, arguments.submit, arguments.server_dir),
        settings.load().job_count,
    )
    if wanted is not None:
        return many.run_until_known(points, root, executor=executor, reuse=arguments.reuse, width=wanted)
    return many.run_points(points, root, executor=executor, reuse=arguments.reuse)


def say_notes(space: Space) -> None:
    """Say what was understood of a sweep that is not written there."""
    for note in space.notes:
        say(f"mosbench: {note}")


def settings_text(text: str) -> tuple[str, str]:
    """KEY=VALUE of a --set."""
    key, equals, value = text.partition("=")
    if not equals:
        raise bad_input(f"--set {text} is not KEY=VALUE.", "Write for example --set l2_kib=1024.")
    return key, value

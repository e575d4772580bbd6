# SPDX-License-Identifier: BSD-3-Clause
"""`run.py run POINT`: run one point, unless a complete run of it is there. Executors start this command."""

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.report import windows
from analysis.report.finding import cause, idleness
from analysis.report.runs import Run
from analysis.report.words import amounts, rate
from common import interrupts, settings
from common.arguments import positive
from common.columns import lines, tell
from common.outcome import Failure, bad_input
from common.paths import given_path
from common.terminal import console
from harness.build import host_packages, own_program
from harness.cli import dry_run, options, which
from harness.cli.conclude import shortest
from harness.run import debugging, runner
from harness.run.engines import base
from harness.run.run_directory import RAW, interrupted
from harness.run.runner import Ran
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.point import Point


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "point",
        nargs="?",
        default="",
        metavar="POINT",
        help=which.WORDS,
    )
    options.add_point_options(parser)
    parser.add_argument(
        "--trials", type=positive, default=1, metavar="N", help="runs of the point, one after another (%(default)s)"
    )
    own = parser.add_argument_group("a program of your own, in place of a workload")
    own.add_argument("--program", metavar="FILE", help="x86-64 Linux program, static or for Debian 12; or a command of the guest")
    own.add_argument("--args", default="", metavar="TEXT", help="its arguments, quoted as for a shell")
    own.add_argument("--files", type=Path, nargs="+", default=[], metavar="FILE", help="copied into its working folder")
    own.add_argument("--packages", nargs="+", default=[], metavar="NAME", help="Debian packages that the guest is to have")
    own.add_argument(
        "--region",
        choices=own_program.REGIONS,
        default="auto",
        help="all of the program, or what it marks with roi.h (auto: marked if there is such a mark in it)",
    )
    options.add_run_options(parser)
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        choices=tuple(RAW),
        help="keep what the engine wrote: the guest's memory at the end of the region (engine/memory.elf), the raw records "
        "(engine/records.bin)",
    )
    parser.add_argument("--unless", type=Path, metavar="FILE", help="stop as soon as there is such a file (executors use it)")
    parser.add_argument(
        "--gdb", action="store_true", help="stop where the region begins, for gdb on a port of this host; the run is not kept"
    )
    parser.add_argument("--gdb-port", type=_port, metavar="PORT", help="the port for gdb (default: a free one)")
    parser.add_argument(
        "--windows",
        type=positive,
        metavar="N",
        help="measure N short windows of the region, and say how sure their mean is (gem5; the same as --set windows=N)",
    )
    parser.add_argument(
        "--processors",
        type=positive,
        metavar="N",
        help="processors of this host that the run may keep busy: gem5 measures windows side by side "
        f"({settings.load().job_count}; 1 where a command runs many points)",
    )
    dry_run.add_option(parser)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON: outcome, folder, what, cure")


def select(arguments: argparse.Namespace) -> list[Point]:
    """The point that POINT and the options mean, for each trial; ``arguments.settings`` becomes its settings, None of a file.

    Raises:
        Failure: bad-input, for a program that the guest cannot run, without a point, and where POINT and an option say the same.
    """
    given = options.given(arguments)
    if arguments.windows is not None:
        given["set.windows"] = [str(arguments.windows)]
    if arguments.program is not None:
        if "workload" in given:
            raise bad_input("Both --program and --workload say what is run.", "Give one of the two.")
        wanted = own_program.OwnProgram(
            arguments.program,
            _words(arguments.args),
            tuple(arguments.packages),
            tuple(given_path(path) for path in arguments.files),
            arguments.region,
        )
        given["workload"] = [str(own_program.folder(wanted))]
    if which.file_of(arguments.point) is not None:
        if more := sorted(given.keys() - {"engine"}):
            raise bad_input(
                f"{arguments.point} says all of its point, so there can be no other {more[0]}.", "Give settings in its place."
            )
        arguments.settings = None
        return [which.read(arguments.point, arguments.engine or "")]
    if arguments.gdb and arguments.trials > 1:
        raise bad_input("--gdb is for one run, and --trials asks for several.", "Leave one of the two out.")
    if not arguments.point and not given:
        raise bad_input(
            "There is no point to run.", 'Give settings, for example "workload=memcached * cores=12", --workload or --program.'
        )
    found = options.space(arguments.point, given, program=arguments.program is not None).settings
    if len(found) != arguments.trials:
        text = " ".join(filter(None, (arguments.point, *(f"--{key} {','.join(values)}" for key, values in given.items()))))
        raise bad_input(f"{text!r} means {len(found)} points.", "`run.py sweep` runs several.")
    arguments.settings = found[0]
    return [points.resolve(one) for one in found]


def _words(text: str) -> tuple[str, ...]:
    """What --args means."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise bad_input(f"--args {text} cannot be split into words: {str(error).lower()}.", "Quote it as for a shell.") from None


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (1 to 65535)")
    return int(text)


def main(arguments: argparse.Namespace) -> int:
    try:
        if arguments.unless is not None:
            interrupts.stop_when(arguments.unless)
        if arguments.processors is not None:
            base.use_processors(arguments.processors)
        wanted = select(arguments)
        if arguments.dry_run:
            return dry_run.show(wanted, arguments.output, reuse=arguments.reuse)
        if not arguments.json:  # an executor has prepared the host
            host_packages.require(*host_packages.of_groups("engine", "kernel", "image"))
        if arguments.gdb:
            debugging.debug(wanted[0], arguments.gdb_port, _invite)
            return 0
        for point in wanted:
            ran = runner.run_point(point, arguments.output, reuse=arguments.reuse, keep=arguments.keep)
            _tell(ran, arguments.json)
    except Failure as failure:
        return _failed(arguments, failure)
    except KeyboardInterrupt:
        return _failed(arguments, interrupted())
    if not arguments.json:
        for line in following(arguments.settings, ran.folder, point.cores):
            print(line)
    return 0


def _tell(ran: Ran, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"outcome": "ok", "folder": str(ran.folder), "reused": ran.reused, "what": " ".join(ran.notes)}))
        return
    for note in ran.notes:
        tell(note)
    print(f"{'There already' if ran.reused else 'Complete'}:", shortest(ran.folder), end="\n\n", sep="\n")
    run = Run(ran.folder)
    for line in told(run, console().width):
        print(line)
    if (found := windows.table(run)) is not None:
        print()
        console().print(found)


def told(run: Run, width: int) -> Iterator[str]:
    """What a run says in lines of so many columns: throughput, transfers for a unit of work, the first line that pays."""
    rate_of_core, transfers = amounts(width)(run.per_core), run.transfers_per_unit
    moved = "" if transfers is None else f", {rate(transfers)} cross-socket transfers per unit of work"
    yield lines(f"{rate_of_core} {run.unit}/s/core{moved}: {run.work}, {run.series}.", width, 0)
    yield from (lines(sentence, width, 0) for sentence in (cause(run), idleness(run)) if sentence)


def following(settings: sweep.Settings | None, folder: Path, cores: int) -> Iterator[str]:
    """Commands to give next, each under what it is for; ``settings`` are those of the point, None where a file had it."""
    yield "\nIts lines, bottlenecks and functions, and a page with all of it:"
    yield from _pasted(["./run.py", "report", "-v", shortest(folder)])
    if cores > 1 and settings is not None:
        yield "How it scales:"
        others = sweep.write({key: value for key, value in settings.items() if key not in ("cores", "trial")})
        yield from _pasted(["./run.py", "sweep", f"{others} * cores=1+{cores}"])


def _pasted(words: Sequence[str]) -> Iterator[str]:
    """A command as it can be pasted, its last word on a line of its own where both together are too wide."""
    command = shlex.join(words)
    if len(command) + 2 <= console().width:
        yield f"  {command}"
    else:
        yield f"  {shlex.join(words[:-1])} \\"
        yield f"    {shlex.quote(words[-1])}"


def _invite(debugged: debugging.Debugged) -> None:
    print("The guest stops where the region begins. In another terminal:")
    print(f"  {shlex.join(debugged.command)}", flush=True)


def _failed(arguments: argparse.Namespace, failure: Failure) -> int:
    if not arguments.json:
        raise failure
    print(json.dumps({"outcome": failure.outcome.value, "what": failure.what, "cure": failure.cure}))
    return failure.outcome.exit_status

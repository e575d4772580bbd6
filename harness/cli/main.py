# SPDX-License-Identifier: BSD-3-Clause
"""The command line, `run.py COMMAND ...`: a command is a module with ``configure`` and ``main``, loaded when it is asked for."""

import argparse
import importlib
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from common.columns import WIDTH_ELSEWHERE, columns, lines, say
from common.outcome import Failure, bad_input
from common.version import release, revision
from harness.run.guest_process import disk_full
from harness.run.run_directory import NO_ROOM, interrupted

COMMANDS = {
    "lab": ("harness.cli.lab", "set everything up, run the default points, analyse them, write the report: the main job"),
    "run": ("harness.cli.run", "run one point"),
    "sweep": ("harness.cli.sweep", "run a set of points written as products and alternatives"),
    "ablation": ("harness.cli.ablation", "what each kernel fix brings: one after another, each alone, all but one"),
    "claims": ("harness.cli.claims", "the paper's claims: run what they need and say which hold"),
    "sensitivity": ("harness.cli.sensitivity", "which claims depend on a parameter of the model: each halved and doubled"),
    "bottlenecks": ("harness.cli.bottlenecks", "the paper's bottlenecks by their microbenchmarks, gem5 beside the fast engine"),
    "agree": ("harness.cli.agree", "run one point on both engines and show where they agree"),
    "show": ("harness.cli.show", "look at one run: its functions, lines and cycles, or one field, core or pair of sockets"),
    "diff": ("harness.cli.diff", "set two runs beside each other: throughput, and lines that are gone, new, grown"),
    "reproduce": ("harness.cli.reproduce", "run the point of a run again and compare the files"),
    "report": ("harness.cli.report", "table and HTML report of complete runs (`list words` says what their words mean)"),
    "runs": ("harness.cli.runs", "list the runs that there are, or remove what has failed or was set aside"),
    "list": ("harness.cli.list", "list workloads, machines, kernels, fixes, or what the words of tables mean"),
    "machine": ("harness.cli.machine", "show a machine with everything resolved, or the keys that machines have"),
    "kernel": ("harness.cli.kernel", "build a kernel, or print its fixes as a patch"),
    "image": ("harness.cli.image", "build the disks of workloads"),
    "workload": ("harness.cli.workload", "write the folder of a workload of your own"),
    "engine": ("harness.cli.engine", "build an engine"),
    "cache": ("harness.cli.cache", "list what has been built, or remove what is old"),
    "verify": ("harness.cli.verify_and_bench", "list or run the checks of what the product promises"),
    "bench": ("harness.cli.verify_and_bench", "list or run the measurements of its speed"),
    "record": ("harness.cli.record", "run a command and write what it shows as a page of docs/results"),
    "test": ("harness.cli.test", "run the tests"),
    "generate": ("harness.cli.generate", "write the files that come from a schema again (after a change to one)"),
    "doctor": ("harness.cli.doctor", "list every dependency: found or missing, version, how to get it"),
}
"""Command -> (module, summary)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status. A `Failure` becomes one line on the error stream and its outcome's status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    signal.signal(signal.SIGTERM, _on_terminate)
    try:
        return dispatch(given)
    except Failure as failure:
        return _report(failure)
    except KeyboardInterrupt:
        return _report(interrupted())
    except BrokenPipeError:  # the reader of our output has gone, as in `run.py list workloads | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except PermissionError as error:
        return _report(
            bad_input(f"{error.filename} may not be written or read.", "Change its permissions, or name another place.")
        )
    except OSError as error:
        if error.errno in NO_ROOM:
            return _report(disk_full(Path(error.filename or ".")))
        if not error.filename or not error.strerror:
            raise
        return _report(bad_input(f"{error.filename} cannot be used: {error.strerror}.", "Put it right, or name another place."))


def dispatch(given: Sequence[str]) -> int:
    """Run the command that ``given`` names; returns its exit status.

    Raises:
        Failure: what the command could not do.
    """
    if given and given[0] == "--version":
        print(version())
        return 0
    if not given or given[0] in ("-h", "--help"):
        print(overview())
        return 0 if given else 2
    name = given[0]
    if name not in COMMANDS:
        leave_out = "Leave it out: commands begin with what comes after it. " if name.endswith("run.py") else ""
        raise bad_input(f"There is no command {name!r}.", f"{leave_out}Use one of {', '.join(COMMANDS)}.")
    module_name, summary = COMMANDS[name]
    module = importlib.import_module(module_name)
    parser = argparse.ArgumentParser(prog=f"run.py {name}", description=summary[0].upper() + summary[1:] + ".")
    module.configure(parser)
    arguments, more = parser.parse_known_args(given[1:])
    if more:
        refuse_file_names(given, more)
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    status: int = module.main(arguments)
    sys.stdout.flush()
    return status


def refuse_file_names(given: Sequence[str], more: Sequence[str]) -> None:
    """Say so where words that no command takes are what the shell made of a `*` outside of quotes.

    Raises:
        Failure: bad-input, with the command as it was meant.
    """
    files = [word for word in more if word == "*" or os.path.exists(word)]
    if not files or not any("=" in word for word in given):
        return
    settings = [word for word in given[1:] if word in files or ("=" in word and not word.startswith("-"))]
    options = [word for word in given[1:] if word not in settings]
    meant = ["*" if word in files else word for word in settings]
    text = " ".join(word for number, word in enumerate(meant) if word != "*" or meant[number - 1] != "*")
    names = ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
    made = "" if set(files) == {"*"} else f", and the shell put names of files in its place ({names})"
    command = shlex.join(["./run.py", given[0], text, *options])
    raise bad_input(f"A * was not in quotes{made}.", f"Put the whole text into single quotes: {command}")


def version() -> str:
    """The release and the commit of the checkout."""
    checkout = revision()
    commit = "" if checkout.commit is None else f" ({checkout.commit[:12]}{', changed' if checkout.changed else ''})"
    return f"mosbench-gem5 {release()}{commit}"


def overview() -> str:
    """What `run.py --help` prints."""
    width, wide = max(map(len, COMMANDS)), columns(sys.stdout, WIDTH_ELSEWHERE)
    rows = [lines(f"  {name:<{width}}  {summary}", wide, width + 4) for name, (_, summary) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: run.py COMMAND ...",
            "",
            *rows,
            "",
            lines("`run.py COMMAND --help` says more of one, `run.py --version` which version this is.", wide, 0),
        ]
    )


def _report(failure: Failure) -> int:
    say(f"mosbench: {failure}")
    return failure.outcome.exit_status


def _on_terminate(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends a command as ctrl-C does: what it started is stopped and what it was writing removed."""
    raise KeyboardInterrupt

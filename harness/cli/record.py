# SPDX-License-Identifier: BSD-3-Clause
"""`run.py record NAME COMMAND ...`: run a command of run.py and write what it shows as the page docs/results/NAME.md.

The page says which command made it, on which commit, engine and host, and when. A checkout with changes is refused, since its
commit would name something else. Changed pages of docs/results are not: no command reads them.
"""

import argparse
import platform
import re
import shlex
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from common.outcome import bad_input
from common.paths import REPOSITORY
from common.terminal import markdown, recorded
from common.version import revision
from harness.cli import main as command_line
from harness.run.engines import base

RESULTS = REPOSITORY / "docs" / "results"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the page: lower-case letters, digits, '-' and '.'")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND ...", help='such as "verify latencies"')


def main(arguments: argparse.Namespace) -> int:
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", arguments.name):
        raise bad_input(f"{arguments.name!r} is no name of a page.", "Use lower-case letters, digits, '-' and '.'.")
    if not arguments.command or arguments.command[0] == "record":
        raise bad_input("record needs a command to run.", "Write for example: run.py record latencies verify latencies")
    now = revision(without=RESULTS)
    if now.commit is None or now.changed:
        why = "is no git checkout" if now.commit is None else "has changes that are in no commit"
        raise bad_input(f"The page would name a commit, and {REPOSITORY} {why}.", "Commit first.")
    began, clock = datetime.now(UTC), time.monotonic()
    with recorded() as shown:
        status = command_line.dispatch(arguments.command)
    RESULTS.mkdir(parents=True, exist_ok=True)
    page = RESULTS / f"{arguments.name}.md"
    header = facts(arguments.command, now.commit, began, time.monotonic() - clock, status)
    page.write_text(text(arguments.name, header, shown), encoding="utf-8")
    sys.stderr.write(f"Written: {page}\n")
    return status


def facts(command: Sequence[str], commit: str, began: datetime, seconds: float, status: int) -> dict[str, str]:
    """What the head of a page says, in its order."""
    engines = base.prepared()
    return {
        "command": f"`./run.py {shlex.join(command)}`",
        "exit status": f"{status} ({'as expected' if status == 0 else 'something falls short, see below'})",
        "commit": commit[:12],
        "date": f"{began:%Y-%m-%d}",
        "engine": "; ".join(f"{one.name} ({', '.join(f'{k} {v}' for k, v in one.versions.items())})" for one in engines)
        or "none",
        "host": f"{processor()}; {f'{seconds / 60:.0f} minutes' if seconds >= 120 else f'{seconds:.0f} seconds'}",
    }


def processor() -> str:
    """The host's processor, as Linux names it."""
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        named = None
    return named[1] if named else platform.machine()


def text(name: str, head: dict[str, str], shown: Sequence[Table | str]) -> str:
    """The page: a table of where it is from, then what was shown."""
    parts = [f"# Result: {name}\n", "This page is written by a command; do not edit it.\n", "| | |\n|---|---|\n"]
    parts[-1] += "".join(f"| {key} | {value} |\n" for key, value in head.items())
    for one in shown:
        if isinstance(one, Table):
            parts.append(markdown(one))
        elif one.strip():
            parts.append("```\n" + "\n".join(line.rstrip() for line in one.strip("\n").splitlines()) + "\n```\n")
    return "\n".join(parts)

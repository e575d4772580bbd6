# SPDX-License-Identifier: BSD-3-Clause
"""`run.py runs list`: what is in the folder of runs; `run.py runs prune`: remove what is no complete run, or what is named;
`run.py runs costs`: keep what they took, for dry runs on other hosts.
"""

import argparse
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from common import cache as built_cache
from common import settings
from common.outcome import Outcome, bad_input
from common.paths import REPOSITORY
from common.version import revision
from harness.cli.record import processor
from harness.run import catalogue, known_costs, leftovers, run_directory
from harness.run.catalogue import Row

_HEADINGS = ("workload", "cores", "kernel", "machine", "made", "outcome", "size", "folder")
_RIGHT = tuple(heading in ("cores", "size") for heading in _HEADINGS)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("list", "prune", "costs"),
        help="prune: remove what failed or was set aside; costs: keep what runs and builds took, for dry runs on other hosts",
    )
    parser.add_argument(
        "--output", type=Path, default=settings.load().runs, metavar="FOLDER", help="folder of the runs (%(default)s)"
    )
    for what in ("workload", "kernel", "machine", "engine"):
        parser.add_argument(
            f"--{what}", metavar="A,B", help=f"only of these, * stands for anything: --{what} '{_EXAMPLES[what]}'"
        )
    parser.add_argument("--cores", metavar="N,M", help="only with these numbers of cores")
    parser.add_argument("--outcome", metavar="A,B", help="ok, old, broken or an outcome (prune without it: all but ok)")
    parser.add_argument(
        "--since", type=_date, metavar="DATE", help="made on this day or later: 2026-11-30, or 3d for three days ago"
    )
    parser.add_argument("--before", type=_date, metavar="DATE", help="made before this day")
    parser.add_argument("--larger", type=_size, default=0, metavar="SIZE", help="only what takes more: 500K, 30M, 1G")
    parser.add_argument("--check", action="store_true", help="list: read all files and compare them with their manifests")
    parser.add_argument("--dry-run", action="store_true", help="prune: only say what would be removed")


_EXAMPLES = {"workload": "micro:*", "kernel": "*:pk", "machine": "opteron*", "engine": "fast"}


def main(arguments: argparse.Namespace) -> int:
    root = Path(arguments.output)
    chosen = select(catalogue.rows(root), arguments)
    match arguments.action:
        case "list":
            return _list(root, chosen, arguments.check)
        case "prune":
            return _prune(root, chosen, arguments)
        case _:
            return _keep_costs(chosen)


def select(rows: Sequence[Row], arguments: argparse.Namespace) -> list[Row]:
    """The rows that the filters let through.

    Raises:
        Failure: bad-input, for a number of cores or an outcome that is none.
    """
    wanted = {what: text.split(",") for what in ("workload", "kernel", "machine", "engine") if (text := getattr(arguments, what))}
    cores = arguments.cores.split(",") if arguments.cores else None
    if odd := [text for text in cores or () if not text.isdecimal()]:
        raise bad_input(f"--cores {odd[0]} is not a number.", "Give for example --cores 1,48.")
    states = arguments.outcome.split(",") if arguments.outcome else None
    known = {*map(str, Outcome), "old", "broken", "unknown", *(row.state for row in rows)}
    if odd := [text for text in states or () if text not in known]:
        raise bad_input(f"There is no outcome {odd[0]!r}.", f"Use {', '.join(sorted(known))}.")
    return [
        row
        for row in rows
        if all(any(fnmatchcase(getattr(row, what), one) for one in texts) for what, texts in wanted.items())
        and (cores is None or str(row.cores) in cores)
        and (states is None or row.state in states)
        and (arguments.since is None or row.made >= arguments.since)
        and (arguments.before is None or row.made < arguments.before)
        and row.bytes >= arguments.larger
    ]


def _list(root: Path, rows: Sequence[Row], check: bool) -> int:
    faults = {row.name: run_directory.fault(root / row.name) for row in rows if row.state == Outcome.OK} if check else {}
    wrong = {name: fault for name, fault in faults.items() if fault is not None}
    lines = [_HEADINGS]
    for row in rows:
        order = f", {row.order}" if row.order not in ("", "seq") else ""
        trial = f", trial {row.trial}" if row.trial > 1 else ""
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.made))
        place = f"{row.machine}{order}" + (f", {row.engine}" if row.engine != "fast" else "")
        state = f"damaged: {wrong[row.name]}" if row.name in wrong else row.state
        lines.append((f"{row.workload}{trial}", str(row.cores or ""), row.kernel, place, made, state, _text(row.bytes), row.name))
    if rows:  # plain lines: a table that folds its cells takes a second for 1,000
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        formats = "  ".join(f"{{:{'>' if right else '<'}{width}}}" for width, right in zip(widths, _RIGHT, strict=True))
        sys.stdout.write("".join(f"{formats.format(*line).rstrip()}\n" for line in lines))
    complete = sum(row.state == Outcome.OK for row in rows) - len(wrong)
    total = _text(sum(row.bytes for row in rows))
    print(f"{len(rows)} folders, {complete} of them complete runs{' (all files read)' if check else ''}, {total}, in {root}")
    return 1 if wrong else 0


def _prune(root: Path, rows: Sequence[Row], arguments: argparse.Namespace) -> int:
    chosen = [row for row in rows if row.state != "unknown" and (arguments.outcome or row.state != Outcome.OK)]
    filtered = any(getattr(arguments, what) for what in (*_EXAMPLES, "cores", "outcome", "since", "before", "larger"))
    dead = [] if filtered else leftovers.find(root)
    count, freed, word = len(chosen), 0, "would be removed" if arguments.dry_run else "removed"
    for row in chosen:
        print(f"{_text(row.bytes):>9}  {row.name}  ({row.state})")
        freed += row.bytes
        if not arguments.dry_run:
            shutil.rmtree(root / row.name, ignore_errors=True)
    for left in dead:
        size = left.bytes
        if arguments.dry_run or left.remove():
            print(f"{_text(size):>9}  {left.path.relative_to(root)}  ({left.what})")
            count += 1
            freed += size
    if not arguments.dry_run:
        catalogue.forget(root, {row.name for row in chosen})
    sys.stdout.write(f"{count} {word}, {_text(freed)}\n")
    return 0


def _keep_costs(rows: Sequence[Row]) -> int:
    complete = [row for row in rows if row.state == Outcome.OK]
    if not complete:
        raise bad_input(
            "There is no complete run that would say what it took.", "Run points first, or name their folder by --output."
        )
    commit = (revision().commit or "unknown")[:12]
    where = f"{processor()}, {len(os.sched_getaffinity(0))} processors, commit {commit}, {datetime.now(UTC):%Y-%m-%d}"
    earlier = known_costs.read(known_costs.FILE) if known_costs.FILE.is_file() else known_costs.Known([], {})
    content = known_costs.text(*known_costs.with_earlier(complete, built_cache.all_built(), earlier), where)
    known_costs.FILE.write_text(content, encoding="utf-8")
    print(f"{known_costs.FILE.relative_to(REPOSITORY)}: what {len(complete)} runs and the builds of this host took")
    return 0


def _text(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 2**20:.1f} MiB" if size >= 1 << 20 else f"{size / 2**10:.0f} KiB"


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 30M")
    return int(found[1]) * _UNITS[found[2]]


def _date(text: str) -> float:
    """Seconds since 1970 of a day (its begin), or of so many days ago."""
    if re.fullmatch(r"\d+d", text):
        return time.time() - 86400 * int(text[:-1])
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-11-30, nor 3d") from None

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py cache`: what has been built and how large it is; `run.py cache prune` removes what has not been used for long, and what
killed builds left.
"""

import argparse
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from common.arguments import positive
from common.cache import BUILDING, INPUTS, last_used, lock_of
from common.locks import is_held, locked_now
from common.paths import cache_root

_DAYS = 30
_DAY_SECONDS = 86400


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("show", "prune"), default="show", help="prune: remove what show names as not used or left"
    )
    parser.add_argument(
        "--days", type=positive, default=_DAYS, metavar="N", help="not used: for so many days and longer (%(default)s)"
    )


def main(arguments: argparse.Namespace) -> int:
    total = freed = 0
    for path, size in parts():
        why = why_old(path, arguments.days)
        total += size
        print(f"{size / 2**20:9.0f} MiB  {path.relative_to(cache_root())}{f'  ({why})' if why else ''}")
        if why and arguments.action == "prune" and _remove(path, arguments.days):
            freed += size
    print(f"{total / 2**20:9.0f} MiB in {cache_root()}" + (f", {freed / 2**20:.0f} MiB of it now freed" if freed else ""))
    return 0


def parts() -> Iterator[tuple[Path, int]]:
    """What the cache has and its bytes: each entry that `common.cache` made, finished or not, and of each folder all the rest."""
    kinds = sorted(cache_root().iterdir()) if cache_root().is_dir() else []
    for kind in kinds:
        inside = sorted(kind.iterdir()) if kind.is_dir() else [kind]
        entries = [path for path in inside if _is_entry(path)]
        for path in entries:
            yield path, used([path])
        rest = used(path for path in inside if path not in entries)
        if rest or not entries:
            yield kind, rest


def _is_entry(path: Path) -> bool:
    return path.is_dir() and (path.name.startswith(BUILDING) or (path / INPUTS).is_file())


def why_old(path: Path, days: int) -> str:
    """Why `prune` may remove a part of the cache, in a few words; empty: it may not, or a process is building it."""
    if not _is_entry(path):
        return ""
    if path.name.startswith(BUILDING):
        return "" if is_held(lock_of(path)) else "left by a killed build"
    unused = int((time.time() - last_used(path)) // _DAY_SECONDS)
    return f"not used for {unused} days" if unused >= days else ""


def _remove(entry: Path, days: int) -> bool:
    """Whether the entry is removed: a process may have begun to build or to use it meanwhile."""
    doomed = entry.with_name(BUILDING + entry.name.removeprefix(BUILDING))
    try:
        with locked_now(lock_of(entry)):
            if entry != doomed:
                if not why_old(entry, days):
                    return False
                entry.rename(doomed)  # what is half removed must not count as complete
            shutil.rmtree(doomed)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True


def used(paths: Iterable[Path]) -> int:
    """Bytes that files and folders take on the disk. What goes away meanwhile takes none."""
    total = 0
    for path in paths:
        inside = (os.path.join(place, name) for place, _, names in os.walk(path) for name in names)
        for file in (str(path), *inside):
            with suppress(FileNotFoundError):
                total += os.lstat(file).st_blocks * 512
    return total

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py cache`: what has been built and how large it is; `run.py cache prune` removes old builds and what killed ones left."""

import argparse
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from common.paths import cache_root

_BUILDING = ".building-"
_KINDS = ("checkpoints", "counts", "engines", "images", "kernels", "packages", "programs")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("show", "prune"), default="show")


def main(arguments: argparse.Namespace) -> int:
    superseded = set(old())
    total = freed = 0
    for path in entries():
        size = used(path)
        total += size
        remove = path in superseded
        word = "left by a killed build" if path.name.startswith(_BUILDING) else "older than another of its name"
        print(f"{size / 2**20:9.0f} MiB  {path.relative_to(cache_root())}{f'  ({word})' if remove else ''}")
        if remove and arguments.action == "prune":
            shutil.rmtree(path)
            freed += size
    print(f"{total / 2**20:9.0f} MiB in {cache_root()}" + (f", {freed / 2**20:.0f} MiB of it now freed" if freed else ""))
    return 0


def entries() -> Iterator[Path]:
    """Folders of the cache that `common.cache` made, finished or not."""
    for kind in _KINDS:
        folder = cache_root() / kind
        if folder.is_dir():
            yield from sorted(path for path in folder.iterdir() if path.is_dir())


def old() -> Iterator[Path]:
    """Left-overs of killed builds, and of each name all entries but the newest."""
    newest: dict[tuple[Path, str], Path] = {}
    for path in entries():
        if path.name.startswith(_BUILDING):
            if not _being_built(path):
                yield path
            continue
        key = (path.parent, path.name.rpartition("-")[0])
        other = newest.get(key)
        if other is None or other.stat().st_mtime < path.stat().st_mtime:
            newest[key] = path
            path = other or path
        if path is not newest[key]:
            yield path


def _being_built(path: Path) -> bool:
    """Whether a process holds the lock of the entry."""
    lock = path.with_name(f".lock-{path.name.removeprefix(_BUILDING)}")
    if not lock.exists():
        return False
    with open(lock, "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def used(folder: Path) -> int:
    """Bytes that a folder takes on the disk."""
    paths = (Path(place) / name for place, _, names in os.walk(folder) for name in names)
    return sum(path.lstat().st_blocks * 512 for path in paths if not path.is_symlink() and path.exists())

# SPDX-License-Identifier: BSD-3-Clause
"""Run directories: ``<runs>/<point id>/``, complete if and only if MANIFEST.sha256 verifies.

A run is written in ``.<id>.part`` while ``.<id>.lock`` is held, and moved into place last. What ends in another way than ok
is moved to ``<id>.<outcome>-N``; what a killed process left behind, or a complete run that was damaged later, to
``<id>.broken-N``. Nothing but a folder named exactly after its point counts as a run.
"""

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.report.beside import MANIFEST
from common import locks
from common.json_files import write_json
from common.outcome import Failure, Outcome
from harness.run.guest_process import disk_full
from harness.run.used import used
from harness.spec import point as points
from harness.spec.point import Point

RAW = {"memory": "memory.elf", "records": "records.bin"}
"""What an engine leaves in ``engine/`` for the tables to be made from: much larger than they, and not needed later."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_manifest(folder: Path) -> None:
    """List every file of ``folder`` with its SHA-256, in the format of sha256sum, and force all of it to the disk."""
    lines = manifest_lines(folder, (str(path.relative_to(folder)) for path in _files(folder)))
    with open(folder / MANIFEST, "w", encoding="utf-8") as handle:
        handle.writelines(lines)
        handle.flush()
        os.fsync(handle.fileno())


def manifest_lines(folder: Path, names: Iterable[str]) -> list[str]:
    """The manifest's lines on these files, which are forced to the disk."""
    lines = []
    for name in names:
        with open(folder / name, "rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
            os.fsync(handle.fileno())
        lines.append(f"{digest}  {name}\n")
    return lines


def fault(folder: Path) -> str | None:
    """What is wrong with a run directory, in a few words; None if it is complete."""
    try:
        lines = (folder / MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return f"it has no readable {MANIFEST}"
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    present = {str(path.relative_to(folder)) for path in _files(folder)}
    if listed.keys() != present or not listed:
        odd = sorted(listed.keys() ^ present)
        return f"its files are not those of {MANIFEST} ({', '.join(odd[:3]) or 'none at all'})"
    for name, digest in listed.items():
        with open(folder / name, "rb") as handle:
            if hashlib.file_digest(handle, "sha256").hexdigest() != digest:
                return f"{name} is not what {MANIFEST} says"
    return None


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)


def is_in_place(folder: Path) -> bool:
    """Whether the folder is named after the point in it (those kept aside are not)."""
    try:
        return points.read(folder / "point.toml").id == folder.name
    except Failure:
        return False


def set_aside(folder: Path, word: str) -> Path:
    """Rename ``folder`` (``<id>`` or ``.<id>.part``) to ``<id>.<word>-N``, one more than the last; only the last is kept."""
    aside = _next_aside(folder, word)
    folder.rename(aside)
    _remove_older(aside)
    return aside


def _next_aside(folder: Path, word: str) -> Path:
    name = folder.name.removeprefix(".").removesuffix(".part")
    last = max((int(path.name.rpartition("-")[2]) for path in _asides(folder.parent, name, word)), default=0)
    return folder.with_name(f"{name}.{word}-{last + 1}")


def _asides(root: Path, name: str, word: str) -> list[Path]:
    """What is set aside of a point for one reason."""
    return [path for path in root.glob(f"{name}.{word}-*") if path.name.rpartition("-")[2].isdecimal()]


def _remove_older(aside: Path) -> None:
    """Of folders set aside for one reason the last is kept, so that they do not pile up."""
    stem = aside.name.rpartition("-")[0]
    name, _, word = stem.rpartition(".")
    for path in _asides(aside.parent, name, word):
        if path != aside:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def locked(root: Path, point: Point) -> Iterator[None]:
    """Hold the point's lock: another process that wants to run the same point waits here."""
    root.mkdir(parents=True, exist_ok=True)
    with locks.locked(root / f".{point.id}.lock", point.title, passing=True):
        yield


@contextmanager
def new_run(root: Path, point: Point) -> Iterator[Path]:
    """A folder to write the run of ``point`` into; the caller holds its lock.

    When the body ends, outcome.json and the manifest are written and the folder is moved into place. When it raises, the
    folder is set aside under the outcome's name (after an interrupt or without room on the disk it is removed).

    Raises:
        Failure: what the body raised; disk-full also for an OSError that says so.
    """
    final = root / point.id
    folder = root / f".{point.id}.part"
    folder.mkdir()
    began, before = time.monotonic(), used()
    try:
        (folder / "engine").mkdir()
        points.write(point, folder / "point.toml")
        yield folder
        took = used().since(before)
        write_json(
            folder / "outcome.json",
            {
                "outcome": Outcome.OK.value,
                "seconds": round(time.monotonic() - began, 1),
                "processor_seconds": round(took.processor_seconds, 1),
                "peak_bytes": took.peak_bytes,
            },
        )
        write_manifest(folder)
        folder.rename(final)
        _sync_folder(root)
    except Failure as failure:
        raise _abandon(folder, failure) from failure
    except OSError as error:
        if error.errno in NO_ROOM:
            raise _abandon(folder, disk_full(root)) from error
        raise
    except KeyboardInterrupt:
        raise _abandon(folder, interrupted()) from None


def interrupted() -> Failure:
    return Failure(Outcome.INTERRUPTED, "The run was interrupted.", "Give the same command again: complete runs are kept.")


def _abandon(folder: Path, failure: Failure) -> Failure:
    """Keep aside what a failed run left, and say where; the failure returned is the one to raise."""
    if failure.outcome in (Outcome.INTERRUPTED, Outcome.DISK_FULL):
        shutil.rmtree(folder, ignore_errors=True)
        return failure
    (folder / "engine" / RAW["memory"]).unlink(missing_ok=True)
    aside = _next_aside(folder, failure.outcome.value)
    what, cure = (text.replace(str(folder), str(aside)) for text in (failure.what, failure.cure))
    try:
        write_json(folder / "outcome.json", {"outcome": failure.outcome.value, "what": what, "cure": cure})
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return disk_full(folder.parent) if error.errno in NO_ROOM else failure
    folder.rename(aside)
    _remove_older(aside)
    return Failure(failure.outcome, what, cure)


def drop_raw(folder: Path, keep: Collection[str] = ()) -> None:
    """Remove the `RAW` files of a run that are not to be kept; of the records their SHA-256 stays, in records.sha256."""
    for what, name in RAW.items():
        path = folder / "engine" / name
        if not path.is_file():
            continue
        if what == "records":
            with open(path, "rb") as handle:
                digest = hashlib.file_digest(handle, "sha256").hexdigest()
            path.with_suffix(".sha256").write_text(f"{digest}  {name}\n", encoding="utf-8")
        if what not in keep:
            path.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue of a folder of runs: what lists and filters need of each folder in it, without opening the folder.

``.catalogue/index.jsonl`` has a line for each run: written when the run ends, and for folders that have none (copied there, made
by another version) when somebody lists them. A line stands for a folder as long as the folder and its manifest are as old as the
line says; the last line of a folder counts, and a torn one not at all, so processes on several hosts may add lines at a time.
"""

import fcntl
import hashlib
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from analysis.report.beside import CATALOGUE, MANIFEST, kept_in
from common.cache import hash_code, hash_files
from common.disk_use import bytes_of
from common.json_files import read_json
from common.outcome import Outcome
from harness.run import run_directory
from harness.spec import machine, machine_schema
from harness.spec import point as points

_INDEX = "index.jsonl"
_ASIDE = re.compile(r"(?P<id>.+)\.(?P<word>[a-z-]+)-(?P<number>\d+)")


class Row(msgspec.Struct, frozen=True):
    """One folder in a folder of runs."""

    name: str
    state: str
    """``ok`` of a complete run; an outcome; ``old``, ``broken``: why it is set aside; ``unknown`` of what is no run."""
    key: str
    """What the row was made of: ages of folder and manifest, and this code."""
    files: str = ""
    """Names, sizes and ages of all files when they were last seen to be those of the manifest; empty: not yet."""
    point: str = ""
    """Identifier of its point."""
    workload: str = ""
    parameters: str = ""
    engine: str = ""
    kernel: str = ""
    machine: str = ""
    cores: int = 0
    order: str = ""
    trial: int = 0
    builds: str = ""
    """Hash of the builds that it was made from."""
    made: float = 0.0
    """When it ended, in seconds since 1970."""
    bytes: int = 0
    """What its files take."""
    seconds: float = 0.0
    """What the run took on the host; 0 where it does not say so. The same for the next two."""
    processor_seconds: float = 0.0
    peak_bytes: int = 0
    """Resident size of the largest process."""


def rows(root: Path) -> list[Row]:
    """A row for each folder in ``root`` that is not being written, sorted by name. Nothing is verified."""
    known = _read(root)
    found, new = [], []
    for name, key in _folders(root):
        row = known.get(name)
        if row is None or row.key != key:
            row = _row(root / name, key)
            new.append(row)
        found.append(row)
    gone = len(known) - (len(found) - len(new))
    if gone > 100 + len(found):
        _rewrite(root, found)
    else:
        _append(root, new)
    return sorted(found, key=lambda row: row.name)


def note(folder: Path) -> None:
    """Enter a run that has just ended, with what a report needs of it.

    Raises:
        Failure: bad-input, when its tables cannot be read.
    """
    from analysis.report import kept_tables  # reads tables, which lists have no need of

    _append(folder.parent, [replace(_row(folder, _key(folder)), files=_files(folder))])
    kept_tables.find(folder)


def complete_runs(root: Path) -> list[Path]:
    """The complete runs in ``root``, sorted by name, as `verified` finds them."""
    return [root / row.name for row in verified(root)]


def verified(root: Path) -> list[Row]:
    """The rows of the complete runs in ``root``, sorted by name.

    A run's files are compared with its manifest when they are seen for the first time; later as long as names, sizes and ages are
    the same they are taken for unchanged.
    """
    found, new = [], []
    for row in rows(root):
        if row.state != Outcome.OK:
            continue
        files = _files(root / row.name)
        if row.files != files:
            if run_directory.fault(root / row.name) is not None:
                continue
            row = replace(row, files=files)
            new.append(row)
        found.append(row)
    _append(root, new)
    return found


def builds_key(digests: object) -> str:
    """Hash of the builds that a run is made from, as `Row.builds` has it."""
    return hashlib.sha256(msgspec.json.encode(digests, order="sorted")).hexdigest()[:16]


def forget(root: Path, names: set[str]) -> None:
    """Remove what is kept of folders that are gone."""
    for name in names:
        with suppress(OSError):
            kept_in(root / name).unlink()
    _rewrite(root, [row for row in _read(root).values() if row.name not in names])


def _folders(root: Path) -> Iterator[tuple[str, str]]:
    """Names and keys of the folders in ``root`` that may be rows."""
    if not root.is_dir():
        return
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name.startswith(".") or not entry.is_dir():
                continue
            with suppress(FileNotFoundError):  # it is being moved or removed
                yield entry.name, _key(Path(entry.path))


def _key(folder: Path) -> str:
    here = os.stat(folder)
    try:
        manifest = os.stat(f"{folder}/{MANIFEST}")
    except OSError:
        return f"{here.st_mtime_ns} - {_code()}"
    return f"{here.st_mtime_ns} {manifest.st_mtime_ns} {manifest.st_size} {_code()}"


@cache
def _code() -> str:
    """Hash of the code and data that rows are made by."""
    modules = (Path(__file__), points, machine, machine_schema)
    return hashlib.sha256(f"{hash_code(*modules)} {hash_files(machine_schema.SCHEMA)}".encode()).hexdigest()[:12]


def _files(folder: Path) -> str:
    """Names, sizes and ages of all files of a run directory, as one hash."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        state = path.stat()
        digest.update(f"{path.relative_to(folder)}\0{state.st_size}\0{state.st_mtime_ns}\0{state.st_ctime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _row(folder: Path, key: str) -> Row:
    aside = _ASIDE.fullmatch(folder.name)
    row = Row(folder.name, "unknown", key, made=folder.stat().st_mtime, bytes=bytes_of(folder.rglob("*")))
    try:
        data = tomllib.loads((folder / "point.toml").read_text(encoding="utf-8"))
        state = aside["word"] if aside else _state(folder, str(data["id"]))
        return replace(
            row,
            state=state,
            point=str(data["id"]),
            workload=f"{data['workload']}:{data['variant']}",
            parameters=",".join(f"{name}={value}" for name, value in sorted(data["parameters"].items())),
            engine=str(data["engine"]),
            kernel=f"{data['kernel']}:{data['fix_set']}",
            machine=str(data["machine"]["name"]),
            cores=int(data["cores"]),
            order=str(data["order"]),
            trial=int(data["trial"]),
            builds=_builds(folder),
            **_taken(folder),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return replace(row, state=aside["word"] if aside else "unknown")


def _state(folder: Path, identifier: str) -> str:
    """Of a folder that was not set aside. One that has another name, or that of another version, is somebody's own."""
    if (folder / MANIFEST).is_file():
        return Outcome.OK.value if run_directory.is_in_place(folder) else "unknown"
    return "broken" if folder.name == identifier else "unknown"


def _taken(folder: Path) -> dict[str, float]:
    """What outcome.json says that the run took."""
    try:
        said = read_json(folder / "outcome.json")
        seconds = {key: float(said.get(key, 0.0)) for key in ("seconds", "processor_seconds")}
        return {**seconds, "peak_bytes": int(said.get("peak_bytes", 0))}
    except (OSError, ValueError):
        return {}


def _builds(folder: Path) -> str:
    try:
        return builds_key(read_json(folder / "provenance.json").get("digests"))
    except (OSError, ValueError):
        return ""


def _read(root: Path) -> dict[str, Row]:
    try:
        content = (root / CATALOGUE / _INDEX).read_bytes()
    except OSError:
        return {}
    decoder = msgspec.json.Decoder(Row)
    found = {}
    for line in content.splitlines():
        with suppress(msgspec.DecodeError):
            row = decoder.decode(line)
            found[row.name] = row
    return found


def _append(root: Path, new: list[Row]) -> None:
    if not new:
        return
    # Where nothing can be written, rows are made again each time.
    with suppress(OSError), _locked(root), open(root / CATALOGUE / _INDEX, "ab") as handle:
        handle.write(b"".join(b"\n" + msgspec.json.encode(row) for row in new) + b"\n")


def _rewrite(root: Path, kept: list[Row]) -> None:
    with suppress(OSError), _locked(root):
        index = root / CATALOGUE / _INDEX
        temporary = index.with_name(f".{_INDEX}.{os.getpid()}")
        temporary.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in kept))
        temporary.replace(index)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    (root / CATALOGUE).mkdir(exist_ok=True)
    with open(root / CATALOGUE / ".lock", "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield

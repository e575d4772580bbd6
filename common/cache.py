# SPDX-License-Identifier: BSD-3-Clause
"""A cache of built things (kernels, images, engines) by the hash of what they are built from.

An entry is a folder ``<root>/<kind>/<name>-<hash>``. It is built under a temporary name and renamed into place last, so
a folder with the final name is complete by construction and a killed build leaves only a temporary folder behind,
which the next build of that entry removes. The date of its folder says when an entry was last taken (`last_used`).
"""

import ast
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType

from common.disk_use import bytes_of
from common.locks import locked
from common.paths import cache_root

SECONDS = ".seconds"
"""File of an entry that says how long it was built."""
INPUTS = "inputs.json"
"""File of an entry that says what it was made from."""
BUILDING = ".building-"
"""What the name of an entry that is not complete begins with."""


def hash_files(*roots: Path) -> str:
    """SHA-256 over the relative names, execute bits and contents of all files in ``roots`` (files or folders)."""
    digest = hashlib.sha256()
    for root in roots:
        files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
        for path in files:
            if "__pycache__" in path.parts:
                continue
            digest.update(f"{path.relative_to(root.parent)}\0{os.access(path, os.X_OK)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def hash_code(*modules: ModuleType | Path) -> str:
    """SHA-256 over what Python ``modules`` (or their files) do: their syntax without comments, docstrings and layout.

    The key of what they build: it changes with them, and a word in a comment rebuilds nothing. Not looked at are their names and
    what they import, so name every module that decides the result.
    """
    digest = hashlib.sha256()
    for module in modules:
        if isinstance(module, ModuleType):
            if module.__file__ is None:
                raise ValueError(f"{module.__name__} has no file")
            module = Path(module.__file__)
        digest.update(hashlib.sha256(_code(module.read_text(encoding="utf-8")).encode()).digest())
    return digest.hexdigest()


def _code(text: str) -> str:
    """A module's text in the layout of `ast.unparse`, without strings that are statements (docstrings, notes on fields)."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
            node.body = kept or ([] if isinstance(node, ast.Module) else [ast.Pass()])  # type: ignore[attr-defined]
    return ast.unparse(tree)


class Missing(Exception):
    """There is no such entry, and inside of `looking` none is built."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"{kind}/{name}")
        self.kind = kind
        self.name = name


_looking: ContextVar[bool] = ContextVar("looking", default=False)


@contextmanager
def looking() -> Iterator[None]:
    """Inside of it `cached` finds entries and builds none: it raises `Missing`."""
    token = _looking.set(True)
    try:
        yield
    finally:
        _looking.reset(token)


def refuse_to_make(kind: str, name: str) -> None:
    """For what makes something outside of the cache.

    Raises:
        Missing: inside of `looking`.
    """
    if _looking.get():
        raise Missing(kind, name)


def entry_path(kind: str, name: str, inputs: Mapping[str, object]) -> Path:
    """Where the entry made from ``inputs`` (JSON-serialisable) is or will be."""
    digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    return cache_root() / kind / f"{name}-{digest[:16]}"


def cached(kind: str, name: str, inputs: Mapping[str, object], build: Callable[[Path], None]) -> Path:
    """Folder of the entry, built by ``build(temporary_folder)`` unless it is there already.

    ``inputs`` is kept in the entry as ``inputs.json``. Two processes that want the same entry build it once: the second waits.
    A temporary folder has a stable name, so a build may bake absolute paths only if it never uses them afterwards.
    """
    final = entry_path(kind, name, inputs)
    if _taken(final):
        return final
    refuse_to_make(kind, name)
    final.parent.mkdir(parents=True, exist_ok=True)
    with locked(lock_of(final), f"{kind}/{name}"):
        if _taken(final):
            return final
        building = final.with_name(BUILDING + final.name)
        if building.exists():
            shutil.rmtree(building)
        building.mkdir(parents=True)
        began = time.monotonic()
        build(building)
        (building / SECONDS).write_text(f"{time.monotonic() - began:.1f}\n")
        (building / INPUTS).write_text(json.dumps(inputs, indent=1, sort_keys=True) + "\n")
        building.rename(final)
    return final


def _taken(entry: Path) -> bool:
    """Whether the entry is there; if so it is used now."""
    with suppress(OSError):  # it is not there, or somebody else's
        os.utime(entry)
    return entry.is_dir()


def last_used(entry: Path) -> float:
    """When `cached` last returned the entry, in seconds since 1970."""
    return entry.stat().st_mtime


def lock_of(entry: Path) -> Path:
    """The lock of who builds or removes an entry, which may be under its name of an incomplete one."""
    return entry.with_name(f".lock-{entry.name.removeprefix(BUILDING)}")


def built_before(kind: str, name: str) -> tuple[float | None, int | None]:
    """Seconds and bytes of the entries of ``kind`` whose name begins with ``name``, the mean of those that know; None of none."""
    root = cache_root() / kind
    entries = [path for path in root.glob(f"{name}-*") if path.is_dir()] if root.is_dir() else []
    seconds = [float((entry / SECONDS).read_text()) for entry in entries if (entry / SECONDS).is_file()]
    sizes = [bytes_of(entry.rglob("*")) for entry in entries]
    return sum(seconds) / len(seconds) if seconds else None, sum(sizes) // len(sizes) if sizes else None


def all_built() -> dict[tuple[str, str], tuple[float, int]]:
    """Of each kind and name the mean seconds and bytes of the entries that say how long they were built."""
    root = cache_root()
    kinds = sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    names = {(kind, path.parent.name.rpartition("-")[0]) for kind in kinds for path in (root / kind).glob(f"[!.]*/{SECONDS}")}
    found = {}
    for kind, name in sorted(names):
        seconds, size = built_before(kind, name)
        if seconds is not None and size is not None:
            found[kind, name] = (seconds, size)
    return found

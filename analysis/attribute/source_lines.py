# SPDX-License-Identifier: BSD-3-Clause
"""Program counters of the kernel -> function, inlined frames, file and line.

From the line tables of the kernel's DWARF through drgn (about half a millisecond each) and, for code without them, the symbol
table. Answers are kept per kernel in the cache folder: the same program counters come again in every run.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import drgn

from analysis.attribute import symbol_table
from analysis.attribute.symbol_table import SymbolTable
from common.cache import hash_code
from common.paths import cache_root


def place_of(file: str | None, line: int | None) -> str | None:
    """``fs/dcache.c:123``; the file alone where the line is not known, None where neither is."""
    return f"{file}:{line}" if file and line else file or None


@dataclass(frozen=True)
class Frame:
    """One function at a program counter; ``file`` is relative to the kernel's source, ``line`` 0 where unknown."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.function} {place}" if (place := place_of(self.file, self.line)) else self.function


@dataclass(frozen=True)
class Site:
    """What a program counter is: ``frames`` from the innermost inlined function to the one that exists as code."""

    frames: tuple[Frame, ...]

    @property
    def function(self) -> str:
        """The function as code: what a profile by symbol shows."""
        return self.frames[-1].function

    @property
    def inner(self) -> Frame:
        """The innermost frame that says where in the source the access is.

        Primitives (atomics, locks, list operations) are skipped if they come from a header: it is their caller that a reader
        looks for.
        """
        for frame in self.frames:
            if not frame.file.endswith(".h"):
                return frame
        return self.frames[-1]


USER = Site((Frame("user", "", 0),))


def identity(vmlinux: Path) -> str:
    """Something that differs between any two kernels, and any two ways to read them: a hash over this code and the start, the
    end and the size of the file."""
    size = vmlinux.stat().st_size
    digest = hashlib.sha256(f"{hash_code(Path(__file__), symbol_table)} {size} ".encode())
    with open(vmlinux, "rb") as handle:
        # The head has the program headers and, in .notes near the start of the image, the build ID; the tail the symbol names.
        digest.update(handle.read(1 << 22))
        handle.seek(max(0, size - (1 << 22)))
        digest.update(handle.read())
    return digest.hexdigest()[:24]


class CodeMap:
    """Resolves program counters of one kernel; ``program`` must have the debug information of ``vmlinux``."""

    def __init__(self, vmlinux: Path, program: drgn.Program, symbols: SymbolTable) -> None:
        self._vmlinux = vmlinux
        self._program = program
        self._symbols = symbols
        self._sites: dict[int, Site] = {}

    def resolve(self, counters: Iterable[int]) -> dict[int, Site]:
        """The site of each kernel program counter."""
        wanted = sorted(set(counters) - set(self._sites))
        if wanted:
            with closing(self._open_cache()) as cache:
                known = self._read_cache(cache, wanted)
                self._sites |= known
                new = {counter: self._look_up(counter) for counter in wanted if counter not in known}
                self._sites |= new
                rows = [
                    (f"{counter:x}", json.dumps([[f.function, f.file, f.line] for f in site.frames]))
                    for counter, site in new.items()
                ]
                with cache:
                    cache.executemany("insert or replace into sites values (?, ?)", rows)
        return self._sites

    def _open_cache(self) -> sqlite3.Connection:
        folder = cache_root() / "code"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(folder / f"{identity(self._vmlinux)}.sqlite", timeout=60)
            with connection:
                connection.execute("create table if not exists sites (counter text primary key, frames text)")
        except (OSError, sqlite3.Error):  # a cache that cannot be written or read costs time, not the run
            connection = sqlite3.connect(":memory:")
            connection.execute("create table sites (counter text primary key, frames text)")
        return connection

    @staticmethod
    def _read_cache(cache: sqlite3.Connection, wanted: list[int]) -> dict[int, Site]:
        found = {}
        chosen = {f"{counter:x}": counter for counter in wanted}
        for counter, frames in cache.execute("select counter, frames from sites"):
            if counter in chosen:
                found[chosen[counter]] = Site(tuple(Frame(*frame) for frame in json.loads(frames)))
        return found

    def _look_up(self, counter: int) -> Site:
        symbol = self._symbols.covering(counter)
        name = symbol.name if symbol else f"{counter:#x}"
        try:
            locations = list(self._program.source_location(counter))
        except LookupError:
            return Site((Frame(name, "", 0),))
        frames = [Frame(location.name() or name, _relative(location.filename), location.line) for location in locations]
        # The compiler may have split the function (`.constprop`, `.isra`, `.cold`): keep the name without it.
        if frames[-1].function == name or not symbol:
            return Site(tuple(frames))
        outermost = frames[-1]
        return Site((*frames[:-1], Frame(name.split(".")[0], outermost.file, outermost.line)))


_TOP_FOLDERS = (
    "arch",
    "block",
    "crypto",
    "drivers",
    "fs",
    "include",
    "init",
    "io_uring",
    "ipc",
    "kernel",
    "lib",
    "mm",
    "net",
    "security",
)


def _relative(path: str) -> str:
    """A source path from the kernel's top folder on, wherever it was built."""
    parts = path.removeprefix("./").split("/")
    for index, part in enumerate(parts):
        if part in _TOP_FOLDERS and (index == 0 or path.startswith("/")):
            return "/".join(parts[index:])
    return path

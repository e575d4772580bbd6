# SPDX-License-Identifier: BSD-3-Clause
"""A program or library of the guest: names of its functions, source lines and static variables, from its ELF file.

Functions come from DWARF, else from .symtab, else (a stripped file) from .dynsym, which has what is exported; a function that
none names is called by file and start, of which .eh_frame has all.
"""

import struct
import subprocess
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import drgn
import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from analysis.attribute.source_lines import Frame, Site

_EVERYWHERE = (0, (1 << 64) - 1)
_TABLE = 0x3B  # DW_EH_PE_datarel | DW_EH_PE_sdata4: how every linker writes the table of .eh_frame_hdr
_POINTER_SIZES = {0x02: 2, 0x03: 4, 0x04: 8, 0x0A: 2, 0x0B: 4, 0x0C: 8}  # DWARF's DW_EH_PE_*, low four bits
_OURS = "/mosbench-gem5/"
"""What `harness.build.guest_programs` puts in the place of the repository."""


@dataclass(frozen=True)
class Known:
    """A function or variable: addresses [start, start + size) of the file."""

    start: int
    size: int
    name: str


class UserModule:
    """``name`` is the file's own in tables; ``file`` a copy of it on this host, None where there is none.

    Addresses are those of the file's program headers. A file that is no ELF file knows nothing but its name.
    """

    def __init__(self, name: str, file: Path | None) -> None:
        self.name = name
        self._loads: list[tuple[int, int, int]] = []
        self._functions, self._variables = _Sorted(()), _Sorted(())
        self._starts: list[int] = []
        self._program: drgn.Program | None = None
        if file is not None:
            try:
                self._read(file)
            except (ELFError, OSError, struct.error, UnicodeDecodeError):
                self._loads = []

    def _read(self, file: Path) -> None:
        with open(file, "rb") as handle:
            elf = ELFFile(handle)
            for segment in elf.iter_segments("PT_LOAD"):
                self._loads.append((segment["p_offset"], segment["p_filesz"], segment["p_vaddr"]))
            symbols = [
                symbol
                for section in elf.iter_sections()
                if isinstance(section, SymbolTableSection)
                for symbol in section.iter_symbols()
                if symbol["st_shndx"] != "SHN_UNDEF" and symbol.name and symbol["st_size"]
            ]
            kinds = {"STT_FUNC": [], "STT_OBJECT": []}  # type: dict[str, list[Known]]
            for symbol in symbols:
                kind = "STT_FUNC" if symbol["st_info"]["type"] == "STT_LOOS" else symbol["st_info"]["type"]  # STT_GNU_IFUNC
                if kind in kinds:
                    kinds[kind].append(Known(symbol["st_value"], symbol["st_size"], symbol.name.partition("@")[0]))
            self._functions, self._variables = _Sorted(kinds["STT_FUNC"]), _Sorted(kinds["STT_OBJECT"])
            for segment in elf.iter_segments("PT_GNU_EH_FRAME"):
                self._starts = _function_starts(segment.data(), segment["p_vaddr"])
            if elf.get_section_by_name(".debug_info") is not None:
                self._program = _with_lines(file)

    def address(self, offset: int) -> int | None:
        """The address of a byte of the file; None where the file's segments do not have it."""
        return next((start + offset - low for low, size, start in self._loads if low <= offset < low + size), None)

    def bias(self, start: int) -> int | None:
        """What is to be subtracted from addresses of a process that has the file's first byte at ``start``."""
        first = self.address(0)
        return None if first is None else start - first

    def code(self, address: int | None, offset: int) -> Site:
        """What is at an address of the file, which lies at byte ``offset`` of it."""
        if address is None:
            return Site((Frame(f"{self.name}+{offset:#x}", self.name, 0),))
        known = self._functions.covering(address)
        name = demangled(known.name) if known else self._unnamed(address)
        if self._program is not None:
            try:
                locations = list(self._program.source_location(address))
            except LookupError:
                locations = []
            if locations:
                frames = [Frame(one.name() or name, _source(one.filename), one.line) for one in locations]
                if name.endswith(f"::{frames[-1].function}"):  # with its name space and class
                    frames[-1] = replace(frames[-1], function=name)
                return Site(tuple(frames))
        return Site((Frame(name, self.name, 0),))

    def _unnamed(self, address: int) -> str:
        index = bisect_right(self._starts, address) - 1
        start = self._starts[index] if index >= 0 else address
        exported = self._functions.covering(start)
        return demangled(exported.name) if exported else f"{self.name}+{start:#x}"

    def variable(self, address: int) -> str | None:
        """The static variable at an address of the file."""
        known = self._variables.covering(address)
        return demangled(known.name) if known else None


class _Sorted:
    """Symbols by address. Of several that begin at one place the first by name counts, and an underscore comes last."""

    def __init__(self, symbols: Iterable[Known]) -> None:
        self._all = sorted(symbols, key=lambda known: (known.start, known.name.startswith("_"), known.name), reverse=True)[::-1]
        self._starts = [known.start for known in self._all]

    def covering(self, address: int) -> Known | None:
        """The symbol whose bytes hold ``address``."""
        index = bisect_right(self._starts, address) - 1
        while index > 0 and self._starts[index - 1] == self._starts[index]:
            index -= 1
        if index >= 0 and address < self._all[index].start + self._all[index].size:
            return self._all[index]
        return None


def _function_starts(header: bytes, place: int) -> list[int]:
    """The starts of all functions, from .eh_frame_hdr at address ``place`` (Linux Standard Base, chapter 10.6)."""
    version, pointer, count, table = header[:4]
    if version != 1 or table != _TABLE:
        return []
    at = 4 + _POINTER_SIZES.get(pointer & 0xF, 4)
    size = _POINTER_SIZES.get(count & 0xF, 4)
    entries = int.from_bytes(header[at : at + size], "little")
    pairs = np.frombuffer(header, "<i4", 2 * entries, at + size).reshape(-1, 2)
    return sorted((pairs[:, 0].astype(np.int64) + place).tolist())


def _with_lines(file: Path) -> drgn.Program | None:
    program = drgn.Program(drgn.Platform(drgn.Architecture.X86_64))
    try:
        module = program.extra_module(file.name, create=True)
        module.try_file(str(file), force=True)
        module.address_ranges = [_EVERYWHERE]
    except (OSError, ValueError, LookupError):
        return None
    return program


def _source(path: str) -> str:
    """A source's name in tables: below the repository's or workloads' folder, else as the compiler was given it."""
    return path.rpartition(_OURS)[2]


_demangled: dict[str, str] = {}


def demangled(name: str) -> str:
    """A C++ function's own name without its arguments; any other as it is."""
    if not name.startswith("_Z"):
        return name
    if name not in _demangled:
        try:
            done = subprocess.run(["c++filt", "--no-params", name], capture_output=True, text=True, check=True)
            _demangled[name] = done.stdout.strip() or name
        except (OSError, subprocess.CalledProcessError):
            _demangled[name] = name
    return _demangled[name]

# SPDX-License-Identifier: BSD-3-Clause
"""The symbol table of a vmlinux, as arrays: 100,000 symbols in some milliseconds."""

import mmap
import struct
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from common.outcome import Failure, bad_input

_SECTION = np.dtype(
    [
        ("name", "<u4"),
        ("type", "<u4"),
        ("flags", "<u8"),
        ("addr", "<u8"),
        ("offset", "<u8"),
        ("size", "<u8"),
        ("link", "<u4"),
        ("info", "<u4"),
        ("align", "<u8"),
        ("entsize", "<u8"),
    ]
)
_SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")])
_SHT_SYMTAB = 2
_LABEL_REACH = 4096
_STT_OBJECT, _STT_FUNC, _STT_SECTION, _STT_FILE = 1, 2, 3, 4

U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Symbol:
    """A symbol that covers an address; ``size`` is 0 for a label of assembly code.

    ``file`` is the last component of the source file of a symbol that is local to one, empty for a global one.
    """

    name: str
    address: int
    size: int
    is_function: bool
    file: str = ""


class SymbolTable:
    """Symbols of an ELF64 file by name and by address.

    Raises:
        Failure: bad-input, if the file is missing, not ELF64 or has no symbols.
    """

    def __init__(self, path: Path) -> None:
        try:
            with open(path, "rb") as handle:
                data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise bad_input(f"The kernel {path} cannot be read ({error}).", "Give a vmlinux with debug information.") from None
        if data[:6] != b"\x7fELF\x02\x01":
            raise self._unusable(path, "is not an ELF64 file")
        shoff = struct.unpack_from("<Q", data, 40)[0]
        shnum = struct.unpack_from("<H", data, 60)[0]
        sections = np.frombuffer(data, _SECTION, shnum, shoff)
        tables = np.nonzero(sections["type"] == _SHT_SYMTAB)[0]
        if not len(tables):
            raise self._unusable(path, "has no symbol table")
        table = sections[tables[0]]
        symbols = np.frombuffer(data, _SYMBOL, int(table["size"]) // _SYMBOL.itemsize, int(table["offset"]))
        strings = sections[table["link"]]
        self._strings = data[int(strings["offset"]) : int(strings["offset"] + strings["size"])]
        kind = symbols["info"] & 15
        # A file's local symbols follow the symbol that names the file; global ones come after all of them.
        files = np.maximum.accumulate(np.where(kind == _STT_FILE, np.arange(len(symbols)), -1))
        file_names = np.where((symbols["info"] >> 4 == 0) & (files >= 0), symbols["name"][files], 0)
        keep = (symbols["section"] != 0) & (symbols["name"] != 0) & (kind != _STT_SECTION) & (kind != _STT_FILE)
        symbols, file_names = symbols[keep], file_names[keep]
        kind = symbols["info"] & 15
        is_global = (symbols["info"] >> 4) != 0
        # Of several symbols with one address, data and functions with a size come last, and so are what a search finds.
        rank = (symbols["size"] > 0) * 4 + np.isin(kind, [_STT_OBJECT, _STT_FUNC]) * 2 + is_global
        order = np.lexsort((rank, symbols["value"]))
        self._symbols, self._files = symbols[order], file_names[order]
        self._values: U64 = self._symbols["value"].astype(np.uint64)
        self._by_name: dict[str, int] | None = None
        self._starts: list[int] | None = None
        self._sizes: list[int] | None = None
        self._made: dict[int, Symbol] = {}

    @staticmethod
    def _unusable(path: Path, what: str) -> Failure:
        return bad_input(f"The kernel {path} {what}.", "Give the vmlinux of the kernel that ran, with debug information.")

    def _string(self, start: int) -> str:
        return self._strings[start : self._strings.index(b"\0", start)].decode()

    def address(self, name: str) -> int | None:
        """Address of the symbol ``name``, or None."""
        if self._by_name is None:
            self._by_name = {self._string(int(self._symbols["name"][index])): index for index in range(len(self._symbols))}
        index = self._by_name.get(name)
        return None if index is None else int(self._values[index])

    def covering(self, address: int) -> Symbol | None:
        """The symbol whose extent holds ``address``; a label (no size) reaches to the next symbol, but not past its page."""
        if self._starts is None or self._sizes is None:
            self._starts, self._sizes = self._values.tolist(), self._symbols["size"].tolist()
        index = bisect_right(self._starts, address) - 1
        # A label inside a function or object has no size of its own: the enclosing symbol, a few places before, is better.
        for candidate in range(index, max(index - 32, -1), -1):
            if self._starts[candidate] + self._sizes[candidate] > address:
                return self._symbol(candidate)
        if index >= 0 and not self._sizes[index] and address // _LABEL_REACH == self._starts[index] // _LABEL_REACH:
            return self._symbol(index)
        return None

    def _symbol(self, index: int) -> Symbol:
        if index not in self._made:
            symbol = self._symbols[index]
            is_function = (int(symbol["info"]) & 15) == _STT_FUNC
            name, file = self._string(int(symbol["name"])), self._string(int(self._files[index]))
            self._made[index] = Symbol(name, int(symbol["value"]), int(symbol["size"]), is_function, file)
        return self._made[index]

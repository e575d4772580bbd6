# SPDX-License-Identifier: BSD-3-Clause
"""Guest memory at the end of the region of interest: ``engine/memory.elf``.

The file is an ELF64 core with one PT_LOAD per run of guest pages; ``p_paddr`` is the guest physical address, pages of zeros are
left out. Virtual addresses are translated by walking the guest's own page tables, so this works for the direct map, vmemmap,
vmalloc and per-CPU memory of any x86-64 kernel (AMD64 Architecture Programmer's Manual, volume 2, section 5.3).
"""

import mmap
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from common.outcome import Failure, Outcome

PAGE = 4096

_PRESENT = 1
_HUGE = 1 << 7
_FRAME = 0x000F_FFFF_FFFF_F000

U64 = npt.NDArray[np.uint64]

SEGMENT = np.dtype(
    [
        ("type", "<u4"),
        ("flags", "<u4"),
        ("offset", "<u8"),
        ("vaddr", "<u8"),
        ("paddr", "<u8"),
        ("filesz", "<u8"),
        ("memsz", "<u8"),
        ("align", "<u8"),
    ]
)
PT_LOAD = 1
ET_CORE = 4
PN_XNUM = 0xFFFF  # more segments than e_phnum can say: the count is in section 0's sh_info (ELF gABI)


def _broken(path: Path, what: str) -> Failure:
    return Failure(
        Outcome.ENGINE_CRASH,
        f"{path} {what}.",
        "The engine did not finish writing the memory snapshot: check for free disk space and run the point again.",
    )


class Snapshot:
    """Guest physical memory, memory-mapped.

    Raises:
        Failure: outcome engine-crash, if the file is missing, truncated or not an ELF64 core.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as handle:
                self._data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise _broken(path, f"cannot be read ({error.strerror})") from None
        except ValueError:
            raise _broken(path, "is empty") from None
        header = self._data[:64]
        if len(header) < 64 or header[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", header, 16)[0] != ET_CORE:
            raise _broken(path, "is not a little-endian ELF64 core file")
        (phoff, shoff) = struct.unpack_from("<QQ", header, 32)
        (phentsize, phnum) = struct.unpack_from("<HH", header, 54)
        if phnum == PN_XNUM and shoff + 48 <= len(self._data):
            phnum = struct.unpack_from("<I", self._data, shoff + 44)[0]
        if phentsize != SEGMENT.itemsize or phoff + phnum * phentsize > len(self._data):
            raise _broken(path, "is truncated inside its program headers")
        segments = np.frombuffer(self._data, SEGMENT, phnum, phoff)
        segments = np.sort(segments[segments["type"] == PT_LOAD], order="paddr")
        ends = segments["offset"] + segments["filesz"]
        if len(ends) and int(ends.max()) > len(self._data):
            raise _broken(path, f"is truncated: {len(self._data)} bytes where its headers promise {int(ends.max())}")
        self._starts: U64 = segments["paddr"].astype(np.uint64)
        self._ends: U64 = self._starts + segments["filesz"]
        self._offsets: U64 = segments["offset"].astype(np.uint64)
        self._top = int(self._ends.max()) if len(ends) else 0

    @property
    def bytes_present(self) -> int:
        """Bytes of guest memory in the file."""
        return int((self._ends - self._starts).sum())

    @property
    def runs(self) -> list[tuple[int, int]]:
        """(guest physical address, bytes) of each run present, ascending."""
        return [(int(s), int(e) - int(s)) for s, e in zip(self._starts, self._ends, strict=True)]

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at guest physical ``address``; bytes not in the file are zero."""
        index = int(np.searchsorted(self._starts, np.uint64(address), "right")) - 1
        if index >= 0 and address + size <= int(self._ends[index]):
            offset = int(self._offsets[index]) + address - int(self._starts[index])
            return self._data[offset : offset + size]
        parts = bytearray(size)
        index = max(index, 0)
        while index < len(self._starts) and int(self._starts[index]) < address + size:
            start, end = int(self._starts[index]), int(self._ends[index])
            low, high = max(start, address), min(end, address + size)
            if low < high:
                offset = int(self._offsets[index]) + low - start
                parts[low - address : high - address] = self._data[offset : offset + high - low]
            index += 1
        return bytes(parts)

    def page(self, frame: int) -> U64:
        """The 512 quadwords of the page with frame number ``frame``."""
        return np.frombuffer(self.read(frame * PAGE, PAGE), np.uint64)

    def gather(self, addresses: U64, size: int) -> npt.NDArray[Any]:
        """``size`` bytes at each guest physical address: an array of shape (len(addresses), size), u8.

        No piece may cross a page boundary.
        """
        result = np.zeros((len(addresses), size), np.uint8)
        if not len(addresses):
            return result
        order = np.argsort(addresses, kind="stable")
        frames = addresses[order] // np.uint64(PAGE)
        bounds = np.concatenate([[0], np.nonzero(np.diff(frames))[0] + 1, [len(frames)]])
        columns = np.arange(size)
        for low, high in pairwise(bounds.tolist()):
            page = np.frombuffer(self.read(int(frames[low]) * PAGE, PAGE), np.uint8)
            rows = order[low:high]
            within = (addresses[rows] % np.uint64(PAGE)).astype(np.int64)
            result[rows] = page[within[:, None] + columns]
        return result


class AddressSpace:
    """Virtual memory as one top-level page table maps it.

    ``root`` is the physical address of that table, ``levels`` 4 or 5.
    """

    def __init__(self, snapshot: Snapshot, root: int, levels: int = 4) -> None:
        self.snapshot = snapshot
        self.root = root
        self.levels = levels
        self._translations: dict[int, int | None] = {}

    def translate(self, address: int) -> int | None:
        """Physical address of virtual ``address``, or None where nothing is mapped."""
        page = address >> 12
        if page in self._translations:
            base = self._translations[page]
        else:
            base = self._translations[page] = self._walk(address & ~0xFFF)
        return None if base is None else base + (address & 0xFFF)

    def _walk(self, address: int) -> int | None:
        table = self.root
        for level in range(self.levels, 0, -1):
            shift = 12 + 9 * (level - 1)
            entry = int.from_bytes(self.snapshot.read(table + ((address >> shift) & 511) * 8, 8), "little")
            if not entry & _PRESENT:
                return None
            if level == 1 or (level <= 3 and entry & _HUGE):
                mask = (1 << shift) - 1
                return (entry & _FRAME & ~mask) | (address & mask)
            table = entry & _FRAME
        return None

    def read(self, address: int, size: int) -> bytes | None:
        """``size`` bytes at virtual ``address``, or None if any page of them is not mapped."""
        physical = self.translate(address)
        if physical is None:
            return None
        room = PAGE - (address & 0xFFF)
        if size <= room:
            return self.snapshot.read(physical, size)
        rest = self.read((address + room) & 0xFFFF_FFFF_FFFF_FFFF, size - room)
        return None if rest is None else self.snapshot.read(physical, room) + rest

    def mappings(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """(virtual address, physical address, bytes) of each mapping in [start, end), ascending, one per leaf entry.

        Addresses in the upper half are given as they are (sign-extended).
        """
        yield from self._mappings(self.root, self.levels, 0, start, end)

    def _mappings(self, table: int, level: int, base: int, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        shift = 12 + 9 * (level - 1)
        entries = self.snapshot.page(table >> 12)
        for index in np.nonzero(entries & np.uint64(_PRESENT))[0]:
            address = base + (int(index) << shift)
            if level == self.levels and index >= 256:
                address |= -1 << (shift + 9) & 0xFFFF_FFFF_FFFF_FFFF
            if address + (1 << shift) <= start or address >= end:
                continue
            entry = int(entries[index])
            if level == 1 or (level <= 3 and entry & _HUGE):
                yield address, entry & _FRAME & ~((1 << shift) - 1), 1 << shift
            else:
                yield from self._mappings(entry & _FRAME, level - 1, address, start, end)

    def tables(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """(frame number, level) of each page table reached from the top for [start, end), the top one first."""
        yield from self._tables(self.root, self.levels, 0, start, end)

    def _tables(self, table: int, level: int, base: int, start: int, end: int) -> Iterator[tuple[int, int]]:
        yield table >> 12, level
        if level == 1:
            return
        shift = 12 + 9 * (level - 1)
        entries = self.snapshot.page(table >> 12)
        for index in np.nonzero(entries & np.uint64(_PRESENT))[0]:
            address = base + (int(index) << shift)
            if level == self.levels and index >= 256:
                address |= -1 << (shift + 9) & 0xFFFF_FFFF_FFFF_FFFF
            entry = int(entries[index])
            if address + (1 << shift) > start and address < end and not (level <= 3 and entry & _HUGE):
                yield from self._tables(entry & _FRAME, level - 1, address, start, end)

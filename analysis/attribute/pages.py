# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel uses each page for, from its ``struct page`` and the page tables. Many pages at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import drgn
import numpy as np
import numpy.typing as npt

from analysis.attribute.areas import Areas
from analysis.attribute.fields import has_member
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.hashing import distinct
from analysis.attribute.snapshot import PAGE
from analysis.attribute.subjects import U64, Kind
from analysis.attribute.vmalloc import ADDRESSES

_PAGE = np.uint64(PAGE)
_VMEMMAP_BYTES = 1 << 40

KINDS = list(Kind)
"""``UsedPages.kind`` is an index into it."""

_CODE = {kind: index for index, kind in enumerate(KINDS)}


@dataclass(frozen=True)
class UsedPages:
    """One entry per page: ``kind`` is an index into ``KINDS``, ``va`` the kernel virtual address of the page's first byte,
    ``owner`` depends on the kind: the address of the kmem_cache, the mapping, the frame of a page table.
    ``head`` is the virtual address of the first byte of the compound page. Pages that areas begin in or cover are of the kind
    ``BOOT``: which area an address lies in is asked of `Areas`."""

    kind: npt.NDArray[np.int8]
    va: U64
    owner: U64
    head: U64

    def of(self, kind: Kind) -> npt.NDArray[np.bool_]:
        """Which pages are of a kind."""
        return np.equal(self.kind, _CODE[kind])

    def take(self, which: npt.NDArray[Any]) -> "UsedPages":
        """The chosen pages."""
        return UsedPages(self.kind[which], self.va[which], self.owner[which], self.head[which])


class PageUse:
    """Says of page frames what they are used for. ``page_size`` is that of a ``struct page``."""

    def __init__(self, kernel: GuestKernel, areas: Areas, table_frames: U64) -> None:
        self._kernel = kernel
        self._areas = areas
        self._table_frames = table_frames
        self._describe_struct_page()
        text, end = kernel.symbols.address("_text"), kernel.symbols.address("_end")
        assert text is not None and end is not None
        self._image = (kernel.image_physical(text), kernel.image_physical(end))
        self._image_bias = text - self._image[0]
        self._vmemmap = _ReverseMap(list(kernel.memory.mappings(kernel.vmemmap, kernel.vmemmap + _VMEMMAP_BYTES)))
        self._vmalloc = _ReverseMap(list(kernel.memory.mappings(*ADDRESSES)))

    def _describe_struct_page(self) -> None:
        program = self._kernel.program
        page = program.type("struct page")
        self.page_size = int(drgn.sizeof(page))
        # Since 5.17 a slab's use of the same memory has a type of its own.
        slab = program.type("struct slab") if self._kernel.has_type("struct slab") else page
        self._offset = {
            "flags": _offset([page], "flags"),
            "mapping": _offset([page], "mapping"),
            "refcount": _offset([page], "_refcount", "_count"),  # renamed in 4.6
            "cache": _offset([slab, page], "slab_cache", "slab"),
            "head": _offset([page], "compound_head", "first_page"),  # since 4.4 a word whose bit 0 marks a tail
        }
        self._head_is_tagged = has_member(page, "compound_head")
        self._flag = _page_flags(program)

    def _page_structs(self, frames: U64) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Raw ``struct page`` of each frame, shape (n, size of struct page), and whether the frame has one."""
        size, memory = self.page_size, self._kernel.memory
        addresses = np.uint64(self._kernel.vmemmap) + frames * np.uint64(size)
        pages, inverse = distinct(addresses // _PAGE)
        translated = [memory.translate(int(page) * PAGE) for page in pages]
        bases = np.array([0 if base is None else base for base in translated], np.uint64)
        present = np.array([base is not None for base in translated], np.bool_)
        physical = bases[inverse] + addresses % _PAGE
        valid = present[inverse]
        if PAGE % size:  # a struct page may cross a page of vmemmap: read those with care
            rows = [memory.read(int(address), size) or bytes(size) for address in addresses]
            return np.frombuffer(b"".join(rows), np.uint8).reshape(len(frames), size), valid
        return self._kernel.snapshot.gather(physical, size), valid

    def _member(self, raw: npt.NDArray[Any], name: str, dtype: str = "<u8") -> npt.NDArray[Any]:
        offset = self._offset[name]
        return np.ascontiguousarray(raw[:, offset : offset + np.dtype(dtype).itemsize]).view(dtype)[:, 0]

    def _has_flag(self, raw: npt.NDArray[Any], name: str) -> npt.NDArray[np.bool_]:
        flags = self._member(raw, "flags").astype(np.uint64)
        return np.asarray((flags >> np.uint64(self._flag[name]) & np.uint64(1)) == 1)

    def _heads(self, frames: U64, raw: npt.NDArray[Any], valid: npt.NDArray[np.bool_]) -> tuple[U64, npt.NDArray[Any]]:
        """The head frame of each frame's compound page (itself if it is no tail), and the head's ``struct page``."""
        link = self._member(raw, "head").astype(np.uint64)
        if self._head_is_tagged:
            tails = ((link & np.uint64(1)) == 1) & valid
            link = link - np.uint64(1)
        else:
            tails = self._has_flag(raw, "tail") & valid
        heads = frames.copy()
        heads[tails] = (link[tails] - np.uint64(self._kernel.vmemmap)) // np.uint64(self.page_size)
        if tails.any():
            raw = raw.copy()
            raw[tails] = self._page_structs(heads[tails])[0]
        return heads, raw

    def of(self, frames: U64) -> UsedPages:
        """What each page frame is used for."""
        raw, valid = self._page_structs(frames)
        head_frames, raw = self._heads(frames, raw, valid)
        mapping = self._member(raw, "mapping").astype(np.uint64)
        count = self._member(raw, "refcount", "<i4")
        is_slab = valid & self._has_flag(raw, "slab")
        is_reserved = ~valid | self._has_flag(raw, "reserved")

        va: U64 = np.uint64(self._kernel.direct_map) + frames * _PAGE
        kind = np.full(len(frames), _CODE[Kind.UNKNOWN], np.int8)
        owner = np.zeros(len(frames), np.uint64)
        plain = valid & ~is_slab & ~is_reserved
        kind[plain & (count == 0)] = _CODE[Kind.FREE]
        mapped = plain & (count > 0) & (mapping != 0)
        is_anonymous = (mapping & np.uint64(1)) == 1
        kind[mapped & is_anonymous] = _CODE[Kind.ANONYMOUS]
        is_file = mapped & ((mapping & np.uint64(3)) == 0) & (mapping >= np.uint64(self._kernel.direct_map))
        kind[is_file] = _CODE[Kind.PAGE_CACHE]
        owner[is_file] = mapping[is_file]
        is_table = np.isin(frames, self._table_frames) & ~is_slab
        kind[is_table] = _CODE[Kind.PAGE_TABLE]
        owner[is_table] = frames[is_table]
        kind[is_slab] = _CODE[Kind.SLAB]
        owner[is_slab] = self._member(raw, "cache").astype(np.uint64)[is_slab]

        self._vmalloc.apply(frames, va)
        # Only the first page of a stack has a reference count: the others look free.
        kind[self._areas.on_pages(va) & np.isin(kind, [_CODE[Kind.UNKNOWN], _CODE[Kind.FREE]])] = _CODE[Kind.BOOT]
        physical = frames * _PAGE
        image = is_reserved & (physical + np.uint64(PAGE) > np.uint64(self._image[0])) & (physical < np.uint64(self._image[1]))
        kind[image] = _CODE[Kind.STATIC]
        va[image] = physical[image] + np.uint64(self._image_bias)
        kind[self._vmemmap.apply(frames, va)] = _CODE[Kind.PAGE_STRUCT]
        return UsedPages(kind, va, owner, va - (frames - head_frames) * _PAGE)


class _ReverseMap:
    """Physical to virtual for a list of mappings (virtual address, physical address, bytes)."""

    def __init__(self, mappings: list[tuple[int, int, int]]) -> None:
        table = np.array(sorted((physical, size, virtual) for virtual, physical, size in mappings), np.uint64).reshape(-1, 3)
        self._starts, self._sizes, self._virtual = table[:, 0], table[:, 1], table[:, 2]

    def apply(self, frames: U64, va: U64) -> npt.NDArray[np.bool_]:
        """Set ``va`` of the frames that are mapped; returns which are."""
        if not len(self._starts):
            return np.zeros(len(frames), np.bool_)
        physical = frames * _PAGE
        index = np.searchsorted(self._starts, physical, "right") - 1
        safe = np.maximum(index, 0)
        inside = (index >= 0) & (physical < self._starts[safe] + self._sizes[safe])
        va[inside] = (self._virtual[safe] + physical - self._starts[safe])[inside]
        return inside


def _offset(kinds: Sequence[drgn.Type], *names: str) -> int:
    """The offset of the first member of these names that the first of the types that has any has."""
    for kind in kinds:
        for name in names:
            if has_member(kind, name):
                return int(drgn.offsetof(kind, name))
    raise LookupError(f"none of {', '.join(map(str, kinds))} has {' or '.join(names)}")


def _page_flags(program: drgn.Program) -> dict[str, int]:
    """Bit numbers of the page flags used here, from ``enum pageflags``."""
    kind = program.type("enum pageflags")
    assert kind.enumerators is not None
    values = {enumerator.name: enumerator.value for enumerator in kind.enumerators}
    return {"slab": values["PG_slab"], "reserved": values["PG_reserved"], "tail": values.get("PG_tail", 63)}

# SPDX-License-Identifier: BSD-3-Clause
"""Objects of the slab allocator (SLUB): caches, their objects, and what type these have."""

from collections.abc import Mapping
from dataclasses import dataclass

import drgn
import numpy as np

from analysis.attribute.fields import Fields
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.pages import PageUse, UsedPages
from analysis.attribute.snapshot import PAGE
from analysis.attribute.subjects import I64, U64, Inferred, Kind, Located, Place, Subject, Subjects

BUFFER = "buffer "
"""Before the name of a buffer without a type (kernel-types.toml), in the place of an inferred type."""


@dataclass(frozen=True)
class Cache:
    """A slab cache: ``stride`` bytes from object to object, ``type_name`` None where the debug information does not tell."""

    name: str
    stride: int
    type_name: str | None


class SlabCaches:
    """Every ``struct kmem_cache``, and the pages of all of them."""

    def __init__(self, kernel: GuestKernel, fields: Fields, pages: PageUse) -> None:
        self._kernel = kernel
        self._fields = fields
        self._pages = pages
        self._known: dict[int, Cache] = {}

    def at(self, address: int) -> Cache:
        """The cache whose ``struct kmem_cache`` is at ``address``."""
        if address not in self._known:
            try:
                cache = drgn.Object(self._kernel.program, "struct kmem_cache", address=address)
                name = cache.name.string_().decode(errors="replace")
                stride = int(cache.member_("size"))
            except drgn.FaultError:
                self._kernel.walks.give_up("slab caches")
                name, stride = "slab", PAGE
            self._known[address] = Cache(name, max(stride, 1), self._fields.type_of_cache(name))
        return self._known[address]

    def pages(self) -> UsedPages:
        """All slab pages present in the snapshot; their owners are caches."""
        frames = np.concatenate(
            [np.arange(start // PAGE, -(-(start + size) // PAGE), dtype=np.uint64) for start, size in self._kernel.snapshot.runs]
        )
        used = self._pages.of(frames)
        return used.take(used.of(Kind.SLAB))

    def words(self, pages: UsedPages, stride: int, position: int) -> tuple[U64, U64]:
        """Addresses and contents of the quadword at ``position`` of every object that has it in one of ``pages``, which are of
        one cache."""
        addresses = []
        for head, page in zip(pages.head, pages.va, strict=True):
            first = int(page) - int(head)
            index = max(0, -(-(first - position) // stride))
            start = int(head) + index * stride + position
            addresses.append(np.arange(start, int(page) + PAGE - 7, stride, dtype=np.uint64))
        where = np.concatenate(addresses) if addresses else np.zeros(0, np.uint64)
        physical = where - np.uint64(self._kernel.direct_map)
        return where, self._kernel.snapshot.gather(physical, 8).view("<u8")[:, 0].astype(np.uint64)


class SlabObjects:
    """Finds slab objects. ``inferred`` has the types that pointers tell (see `PointerScan`), ``behind`` what follows an object in
    its allocation (see `DriverMemory`)."""

    def __init__(
        self, caches: SlabCaches, fields: Fields, subjects: Subjects, inferred: Inferred, behind: Mapping[int, tuple[int, str]]
    ) -> None:
        self._caches = caches
        self._fields = fields
        self._subjects = subjects
        self._inferred = inferred
        self._behind = behind

    def locate(self, rows: I64, place: Place, result: Located) -> None:
        """Enter the objects, whose caches are the owners, at ``rows`` of ``place``."""
        for address in np.unique(place.owner[rows]):
            here = rows[place.owner[rows] == address]
            cache = self._caches.at(int(address))
            within = place.va[here] - place.head[here]
            result.object[here] = place.va[here] - within % np.uint64(cache.stride)
            result.offset[here] = (within % np.uint64(cache.stride)).astype(np.int64)
            result.subject[here] = self._subjects.number(Subject(Kind.SLAB, cache.name, cache.type_name))
            if cache.type_name is None:
                for row in here if self._inferred else ():
                    found = self._inferred.get(int(result.object[row]))
                    if found:
                        self._enter(int(row), cache, self._follower(int(row), result) or found[0], result)

    def _follower(self, row: int, result: Located) -> str | None:
        """The type of what lies behind the object, if that is where the row's byte is; the row is then of that object."""
        offset, type_name = self._behind.get(int(result.object[row]), (0, ""))
        size = self._fields.size(type_name) if type_name else 0
        if not size or result.offset[row] < offset:
            return None
        within = int(result.offset[row] - offset) % size
        result.object[row] += np.uint64(result.offset[row] - within)
        result.offset[row] = within
        return type_name

    def _enter(self, row: int, cache: Cache, type_name: str, result: Located) -> None:
        """Enter what was deduced for the object of one row; what ends a buffer is an object of its own."""
        if not type_name.startswith(BUFFER):
            result.subject[row] = self._subjects.number(Subject(Kind.SLAB, cache.name, type_name, inferred=True))
            return
        name = type_name.removeprefix(BUFFER)
        tail = next((buffer["tail"] for buffer in self._fields.data.buffers if buffer["name"] == name), "")
        size = -(-self._fields.size(tail) // 64) * 64
        if size and result.offset[row] >= cache.stride - size:
            result.object[row] += np.uint64(cache.stride - size)
            result.offset[row] -= cache.stride - size
            result.subject[row] = self._subjects.number(Subject(Kind.SLAB, cache.name, tail, inferred=True))
        else:
            result.subject[row] = self._subjects.number(Subject(Kind.SLAB, name, None, inferred=True))

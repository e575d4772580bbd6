# SPDX-License-Identifier: BSD-3-Clause
"""Types of kmalloc and dynamic per-CPU objects, deduced from typed pointers to them.

The kernel does not record what an object of ``kmalloc-64`` is. But if the member ``sk_wq`` of a ``struct sock`` points at its
start and is declared ``struct socket_wq *``, then that is what it is.
"""

from collections import Counter

import drgn
import numpy as np

from analysis.attribute.fields import Fields
from analysis.attribute.hashing import is_in
from analysis.attribute.slab import BUFFER, SlabCaches
from analysis.attribute.subjects import U64, Inferred


class PointerScan:
    """Looks through all slab objects of known type for pointers to given addresses."""

    def __init__(self, fields: Fields, caches: SlabCaches) -> None:
        self._fields = fields
        self._caches = caches

    def find(self, objects: set[int], cookies: set[int]) -> Inferred:
        """Address -> (type, start of the object), or None where nothing typed points at it.

        ``objects`` are starts of slab objects. ``cookies`` are addresses *within* per-CPU objects, as the kernel writes per-CPU
        pointers (before a CPU's offset is added); there the pointer lies at or before the address, by less than the type's size.
        The type that most pointers agree on wins.
        """
        votes: dict[int, Counter[tuple[str, int]]] = {address: Counter() for address in objects | cookies}
        exact = np.array(sorted(objects), np.uint64)
        inside = np.array(sorted(cookies), np.uint64)
        pages = self._caches.pages()
        for address in np.unique(pages.owner):
            cache, own = self._caches.at(int(address)), pages.take(pages.owner == address)
            for position, target, size in self._pointers(cache.type_name) if cache.type_name else ():
                values = self._caches.words(own, cache.stride, position)[1]
                self._vote(votes, exact, inside, values, target, size)
        return {address: counter.most_common(1)[0][0] if counter else None for address, counter in votes.items()}

    def _pointers(self, type_name: str) -> list[tuple[int, str, int]]:
        """(offset, pointed-to type, its size) of the members that point at a structure."""
        found = []
        for offset, kind in self._fields.scalars(type_name):
            if kind.kind != drgn.TypeKind.POINTER:
                continue
            target = kind.type
            while target.kind == drgn.TypeKind.TYPEDEF:
                target = target.type
            if target.kind not in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION) or target.tag is None:
                continue
            name = f"{'struct' if target.kind == drgn.TypeKind.STRUCT else 'union'} {target.tag}"
            size = self._fields.size(name)
            if size and name not in _UNTELLING:
                found.append((offset, name, size))
        for buffer in self._fields.data.buffers:
            place = self._fields.member_offset(type_name, buffer["member"]) if buffer["type"] == type_name else None
            if place is not None:
                found.append((place, BUFFER + buffer["name"], 1))
        return found

    @staticmethod
    def _vote(votes: dict[int, Counter[tuple[str, int]]], exact: U64, inside: U64, values: U64, target: str, size: int) -> None:
        for value in values[is_in(values, exact)]:
            votes[int(value)][(target, int(value))] += 1
        if not len(inside):
            return
        candidates = np.unique(values[(values > 0) & (values < np.uint64(1 << 32))])
        for address in inside:
            low = np.searchsorted(candidates, np.uint64(max(0, int(address) - size + 1)))
            high = np.searchsorted(candidates, address, "right")
            for value in candidates[low:high]:
                votes[int(address)][(target, int(value))] += 1


# Pointers to these say nothing: they point into the middle of other things.
_UNTELLING = frozenset({"struct list_head", "struct hlist_node", "struct rb_node", "struct callback_head", "struct kmem_cache"})

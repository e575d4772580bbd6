# SPDX-License-Identifier: BSD-3-Clause
"""Types of kmalloc objects that only a ``void *`` leads to, where the object with the pointer says what it points at.

The ``s_fs_info`` of a super block is a ``struct shmem_sb_info`` if its file system is tmpfs. kernel-types.toml, table
``pointer``, has these members and what tells the type.
"""

from collections.abc import Iterator

import drgn
import numpy as np

from analysis.attribute.boot_arrays import evaluate
from analysis.attribute.fields import Fields, has_member
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.hashing import is_in
from analysis.attribute.slab import SlabCaches
from analysis.attribute.subjects import Inferred
from analysis.attribute.type_data import UntypedPointer

_NO_OBJECT = (drgn.FaultError, LookupError, TypeError, ValueError)


class UntypedPointers:
    """Follows the members of kernel-types.toml that are declared ``void *``."""

    def __init__(self, kernel: GuestKernel, fields: Fields, caches: SlabCaches) -> None:
        self._kernel = kernel
        self._fields = fields
        self._caches = caches

    def find(self, wanted: set[int]) -> Inferred:
        """Address -> (type, address) for those of the starts of slab objects in ``wanted`` that such a member points at."""
        found: Inferred = {}
        for pointer in self._fields.data.pointers:
            for thing in self._objects(pointer, wanted):
                try:
                    target = follow(thing, pointer.member).value_()
                    told = self._told(follow(thing, pointer.told_by)) if target in wanted else None
                except _NO_OBJECT:
                    continue
                type_name = next((name for name in pointer.points_at.get(told or "", ()) if self._fields.size(name)), None)
                if type_name is not None:
                    found[target] = (type_name, target)
        return found

    def _objects(self, pointer: UntypedPointer, wanted: set[int]) -> Iterator[drgn.Object]:
        """Objects that may have such a pointer to one of ``wanted``."""
        if not self._fields.size(pointer.type_name):
            return
        if pointer.list:
            try:
                head = evaluate(self._kernel, pointer.list)
            except LookupError:  # not of this kernel
                return
            with self._kernel.walks.attempt(f"list {pointer.list}"):
                yield from self._kernel.list_entries(head, pointer.type_name, pointer.link)
            return
        place = self._fields.member_offset(pointer.type_name, pointer.member[0])
        if place is None:
            return
        pages, targets = self._caches.pages(), np.array(sorted(wanted), np.uint64)
        for address in np.unique(pages.owner):
            cache = self._caches.at(int(address))
            if cache.type_name != pointer.type_name:
                continue
            where, values = self._caches.words(pages.take(pages.owner == address), cache.stride, place)
            for start in where[is_in(values, targets)].tolist():
                yield drgn.Object(self._kernel.program, pointer.type_name, address=start - place)

    def _told(self, value: drgn.Object) -> str | None:
        """A string as it is; of another pointer the name of the variable that it points at."""
        if _is_text(value.type_):
            return str(value.string_().decode(errors="replace"))
        symbol = self._kernel.symbols.covering(value.value_())
        return symbol.name if symbol and symbol.address == value.value_() else None


def follow(thing: drgn.Object, paths: tuple[str, ...]) -> drgn.Object:
    """The member that the first of ``paths`` which this kernel has leads to.

    Raises:
        LookupError: it has none of them. drgn.FaultError: a pointer on the way leads nowhere.
    """
    for path in paths:
        value = thing
        for part in path.split("."):
            if not has_member(value.type_, part):
                break
            value = value.member_(part)
        else:
            return value
    raise LookupError(f"{thing.type_} has none of {', '.join(paths)}")


def _is_text(kind: drgn.Type) -> bool:
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    if kind.kind not in (drgn.TypeKind.POINTER, drgn.TypeKind.ARRAY):
        return False
    return bool(kind.type.kind == drgn.TypeKind.INT and kind.type.size == 1)

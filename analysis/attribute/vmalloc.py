# SPDX-License-Identifier: BSD-3-Clause
"""Areas of vmalloc, named by the function that asked for them."""

from collections.abc import Iterator

import drgn

from analysis.attribute.areas import Area
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.subjects import Kind

_AREAS = "vmalloc areas"  # what walks look for, as a reader of the run is told

ADDRESSES = (0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000)
"""Documentation/x86/x86_64/mm.rst: 32 TiB, the same in 2.6.35 and 6.1."""


def vmalloc_areas(kernel: GuestKernel) -> Iterator[Area]:
    """All areas in use."""
    program = kernel.program
    with kernel.walks.attempt(_AREAS):
        if kernel.has_type("struct vmap_area") and program.type("struct vmap_area").has_member("vm"):
            for area in kernel.list_entries(program["vmap_area_list"], "struct vmap_area", "list"):
                if area.vm.value_():
                    yield _area(kernel, area.vm)
        elif kernel.symbols.address("vmlist") is not None:  # before 3.3; later ones have it for boot only, and free its memory
            vm, seen = program["vmlist"], set[int]()
            while vm.value_():
                if vm.value_() in seen:
                    kernel.walks.give_up(_AREAS)
                    return
                seen.add(vm.value_())
                yield _area(kernel, vm)
                vm = vm.next
        else:  # a kernel that keeps them in another way
            kernel.walks.give_up(_AREAS)


def _area(kernel: GuestKernel, vm: drgn.Object) -> Area:
    caller = kernel.symbols.covering(vm.caller.value_()) if vm.caller.value_() else None
    start = vm.addr.value_()
    return Area(start, start + vm.member_("size").value_(), Kind.VMALLOC, f"vmalloc by {caller.name if caller else 'unknown'}")

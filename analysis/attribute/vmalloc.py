# SPDX-License-Identifier: BSD-3-Clause
"""Areas of vmalloc, named by the function that asked for them."""

from collections.abc import Iterator

import drgn

from analysis.attribute.areas import Area
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.subjects import Kind

ADDRESSES = (0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000)
"""Documentation/x86/x86_64/mm.rst: 32 TiB, the same in 2.6.35 and 6.1."""


def vmalloc_areas(kernel: GuestKernel) -> Iterator[Area]:
    """All areas in use."""
    program = kernel.program
    try:
        if kernel.symbols.address("vmap_area_list") is None:  # before 3.10
            vm = program["vmlist"]
            while vm.value_():
                yield _area(kernel, vm)
                vm = vm.next
            return
        for area in kernel.list_entries(program["vmap_area_list"], "struct vmap_area", "list"):
            if area.vm.value_():
                yield _area(kernel, area.vm)
    except (KeyError, LookupError, AttributeError, drgn.FaultError):
        return


def _area(kernel: GuestKernel, vm: drgn.Object) -> Area:
    caller = kernel.symbols.covering(vm.caller.value_()) if vm.caller.value_() else None
    start = vm.addr.value_()
    return Area(start, start + vm.member_("size").value_(), Kind.VMALLOC, f"vmalloc by {caller.name if caller else 'unknown'}")

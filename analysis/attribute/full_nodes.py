# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes of the guest have no memory left: who asks for some there gets another node's, or waits until pages are freed."""

import drgn

from analysis.attribute.fields import has_member
from analysis.attribute.guest_kernel import GuestKernel


def full_nodes(kernel: GuestKernel) -> list[int]:
    """Numbers of the nodes with a zone that has no more free pages than its high watermark, up to which the kernel frees some.

    None on a kernel without nodes.
    """
    try:
        nodes = kernel.program["node_data"]
    except LookupError:
        return []
    free = _value(kernel.program, "enum zone_stat_item", "NR_FREE_PAGES")
    high = _value(kernel.program, "enum zone_watermarks", "WMARK_HIGH")
    return [number for number, node in enumerate(nodes) if node and any(_is_full(zone, free, high) for zone in node.node_zones)]


def _is_full(zone: drgn.Object, free: int, high: int) -> bool:
    marks = zone.member_("_watermark" if has_member(zone.type_, "_watermark") else "watermark")
    return bool(zone.present_pages) and zone.vm_stat[free].counter.value_() <= marks[high].value_()


def _value(program: drgn.Program, enumeration: str, name: str) -> int:
    return int(next(one.value for one in program.type(enumeration).enumerators or () if one.name == name))

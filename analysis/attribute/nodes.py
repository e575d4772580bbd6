# SPDX-License-Identifier: BSD-3-Clause
"""The guest's nodes: where the memory of each is, and which have none left.

Who asks for memory of a node that has none left gets another node's, or waits until pages are freed.
"""

from collections.abc import Iterator

import drgn

from analysis.attribute.fields import has_member
from analysis.attribute.guest_kernel import GuestKernel

_PAGE_SHIFT = 12


def node_memory(kernel: GuestKernel) -> dict[int, tuple[int, int]]:
    """Node -> physical address of the first byte of its memory, and of the first behind it; what lies between may have holes.

    None on a kernel without nodes.
    """
    found = {}
    for number, node in _nodes(kernel):
        start = node.node_start_pfn.value_()
        if pages := node.node_spanned_pages.value_():
            found[number] = (start << _PAGE_SHIFT, start + pages << _PAGE_SHIFT)
    return found


def full_nodes(kernel: GuestKernel) -> list[int]:
    """Numbers of the nodes with a zone that has no more free pages than its high watermark, up to which the kernel frees some.

    None on a kernel without nodes.
    """
    nodes = list(_nodes(kernel))
    if not nodes:
        return []
    free = _value(kernel.program, "enum zone_stat_item", "NR_FREE_PAGES")
    high = _value(kernel.program, "enum zone_watermarks", "WMARK_HIGH")
    return [number for number, node in nodes if any(_is_full(zone, free, high) for zone in node.node_zones)]


def _nodes(kernel: GuestKernel) -> Iterator[tuple[int, drgn.Object]]:
    try:
        nodes = kernel.program["node_data"]
    except LookupError:
        return
    yield from ((number, node) for number, node in enumerate(nodes) if node)


def _is_full(zone: drgn.Object, free: int, high: int) -> bool:
    marks = zone.member_("_watermark" if has_member(zone.type_, "_watermark") else "watermark")
    return bool(zone.present_pages) and zone.vm_stat[free].counter.value_() <= marks[high].value_()


def _value(program: drgn.Program, enumeration: str, name: str) -> int:
    return int(next(one.value for one in program.type(enumeration).enumerators or () if one.name == name))

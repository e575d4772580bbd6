# SPDX-License-Identifier: BSD-3-Clause
"""Where each node's memory is in the physical address space of a PC: below 3 GiB, and from 4 GiB on."""

from dataclasses import dataclass

from board.machine_values import Machine

MIB = 1 << 20
HOLE_START = 3 << 30
HOLE_END = 4 << 30
"""Devices are between these two."""
M5OPS = 0xFFFF0000
"""gem5's simulator calls, in the hole."""


@dataclass(frozen=True)
class Piece:
    """A contiguous part of a node's memory."""

    node: int
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


def pieces(machine: Machine) -> tuple[Piece, ...]:
    """The memory of all nodes in order of address; the node that reaches into the hole has two pieces."""
    found = []
    size = machine.node_mib * MIB
    for node in range(machine.sockets):
        low, high = node * size, (node + 1) * size
        if low < HOLE_START:
            found.append(Piece(node, low, min(high, HOLE_START) - low))
        if high > HOLE_START:
            start = max(low, HOLE_START)
            found.append(Piece(node, start - HOLE_START + HOLE_END, high - start))
    return tuple(found)


def ranges(machine: Machine) -> tuple[tuple[int, int], ...]:
    """(start, size) of the one or two ranges that all memory is in."""
    total = machine.sockets * machine.node_mib * MIB
    low = (0, min(total, HOLE_START))
    return (low, (HOLE_END, total - HOLE_START)) if total > HOLE_START else (low,)


def e820(machine: Machine) -> tuple[tuple[int, int, int], ...]:
    """The BIOS's map of memory: (start, size, 1 for usable or 2 for reserved)."""
    low, *high = ranges(machine)
    entries = [(0, 0x9FC00, 1), (0x9FC00, 0x100000 - 0x9FC00, 2), (0x100000, low[1] - 0x100000, 1)]
    if low[1] < HOLE_START:
        # Else the kernel would put devices where the bridge to them does not reach.
        entries.append((low[1], HOLE_START - low[1], 2))
    entries.append((M5OPS, HOLE_END - M5OPS, 2))
    return (*entries, *((start, size, 1) for start, size in high))

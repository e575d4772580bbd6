# SPDX-License-Identifier: BSD-3-Clause
"""The memory of each node, with the bandwidth that the machine file gives it."""

from m5.objects import AddrRange, SimpleMemory

from board.machine_values import Machine
from board.memory import pieces, ranges

_LINE_SHIFT = 6


def address_ranges(machine: Machine) -> list[tuple[int, AddrRange]]:
    """(node, range) of all memory; a checkpoint goes with this list, whatever is connected to it.

    Lines go round a power of two of sockets (the harness makes no other machine file for gem5).
    """
    if machine.interleave == "node":
        return [(piece.node, AddrRange(piece.start, size=piece.size)) for piece in pieces(machine)]
    bits = (machine.sockets - 1).bit_length()
    masks = [1 << (_LINE_SHIFT + bit) for bit in range(bits)]
    return [
        (node, AddrRange(start=start, end=start + size, masks=masks, intlvMatch=node))
        for start, size in ranges(machine)
        for node in range(machine.sockets)
    ]


def memories(machine: Machine, latency_cycles: float) -> list[tuple[int, SimpleMemory]]:
    """(node, memory) of each range."""
    latency = f"{latency_cycles / machine.clock_ghz:.4f}ns"
    bandwidth = f"{machine.dram_gbytes_per_second}GB/s"
    return [(node, SimpleMemory(range=place, latency=latency, bandwidth=bandwidth)) for node, place in address_ranges(machine)]

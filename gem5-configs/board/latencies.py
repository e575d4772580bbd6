# SPDX-License-Identifier: BSD-3-Clause
"""The protocol's latencies, worked out from the machine file's round trips.

What a round trip in MOESI_hammer consists of was read off runs with ``verify latencies --engine gem5``; each constant below is
the number of cycles that are there whatever the settings.
"""

from dataclasses import dataclass

from board.machine import Machine

# Sequencer, request to the directory in the same socket, answer back: 2 routers, 4 links of a cycle each, queues.
_LOCAL_OVERHEAD = 16
_TRANSFER_OVERHEAD = 20
_L2_OVERHEAD = 1
_ROUTER = 1
"""Cycles in each router."""


@dataclass(frozen=True)
class Latencies:
    """Cycles, as gem5's parameters want them."""

    l1: int
    l2: int
    directory: int
    """Between a directory's decision and the message that follows from it."""
    cache_response: int
    memory: int
    link_out: int
    link_back: int
    """Of a HyperTransport link from the lower to the higher socket, and back."""


def latencies(machine: Machine) -> Latencies:
    """Raises ValueError when the machine is faster than the protocol can be."""
    to_share = machine.transfer_cycles - _TRANSFER_OVERHEAD
    directory = min(to_share // 2, machine.dram_local_cycles - _LOCAL_OVERHEAD - 1)
    found = Latencies(
        l1=machine.l1_cycles,
        l2=machine.l2_cycles - machine.l1_cycles - _L2_OVERHEAD,
        directory=directory,
        cache_response=to_share - directory,
        memory=machine.dram_local_cycles - _LOCAL_OVERHEAD - directory,
        link_out=machine.hop_cycles // 2 - _ROUTER,
        link_back=machine.hop_cycles - machine.hop_cycles // 2 - _ROUTER,
    )
    for name, cycles in vars(found).items():
        if cycles < 1:
            raise ValueError(f"MOESI_hammer cannot be as fast as machine {machine.name} asks: {name} would be {cycles} cycles.")
    return found

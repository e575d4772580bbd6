# SPDX-License-Identifier: BSD-3-Clause
"""The protocol's latencies, worked out from the machine file's round trips.

What a round trip in MOESI_hammer consists of was read off runs with ``verify latencies --engine gem5``; each constant below is
the number of cycles that are there whatever the settings.
"""

from dataclasses import dataclass

from board.errors import BoardError
from board.machine_values import Machine

# The way to memory and back, and the way over the directory to another core and back, within a socket: L1, queues, routers.
_LOCAL_OVERHEAD = 11
_TRANSFER_OVERHEAD = 9
_CACHE_RESPONSE = 1
"""A cache says at once that it has got a line, for till then the directory lets nobody else ask for it: where cores compete for a
line it goes on after the time of a transfer."""
_FETCH = 1
"""Cycles of an instruction's fetch from the L1."""
_ROUTER = 3
"""Cycles in each router on the way to another socket."""
_RESPONSE_QUEUE = 1
"""Cycles of the queue to the processor, which an L1 hit is spared."""


@dataclass(frozen=True)
class Latencies:
    """Cycles, as gem5's parameters want them."""

    data: int
    """Of an L1 hit without the cycle of its instruction's fetch."""
    unlock: int
    """Of a locked instruction beyond that of an L1 hit."""
    l2: int
    """Beyond that of an L1 hit."""
    directory: int
    """Between a directory's decision to ask another core and the message."""
    cache_response: int
    to_cache: int
    """From a router to a cache: most of a probe's way to the owner, and of the way of its data to who asked."""
    memory: int
    link_out: int
    link_back: int
    """Of a HyperTransport link from the lower to the higher socket, and back."""


def latencies(machine: Machine) -> Latencies:
    """Raises BoardError when the machine is faster than the protocol can be."""
    to_share = machine.transfer_cycles - _TRANSFER_OVERHEAD
    to_cache = min((to_share - _CACHE_RESPONSE) // 2 - 1, machine.dram_local_cycles - _LOCAL_OVERHEAD - 1)
    found = Latencies(
        data=machine.l1_cycles - _FETCH,
        unlock=machine.atomic_cycles - machine.l1_cycles,
        l2=machine.l2_cycles - machine.l1_cycles - _RESPONSE_QUEUE,
        directory=to_share - _CACHE_RESPONSE - 2 * to_cache,
        cache_response=_CACHE_RESPONSE,
        to_cache=to_cache,
        memory=machine.dram_local_cycles - _LOCAL_OVERHEAD - to_cache,
        link_out=machine.hop_cycles // 2 - _ROUTER,
        link_back=machine.hop_cycles - machine.hop_cycles // 2 - _ROUTER,
    )
    for name, cycles in vars(found).items():
        if cycles < 1:
            raise BoardError(f"MOESI_hammer cannot be as fast as machine {machine.name} asks: {name} would be {cycles} cycles.")
    return found

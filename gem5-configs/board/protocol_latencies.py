# SPDX-License-Identifier: BSD-3-Clause
"""Latencies of MOESI_htassist, worked out from the machine file's round trips.

The constants count the queues and routers of each way in the source of protocol and network, a cycle each. They have not been
compared with a run: `verify latencies` has to read them off, as it did for MOESI_hammer.
"""

from dataclasses import dataclass

from board.machine import Machine

_QUEUES_TO_NODE_AND_BACK = 7
"""Request and grant: two queues at each end, the router's cycle twice, the link into the node."""
_QUEUES_TO_HOME_AND_BACK = 8
_QUEUES_OF_A_TRANSFER = 14
"""Home to owner's node, to the owner, back, and to the node that asked."""
_ROUTER = 3
"""Cycles in each router on the way to another socket."""


@dataclass(frozen=True)
class ProtocolLatencies:
    """Cycles, as the controllers' parameters want them."""

    l1: int
    l2: int
    """Of the look-up, beyond the first level."""
    to_core: int
    """Between a core and its socket's router."""
    l3: int
    """Of a grant out of the L3."""
    memory: int
    decision: int
    """Between a request at the home and its probes."""
    transfer: int
    """Between the owner's data at its node and their way to who asked."""
    read_busy: int
    link_out: int
    link_back: int
    """Of a HyperTransport link from the lower to the higher socket, and back."""


def protocol_latencies(machine: Machine, l3_cycles: int, read_busy_cycles: int) -> ProtocolLatencies:
    """Raises ValueError when the machine is faster than the protocol can be."""
    beyond_l2 = l3_cycles - machine.l2_cycles
    to_core = max(1, (beyond_l2 - _QUEUES_TO_NODE_AND_BACK) // 3)
    l3 = beyond_l2 - _QUEUES_TO_NODE_AND_BACK - 2 * to_core
    to_share = machine.transfer_cycles - machine.l2_cycles - _QUEUES_TO_NODE_AND_BACK - _QUEUES_OF_A_TRANSFER - 4 * to_core
    found = ProtocolLatencies(
        l1=machine.l1_cycles,
        l2=machine.l2_cycles - machine.l1_cycles,
        to_core=to_core,
        l3=l3,
        memory=machine.dram_local_cycles - machine.l2_cycles - _QUEUES_TO_NODE_AND_BACK - _QUEUES_TO_HOME_AND_BACK - 2 * to_core,
        decision=to_share // 2,
        transfer=to_share - to_share // 2,
        read_busy=read_busy_cycles,
        link_out=machine.hop_cycles // 2 - _ROUTER,
        link_back=machine.hop_cycles - machine.hop_cycles // 2 - _ROUTER,
    )
    for name, cycles in vars(found).items():
        if cycles < 1:
            raise ValueError(f"MOESI_htassist cannot be as fast as machine {machine.name} asks: {name} would be {cycles} cycles.")
    return found

# SPDX-License-Identifier: BSD-3-Clause
"""What MOESI_htassist takes from the machine file: sizes, and latencies worked out from round trips.

What a round trip consists of whatever the settings was read off runs with ``verify latencies --engine gem5``.
"""

from dataclasses import dataclass

from board.errors import BoardError
from board.machine_values import Machine

_LOOKUP_QUEUES = 2
"""Of a look-up in the L2 that finds the line; one that does not is not waited for."""
_TO_L3_AND_BACK = 7
"""Request and grant between a core and its node, but for the link to the core: gem5 counts that one way only."""
_TO_MEMORY_AND_BACK = 16
"""The same and the way to the home in the same socket and its memory."""
_TRANSFER = 20
"""The same by way of the home to the owner's node, to the owner, back, and to the node that asked."""
_TO_OWNER = 10
"""From the home's decision to where the owner loses the line, beyond what the decision takes. Read off a run."""
_LINE_BITS = 6
_ROUTER = 1
"""Cycles in each router on the way to another socket."""


@dataclass(frozen=True)
class ProtocolLatencies:
    """Cycles, as the controllers' parameters want them."""

    l1: int
    l2: int
    """Of the look-up, beyond the first level."""
    to_core: int
    """From a socket's router to a core. The news for the home that a request is done leaves the node as much later than the grant
    does: the home is free when the core has the line."""
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


def protocol_latencies(machine: Machine) -> ProtocolLatencies:
    """Raises BoardError when the machine is faster than the protocol can be."""
    beyond_l1 = machine.l3_cycles - machine.l1_cycles - _TO_L3_AND_BACK
    to_core = max(1, beyond_l1 // 3)
    # An owner in the home's socket whose line others wait for has it for half of the time of a transfer, as on the fast engine.
    decision = machine.transfer_cycles // 2 - _TO_OWNER
    to_share = machine.transfer_cycles - machine.l1_cycles - _TRANSFER - 2 * to_core
    found = ProtocolLatencies(
        l1=machine.l1_cycles,
        l2=machine.l2_cycles - machine.l1_cycles - _LOOKUP_QUEUES,
        to_core=to_core,
        l3=beyond_l1 - to_core,
        memory=machine.dram_local_cycles - machine.l1_cycles - _TO_MEMORY_AND_BACK - to_core,
        decision=decision,
        transfer=to_share - decision,
        read_busy=machine.read_busy_cycles,
        link_out=machine.hop_cycles // 2 - _ROUTER,
        link_back=machine.hop_cycles - machine.hop_cycles // 2 - _ROUTER,
    )
    of_core = {
        "an L1 hit after the fetch": machine.l1_cycles - 1,
        "a locked hit beyond another": machine.atomic_cycles - machine.l1_cycles,
    }
    for name, cycles in (vars(found) | of_core).items():
        if cycles < 1:
            raise BoardError(f"MOESI_htassist cannot be as fast as machine {machine.name} asks: {name} would be {cycles} cycles.")
    return found


@dataclass(frozen=True)
class Sizes:
    """Bytes and ways of the caches, entries of the filter; a tester makes them small, so that lines leave all the time."""

    l1d: int
    l1d_ways: int
    l1i: int
    l1i_ways: int
    l2: int
    l2_ways: int
    l3: int
    l3_ways: int
    filter_entries: int
    filter_ways: int


def sizes(machine: Machine) -> Sizes:
    """The machine's. The L3 is what the probe filter leaves of it: the filter has its share of the ways.

    Raises:
        BoardError: the filter leaves no L3, a cache's sets are no power of two, or there is no filter.
    """
    share = machine.l3_kib - machine.probe_filter_kib
    found = Sizes(
        l1d=machine.l1d_kib << 10,
        l1d_ways=machine.l1d_ways,
        l1i=machine.l1i_kib << 10,
        l1i_ways=machine.l1i_ways,
        l2=machine.l2_kib << 10,
        l2_ways=machine.l2_ways,
        l3=share << 10,
        l3_ways=machine.l3_ways * share // machine.l3_kib,
        filter_entries=machine.probe_filter_sets * machine.probe_filter_ways,
        filter_ways=machine.probe_filter_ways,
    )
    if found.filter_entries == 0:
        raise BoardError("MOESI_htassist needs a probe filter: it is all that a home knows (probe_filter_kib is 0).")
    if share <= 0:
        raise BoardError(f"The probe filter of {machine.probe_filter_kib} KiB leaves nothing of an L3 of {machine.l3_kib} KiB.")
    for name, lines, ways in (
        ("L1 for data", found.l1d >> _LINE_BITS, found.l1d_ways),
        ("L1 for instructions", found.l1i >> _LINE_BITS, found.l1i_ways),
        ("L2", found.l2 >> _LINE_BITS, found.l2_ways),
        ("L3", found.l3 >> _LINE_BITS, found.l3_ways),
        ("probe filter", found.filter_entries, found.filter_ways),
    ):
        sets = lines // ways
        if sets * ways != lines or sets < 2 or sets & (sets - 1):
            found_sets = f"the {name} of {lines} lines in {ways} ways has {lines / ways:g}"
            raise BoardError(f"gem5 wants two sets or another power of two, and {found_sets}.")
    return found

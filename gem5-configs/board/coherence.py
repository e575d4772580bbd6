# SPDX-License-Identifier: BSD-3-Clause
"""The caches and the coherence protocol of a board: what this gem5 was built for."""

from collections.abc import Sequence

import m5.defines
from m5.objects import RubySystem, System

from board.errors import BoardError
from board.machine_values import Machine

PROTOCOL = str(m5.defines.buildEnv["PROTOCOL"])


def attach(system: System, machine: Machine, cores: Sequence[int], tapped: bool) -> RubySystem:
    """Give ``system``, which has processors and devices, its caches, interconnect and memory (``system.ruby``).

    Raises:
        BoardError: the machine is one that the protocol cannot have, or gem5 was built for another protocol.
    """
    # Each module needs the controllers of its protocol, which no other gem5 has.
    if PROTOCOL == "MOESI_hammer":
        if hasattr(system.pc, "network_card"):  # MOESI_hammer-dir.sm, DMA_WRITE: the owner's other bytes of the line are dropped
            raise BoardError("MOESI_hammer loses bytes of a line of which a device writes a part: it can have no network card.")
        from board.hammer import Hammer

        return Hammer(system, machine, cores, tapped)
    if PROTOCOL == "MOESI_htassist":
        from board.htassist_guest import for_guest

        return for_guest(system, machine, cores, tapped)
    raise BoardError(f"The board knows MOESI_hammer and MOESI_htassist, and this gem5 was built for {PROTOCOL}.")

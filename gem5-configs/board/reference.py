# SPDX-License-Identifier: BSD-3-Clause
"""A second memory beside the caches of a board, for a debugger."""

from m5.objects import AddrRange, ReferenceMemory, System

from board.machine_values import Machine
from board.memory import ranges


def keep_reference(system: System, machine: Machine) -> None:
    """Let each access of ``system``, whose caches and memory are attached, be made on ``system.ruby.phys_mem`` too.

    What asks for memory out of turn, as a debugger does, gets it from there: where a line is on its way between caches, none of
    them could answer.
    """
    start, size = ranges(machine)[-1]
    system.memories = list(system.mem_ctrls)  # a checkpoint has these and no other
    system.ruby.access_backing_store = True
    system.ruby.phys_mem = ReferenceMemory(range=AddrRange(0, size=start + size))

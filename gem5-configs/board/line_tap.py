# SPDX-License-Identifier: BSD-3-Clause
"""Who counts what happens to lines, the same for both protocols."""

from collections.abc import Sequence

from m5.objects import LineTap, System

from board.machine_values import Machine
from board.nodes import address_ranges

DEADLOCK_CYCLES = 50_000_000
"""A line that 48 cores want keeps one of them waiting for longer than gem5's default of half a million."""


def line_tap(
    system: System, machine: Machine, cores: Sequence[int], idle_sockets: Sequence[int], completion_offset: int
) -> LineTap:
    """A tap for the processors of ``system``, which are ``cores`` of the machine.

    Args:
        idle_sockets: sockets without a core whose cache controllers come after those of the cores.
        completion_offset: cycles from the end of a miss to where the tap sees it, plus an L1 hit.
    """
    homes = address_ranges(machine)
    return LineTap(
        machine=machine.name,
        sockets=machine.sockets,
        cores_per_socket=machine.cores_per_socket,
        cpus=system.cpu,
        core_numbers=list(cores),
        idle_sockets=list(idle_sockets),
        home_ranges=[place for _, place in homes],
        home_nodes=[node for node, _ in homes],
        completion_offset=completion_offset,
        l2_cycles=machine.l2_cycles - machine.l1_cycles,
        sample_period=machine.sample_period_cycles,
        chain_period=machine.chain_period_transfers,
        kernel=system.workload.object_file,
        clk_domain=system.cpu_clk_domain,
    )

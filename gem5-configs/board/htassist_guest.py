# SPDX-License-Identifier: BSD-3-Clause
"""MOESI_htassist for a board with processors, devices and a guest."""

from collections.abc import Sequence

from m5.objects import (
    CacheWarmer,
    CoreSequencer,
    DMASequencer,
    L1Cache_Controller,
    MemorySnapshot,
    RubyPortProxy,
    SocketRouting,
    System,
    WriteCombining,
)

from board.htassist import HTAssist
from board.line_tap import DEADLOCK_CYCLES, line_tap
from board.machine_values import Machine
from board.platform import bus_masters
from board.protocol_machine import ProtocolLatencies, protocol_latencies, sizes

_LINE_BYTES = 64
_FETCH = 1
"""Cycles of an instruction's fetch from the L1, which are a part of the first access's."""


def for_guest(system: System, machine: Machine, cores: Sequence[int], tapped: bool) -> HTAssist:
    """Caches, interconnect and memory of ``system``; see `board.hammer.Hammer` for the arguments.

    Raises:
        ValueError: the machine is one that the protocol cannot have.
    """
    timing = protocol_latencies(machine)
    caches = sizes(machine)
    tap = line_tap(system, machine, cores, (), _seen_before_the_end(timing)) if tapped else None
    shown = {} if tap is None else {"tap": tap}
    ports = [*(device.dma for device in bus_masters(system.pc)), system.iobus.mem_side_ports]
    devices = [DMASequencer(version=i, in_ports=port) for i, port in enumerate(ports)]
    bursts = [] if machine.works_ahead else [DMASequencer(version=len(devices) + i) for i in range(machine.sockets)]
    if tap is not None:
        tap.devices = len(devices)

    def sequencer(i: int, controller: L1Cache_Controller) -> CoreSequencer:
        controller.clk_domain = system.cpu_clk_domain
        one = CoreSequencer(
            core=i,
            version=i,
            dcache=controller.L1Dcache,
            icache=controller.L1Icache,
            l2cache=controller.L2cache,
            clk_domain=system.cpu_clk_domain,
            ruby_system=system.ruby,
            data_latency=machine.l1_cycles - _FETCH,
            unlock_latency=machine.atomic_cycles - machine.l1_cycles,
            works_ahead=machine.works_ahead,
            deadlock_threshold=DEADLOCK_CYCLES,
            **shown,
        )
        if bursts:
            one.combining = WriteCombining(clk_domain=system.cpu_clk_domain, port=bursts[machine.socket(cores[i])].in_ports)
        one.connectIOPorts(system.iobus)
        one.connectCpuPorts(system.cpu[i])
        return one

    def routing(socket: int) -> SocketRouting:
        return SocketRouting(socket=socket, **shown)

    ruby = HTAssist(system, machine, cores, caches, timing, sequencer, devices, routing, tap, bursts)
    if tap is not None and hasattr(system.pc, "network_card"):
        system.pc.network_card.tap = tap  # which is the RubySystem's child by now
    for one in (*devices, *bursts):
        one.ruby_system = ruby
    system.sys_port_proxy = RubyPortProxy(ruby_system=ruby, pio_request_port=system.iobus.cpu_side_ports)
    system.system_port = system.sys_port_proxy.in_ports
    private = [cache for i in range(len(cores)) for cache in ruby.caches_of(i)]
    shared = [node.L3cache for node in ruby.nodes]
    ruby.snapshot = MemorySnapshot(caches=[*private, *shared])
    ruby.warmer = CacheWarmer(
        clock_period=system.ticks_per_cycle(),
        sockets=[machine.socket(core) for core in cores],
        lines=(caches.l3 + machine.cores_per_socket * (caches.l2 + caches.l1d + caches.l1i)) // _LINE_BYTES,
    )
    if tap is not None:
        tap.shared_caches = shared
    return ruby


def _seen_before_the_end(timing: ProtocolLatencies) -> int:
    """Cycles from the end of a miss to where the tap sees it, plus an L1 hit: it sees the grant on its way to the core."""
    return timing.l1 - timing.to_core - 1

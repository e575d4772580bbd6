# SPDX-License-Identifier: BSD-3-Clause
"""Memory without caches, for booting."""

from m5.objects import Addr, AddrRange, Bridge, System, SystemXBar

from board.machine_values import Machine
from board.memory import HOLE_START, M5OPS
from board.nodes import memories
from board.platform import bus_masters

_IO_SPACE = 0x8000000000000000
_INTERRUPT_SPACE = 0xA000000000000000
_PCI_CONFIGURATION_SPACE = 0xC000000000000000
_LOCAL_APIC_BYTES = 1 << 12
_ACCESS_CYCLES = 100
"""Long enough that waiting for a time is cheap, short enough that a boot is a few seconds of guest time."""


def attach(system: System, machine: Machine) -> None:
    """Connect processors, devices and memory of ``system`` by one crossbar."""
    bus = system.membus = SystemXBar()
    system.system_port = bus.cpu_side_ports
    system.bridge = Bridge(delay="50ns")
    system.bridge.mem_side_port = system.iobus.cpu_side_ports
    system.bridge.cpu_side_port = bus.mem_side_ports
    system.bridge.ranges = [
        AddrRange(HOLE_START, M5OPS),
        AddrRange(_IO_SPACE, _INTERRUPT_SPACE - 1),
        AddrRange(_PCI_CONFIGURATION_SPACE, Addr.max),
    ]
    system.apicbridge = Bridge(delay="50ns")
    system.apicbridge.cpu_side_port = system.iobus.mem_side_ports
    system.apicbridge.mem_side_port = bus.cpu_side_ports
    system.apicbridge.ranges = [AddrRange(_INTERRUPT_SPACE, size=len(system.cpu) * _LOCAL_APIC_BYTES)]
    system.iobridge = Bridge(delay="50ns", ranges=system.mem_ranges)
    system.iobridge.cpu_side_port = system.iobus.mem_side_ports
    system.iobridge.mem_side_port = bus.cpu_side_ports
    for device in bus_masters(system.pc):
        device.dma = system.iobus.cpu_side_ports
    system.mem_ctrls = [memory for _, memory in memories(machine, latency_cycles=_ACCESS_CYCLES)]
    for memory in system.mem_ctrls:
        memory.port = bus.mem_side_ports
    for cpu in system.cpu:
        cpu.connectBus(bus)

# SPDX-License-Identifier: BSD-3-Clause
"""What a BIOS would leave in memory: memory map, MP table, ACPI tables, SMBIOS."""

from collections.abc import Sequence

from m5.objects import (
    X86ACPIMadt,
    X86ACPIMadtIntSourceOverride,
    X86ACPIMadtIOAPIC,
    X86ACPIMadtLAPIC,
    X86ACPIRawTable,
    X86E820Entry,
    X86FsLinux,
    X86IntelMPBus,
    X86IntelMPBusHierarchy,
    X86IntelMPIOAPIC,
    X86IntelMPIOIntAssignment,
    X86IntelMPProcessor,
    X86SMBiosBiosInformation,
)

from board import acpi, memory
from board.errors import BoardError
from board.machine_values import Machine

_IO_APIC_ADDRESS = 0xFEC00000
_PCI_BUS, _ISA_BUS = 0, 1
_OEM = "mosb"
# Legacy interrupts (number, pin of the I/O APIC): the timer is on pin 2, the rest where they always were; 2 is the cascade.
_ISA_INTERRUPTS = ((0, 2), (1, 1), *((i, i) for i in range(3, 16)))
_PCI_PIN = 16
# Ports that no device claims; gem5 answers 0 there.
_PM1_EVENT, _PM1_CONTROL = 0x600, 0x604
_SCI = 9


class LinuxWorkload(X86FsLinux):
    """A Linux kernel on a machine whose processors, nodes and memory firmware describes.

    Args:
        machine: sockets, memory and distances.
        cores: the machine's numbers of the cores that are there; processor i has APIC id i.
        kernel: an uncompressed kernel (vmlinux).
        command_line: at most 511 characters.
        pci_devices: device numbers on PCI bus 0 that have an interrupt.
    """

    def __init__(
        self, machine: Machine, cores: Sequence[int], kernel: str, command_line: str, pci_devices: Sequence[int] = (4,)
    ) -> None:
        super().__init__()
        if len(command_line) > 511:
            raise BoardError(f"The kernel's command line has {len(command_line)} characters; gem5 passes 511.")
        self.object_file = kernel
        self.command_line = command_line
        self.smbios_table.structures = [X86SMBiosBiosInformation()]
        self.e820_table.entries = [
            X86E820Entry(addr=start, size=f"{size}B", range_type=kind) for start, size, kind in memory.e820(machine)
        ]
        self._mp_table(len(cores), pci_devices)
        self._acpi_tables(machine, cores, pci_devices)

    def _mp_table(self, processors: int, pci_devices: Sequence[int]) -> None:
        io_apic = X86IntelMPIOAPIC(id=processors, version=0x11, enable=True, address=_IO_APIC_ADDRESS)
        entries = [
            X86IntelMPProcessor(local_apic_id=i, local_apic_version=0x14, enable=True, bootstrap=(i == 0))
            for i in range(processors)
        ]
        entries += [io_apic, X86IntelMPBus(bus_id=_PCI_BUS, bus_type="PCI   "), X86IntelMPBus(bus_id=_ISA_BUS, bus_type="ISA   ")]
        for device in pci_devices:
            entries.append(_mp_interrupt("INT", _PCI_BUS, device << 2, processors, _PCI_PIN))
        for interrupt, pin in _ISA_INTERRUPTS:
            entries.append(_mp_interrupt("ExtInt", _ISA_BUS, interrupt, processors, 0))
            entries.append(_mp_interrupt("INT", _ISA_BUS, interrupt, processors, pin))
        self.intel_mp_table.base_entries = entries
        self.intel_mp_table.ext_entries = [X86IntelMPBusHierarchy(bus_id=_ISA_BUS, subtractive_decode=True, parent_bus=_PCI_BUS)]

    def _acpi_tables(self, machine: Machine, cores: Sequence[int], pci_devices: Sequence[int]) -> None:
        records = [X86ACPIMadtLAPIC(acpi_processor_id=i, apic_id=i, flags=1) for i in range(len(cores))]
        records.append(X86ACPIMadtIOAPIC(id=len(cores), address=_IO_APIC_ADDRESS, int_base=0))
        records += [
            X86ACPIMadtIntSourceOverride(bus_source=0, irq_source=interrupt, sys_int=pin, flags=0)
            for interrupt, pin in _ISA_INTERRUPTS
        ]
        dsdt = _raw("DSDT", acpi.dsdt(io_apic_pin=[(device, _PCI_PIN) for device in pci_devices]))
        fadt = _raw("FACP", acpi.fadt(sci=_SCI, event_block=_PM1_EVENT, control_block=_PM1_CONTROL))
        fadt.tables = [dsdt]
        fadt.pointers = [acpi.FADT_DSDT]
        tables = [
            X86ACPIMadt(local_apic_address=0xFEE00000, flags=1, records=records, oem_id=_OEM),
            _raw("SRAT", acpi.srat(machine, cores)),
            _raw("SLIT", acpi.slit(machine)),
            fadt,
        ]
        pointer = self.acpi_description_table_pointer
        pointer.oem_id = _OEM
        for root in (pointer.rsdt, pointer.xsdt):
            root.oem_id = _OEM
            root.entries = tables


def _raw(signature: str, body: bytes) -> X86ACPIRawTable:
    return X86ACPIRawTable(signature=signature, revision=1, body=list(body), oem_id=_OEM)


def _mp_interrupt(kind: str, bus: int, source: int, io_apic: int, pin: int) -> X86IntelMPIOIntAssignment:
    return X86IntelMPIOIntAssignment(
        interrupt_type=kind,
        polarity="ConformPolarity",
        trigger="ConformTrigger",
        source_bus_id=bus,
        source_bus_irq=source,
        dest_io_apic_id=io_apic,
        dest_io_apic_intin=pin,
    )

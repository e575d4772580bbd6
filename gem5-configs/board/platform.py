# SPDX-License-Identifier: BSD-3-Clause
"""Devices of a PC: south bridge, serial console, an IDE disk whose writes are forgotten."""

from m5.objects import CowDiskImage, IdeDisk, Pc, RawDiskImage

from board.machine_values import Machine

IDE_DEVICE = 4
"""Device number of the IDE controller on PCI bus 0."""


def pc(machine: Machine, processors: int, disk: str) -> Pc:
    """A PC with the raw image ``disk`` as its first IDE disk."""
    platform = Pc()
    platform.south_bridge.io_apic.apic_id = processors
    image = CowDiskImage(child=RawDiskImage(read_only=True, image_file=disk), read_only=False)
    # One fixed delay for each request is all that gem5's disk has; the rate is that of its DMA.
    platform.south_bridge.ide.disks = [IdeDisk(driveID="device0", image=image, delay=f"{machine.disk_latency_us}us")]
    return platform

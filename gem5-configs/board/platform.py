# SPDX-License-Identifier: BSD-3-Clause
"""Devices of a PC: south bridge, serial console, IDE disks whose writes are forgotten."""

from collections.abc import Sequence

from m5.objects import CowDiskImage, IdeDisk, Pc, RawDiskImage

from board.machine_values import Machine

IDE_DEVICE = 4
"""Device number of the IDE controller on PCI bus 0."""


def pc(machine: Machine, processors: int, disks: Sequence[str]) -> Pc:
    """A PC with the raw images ``disks``, one or two, on its first IDE channel."""
    platform = Pc()
    platform.south_bridge.io_apic.apic_id = processors
    # One fixed delay for each request is all that gem5's disk has; the rate is that of its DMA.
    delay = f"{machine.disk_latency_us}us"
    platform.south_bridge.ide.disks = [
        IdeDisk(driveID=f"device{number}", image=_forgetful(disk), delay=delay) for number, disk in enumerate(disks)
    ]
    return platform


def _forgetful(disk: str) -> CowDiskImage:
    return CowDiskImage(child=RawDiskImage(read_only=True, image_file=disk), read_only=False)

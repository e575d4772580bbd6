# SPDX-License-Identifier: BSD-3-Clause
"""Devices of a PC: south bridge, serial console, IDE disks whose writes are forgotten, and a network card where one is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass

from m5.objects import CowDiskImage, IdeDisk, Pc, PciDevice, RawDiskImage

from board.errors import BoardError
from board.machine_values import Machine

IDE_DEVICE = 4
"""Device number of the IDE controller on PCI bus 0."""
_CARD_DEVICE = 5


@dataclass(frozen=True)
class Card:
    """A network card with client machines behind its wire (docs/reference/card.md)."""

    library: str
    """Shared object that has both."""
    settings: str
    """File with a "key value" line for each of the card's settings."""


def pc(machine: Machine, processors: int, disks: Sequence[str], card: Card | None = None) -> Pc:
    """A PC with the raw images ``disks``, one or two, on its first IDE channel, and with ``card`` (``network_card``)."""
    platform = Pc()
    platform.south_bridge.io_apic.apic_id = processors
    # One fixed delay for each request is all that gem5's disk has; the rate is that of its DMA.
    delay = f"{machine.disk_latency_us}us"
    platform.south_bridge.ide.disks = [
        IdeDisk(driveID=f"device{number}", image=_forgetful(disk), delay=delay) for number, disk in enumerate(disks)
    ]
    if card is not None:
        platform.network_card = _network_card(card)
    return platform


def bus_masters(platform: Pc) -> list[PciDevice]:
    """The devices that read and write memory."""
    return [platform.south_bridge.ide, *([platform.network_card] if hasattr(platform, "network_card") else [])]


def _network_card(card: Card) -> PciDevice:
    try:
        from m5.objects import NetworkCard
    except ImportError:
        raise BoardError("This gem5 was built without the SimObject NetworkCard.") from None
    return NetworkCard(pci_bus=0, pci_dev=_CARD_DEVICE, pci_func=0, library=card.library, settings=card.settings)


def _forgetful(disk: str) -> CowDiskImage:
    return CowDiskImage(child=RawDiskImage(read_only=True, image_file=disk), read_only=False)

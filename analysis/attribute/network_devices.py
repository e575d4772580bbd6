# SPDX-License-Identifier: BSD-3-Clause
"""What a network driver has behind its device: its private data, rings of descriptors, buffers of packets.

None of it has a type in the kernel's books: private data lies in the allocation of the ``struct net_device``, rings are pages for
the card, found by a ``void *``. kernel-types.toml, table ``network_device``, has the members that lead there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import drgn
import numpy as np

from analysis.attribute.areas import Area
from analysis.attribute.boot_arrays import evaluate
from analysis.attribute.fields import has_member
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.snapshot import PAGE
from analysis.attribute.subjects import Inferred, Kind
from analysis.attribute.type_data import NetworkDevice, Ring

_DEVICES = "network devices"  # what walks look for, as a reader of the run is told
_ALIGNMENT = 32
"""NETDEV_ALIGN of include/linux/netdevice.h, the same in 2.6.35 and 6.1: where private data begins behind the ``net_device``."""
_PACKETS = "packet data"
"""As those of socket buffers (kernel-types.toml, table ``buffer``)."""


@dataclass
class DriverMemory:
    """``areas`` outside the slab caches; of objects in slab caches ``types``, as inference tells them, and what follows an object
    in the same allocation: ``behind`` is start -> (offset, type), one after another to the allocation's end."""

    areas: list[Area] = field(default_factory=list)
    types: Inferred = field(default_factory=dict)
    behind: dict[int, tuple[int, str]] = field(default_factory=dict)


def driver_memory(kernel: GuestKernel, entries: Iterable[NetworkDevice]) -> DriverMemory:
    """Of all network devices whose driver ``entries`` name."""
    found = DriverMemory()
    known = {entry.operations: entry for entry in entries if kernel.has_type(entry.private)}
    if not known:
        return found
    pages: set[int] = set()
    with kernel.walks.attempt(_DEVICES):
        for device in _devices(kernel):
            symbol = kernel.symbols.covering(device.netdev_ops.value_()) if device.netdev_ops.value_() else None
            if symbol is not None and symbol.name in known:
                _add_device(kernel, device, known[symbol.name], found, pages)
    found.areas += _merged(kernel, pages)
    return found


def _devices(kernel: GuestKernel) -> Iterator[drgn.Object]:
    try:
        head = evaluate(kernel, "init_net.dev_base_head")
    except LookupError:  # a kernel without a network
        return
    yield from kernel.list_entries(head, "struct net_device", "dev_list")


def _add_device(kernel: GuestKernel, device: drgn.Object, entry: NetworkDevice, found: DriverMemory, pages: set[int]) -> None:
    start = device.address_
    assert start is not None
    size = drgn.sizeof(device)
    offset = -(-size // _ALIGNMENT) * _ALIGNMENT
    private = drgn.Object(kernel.program, entry.private, address=start + offset)
    # A large allocation is no slab object.
    found.areas.append(Area(start, start + size, Kind.DRIVER, "struct net_device", "struct net_device"))
    found.areas.append(Area(start + offset, start + offset + drgn.sizeof(private), Kind.DRIVER, entry.private, entry.private))
    found.types[start] = ("struct net_device", start)
    found.behind[start] = (offset, entry.private)
    rings: dict[int, str] = {}
    for one in entry.rings:
        for number in range(int(private.member_(one.number))):
            pointer = private.member_(one.rings)[number]
            if pointer.value_():
                rings[pointer.value_()] = pointer.type_.type.type_name()
                _add_ring(kernel, pointer[0], one, found, pages)
    found.types.update({address: (name, address) for address, name in rings.items()})
    _add_objects(private, entry, rings, found)


def _add_objects(private: drgn.Object, entry: NetworkDevice, rings: Mapping[int, str], found: DriverMemory) -> None:
    """Objects that an array of pointers in the private data leads to; rings may lie behind them in the same allocation."""
    for name in entry.objects:
        array = private.member_(name)
        for number in range(array.type_.length or 0):
            address, target = array[number].value_(), array.type_.type.type
            if address:
                found.types[address] = (target.type_name(), address)
                end = drgn.sizeof(target)
                if address + end in rings:
                    found.behind[address] = (end, rings[address + end])


def _add_ring(kernel: GuestKernel, ring: drgn.Object, names: Ring, found: DriverMemory, pages: set[int]) -> None:
    count = int(ring.member_("count"))
    start = ring.member_(names.descriptors).value_()
    if start and kernel.has_type(names.descriptor):
        size = count * drgn.sizeof(kernel.program.type(names.descriptor))
        found.areas.append(Area(start, start + size, Kind.DRIVER, names.descriptor, names.descriptor))
    buffers = ring.member_(names.buffers)
    if not buffers.value_():
        return
    of_buffer = buffers.type_.type
    each = drgn.sizeof(of_buffer)
    end = buffers.value_() + count * each
    found.areas.append(Area(buffers.value_(), end, Kind.DRIVER, of_buffer.type_name(), of_buffer.type_name()))
    if names.page and has_member(of_buffer, names.page):
        data = kernel.memory.read(buffers.value_(), count * each)
        if data is None:
            kernel.walks.give_up(_DEVICES)
            return
        place = drgn.offsetof(of_buffer, names.page)
        words = np.frombuffer(data, np.uint8).reshape(count, each)[:, place : place + 8]
        pages.update(int(word) for word in np.ascontiguousarray(words).view("<u8")[:, 0] if word)


def _merged(kernel: GuestKernel, pages: set[int]) -> Iterator[Area]:
    """Areas of the pages whose ``struct page`` are at these addresses; pages that follow each other are one."""
    size = int(drgn.sizeof(kernel.program.type("struct page")))
    frames = np.array(sorted((page - kernel.vmemmap) // size for page in pages), np.int64)
    if not len(frames):
        return
    for run in np.split(frames, np.nonzero(np.diff(frames) != 1)[0] + 1):
        start = kernel.direct_map + int(run[0]) * PAGE
        yield Area(start, start + len(run) * PAGE, Kind.DRIVER, _PACKETS)

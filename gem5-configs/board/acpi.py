# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of ACPI tables (what follows the 36-byte header), packed here and placed by the raw table SimObject.

ACPI specification 4.0, chapters 5.2 and 20 (AML).
"""

import struct
from collections.abc import Iterable, Sequence

from board.machine_values import Machine
from board.memory import pieces

_ENABLED = 1


def srat(machine: Machine, cores: Sequence[int]) -> bytes:
    """System resource affinity: the node of each processor (APIC id i is core ``cores[i]``) and of each piece of memory."""
    body = struct.pack("<IQ", 1, 0)
    for apic, core in enumerate(cores):
        body += struct.pack("<BBBBIBBBBI", 0, 16, machine.socket(core), apic, _ENABLED, 0, 0, 0, 0, 0)
    for piece in pieces(machine):
        body += struct.pack("<BBIHQQIIQ", 1, 40, piece.node, 0, piece.start, piece.size, 0, _ENABLED, 0)
    return body


def slit(machine: Machine) -> bytes:
    """Distances between nodes."""
    return struct.pack("<Q", machine.sockets) + bytes(machine.node_distances)


FADT_DSDT = 40 - 36
"""Where in the FADT's body the 32-bit address of the DSDT is."""


def fadt(*, sci: int, event_block: int, control_block: int) -> bytes:
    """Fixed description of a machine without power management.

    Its PM1 registers at I/O ports ``event_block`` (4 bytes) and ``control_block`` (2) need only exist: with no SMI command port
    the system counts as being in ACPI mode.
    """
    body = bytearray(116 - 36)  # ACPI 1.0: later fields are not there
    struct.pack_into("<H", body, 46 - 36, sci)
    struct.pack_into("<I", body, 56 - 36, event_block)
    struct.pack_into("<I", body, 64 - 36, control_block)
    body[88 - 36 : 90 - 36] = bytes([4, 2])  # lengths of the two blocks
    struct.pack_into("<HH", body, 96 - 36, 0xFFFF, 0xFFFF)  # no C2 and no C3 state
    struct.pack_into("<I", body, 112 - 36, 1 << 0 | 1 << 4 | 1 << 5)  # WBINVD works; no power and no sleep button
    return bytes(body)


def dsdt(*, io_apic_pin: Iterable[tuple[int, int]]) -> bytes:
    """One PCI root bridge, on node 0.

    Args:
        io_apic_pin: device number, and pin of the I/O APIC of its interrupt INTA#, of each device.
    """
    routes = [_package([_dword(device << 16 | 0xFFFF), _byte(0), _byte(0), _byte(pin)]) for device, pin in io_apic_pin]
    bridge = [
        _name("_HID", _dword(_eisa_id("PNP0A03"))),
        _name("_ADR", _byte(0)),
        _name("_UID", _byte(0)),
        _name("_BBN", _byte(0)),
        _name("_PXM", _byte(0)),
        _name("_CRS", _buffer(_bridge_resources())),
        _name("_PRT", _package(routes)),
    ]
    device = b"\x5b\x82" + _sized(b"PCI0" + b"".join(bridge))
    return b"\x10" + _sized(b"\\_SB_" + device)


def _bridge_resources() -> bytes:
    """Bus numbers, I/O ports and memory that the bridge passes on: all buses, all ports, 3 GiB up to the I/O APIC."""
    configuration_ports = b"\x47\x01" + struct.pack("<HHBB", 0xCF8, 0xCF8, 1, 8)
    template = (
        _word_space(2, 0, 0, 0xFF)
        + configuration_ports
        + _word_space(1, 3, 0, 0xCF7)
        + _word_space(1, 3, 0xD00, 0xFFFF)
        + _dword_memory(0xC0000000, 0xFEBFFFFF)
    )
    return template + b"\x79\x00"  # end tag; a checksum of 0 is not checked


def _word_space(kind: int, flags: int, low: int, high: int) -> bytes:
    """Word address space descriptor; both ends fixed, positive decode, produced."""
    return b"\x88" + struct.pack("<HBBBHHHHH", 13, kind, 0x0C, flags, 0, low, high, 0, high - low + 1)


def _dword_memory(low: int, high: int) -> bytes:
    return b"\x87" + struct.pack("<HBBBIIIII", 23, 0, 0x0C, 1, 0, low, high, 0, high - low + 1)


def _sized(contents: bytes) -> bytes:
    """Contents behind their package length, which counts itself."""
    if len(contents) + 1 < 64:
        return bytes([len(contents) + 1]) + contents
    for extra in (1, 2, 3):
        length = len(contents) + 1 + extra
        if length < 1 << (4 + 8 * extra):
            return bytes([extra << 6 | length & 15]) + (length >> 4).to_bytes(extra, "little") + contents
    raise ValueError("an AML package is longer than 256 MiB")


def _name(name: str, value: bytes) -> bytes:
    return b"\x08" + name.encode() + value


def _byte(value: int) -> bytes:
    return b"\x0a" + bytes([value])


def _dword(value: int) -> bytes:
    return b"\x0c" + struct.pack("<I", value)


def _package(elements: Sequence[bytes]) -> bytes:
    return b"\x12" + _sized(bytes([len(elements)]) + b"".join(elements))


def _buffer(contents: bytes) -> bytes:
    return b"\x11" + _sized(b"\x0b" + struct.pack("<H", len(contents)) + contents)


def _eisa_id(text: str) -> int:
    """Compressed EISA identifier: three letters of five bits, four hexadecimal digits, the bytes in big-endian order."""
    letters = [ord(c) - 0x40 for c in text[:3]]
    value = (letters[0] << 26 | letters[1] << 21 | letters[2] << 16) | int(text[3:], 16)
    return int.from_bytes(value.to_bytes(4, "big"), "little")

# SPDX-License-Identifier: BSD-3-Clause
"""A disk of one partition, made from a file system.

A kernel that looks for its disks on several processors at once names them in the order in which it finds them, so a name such as
/dev/sda does not tell which disk it is. A partition has an identity that goes with its disk: the signature in the disk's first
sector and the partition's number, PARTUUID on a kernel command line.
"""

import shutil
import struct
from pathlib import Path

_SECTOR = 512
FIRST_SECTOR = 2048
"""Where the partition begins: 1 MiB, where today's tools put it."""
_LINUX = 0x83  # type of a partition
# The table's places in the first sector: signature of the disk, the first of four entries, mark at the end.
_SIGNATURE_AT, _ENTRY_AT, _MARK_AT = 0x1B8, 0x1BE, 0x1FE
_NO_CYLINDERS = b"\xfe\xff\xff"  # the address by cylinder, head and sector, for what lies beyond their range


def write(file_system: Path, disk: Path, signature: int) -> None:
    """Write ``disk``: the raw image ``file_system`` as its only partition, under the 32-bit ``signature``.

    Raises:
        ValueError: for a file system that is no whole number of sectors.
    """
    size = file_system.stat().st_size
    if size % _SECTOR:
        raise ValueError(f"{file_system} has {size} bytes, not a multiple of {_SECTOR}.")
    first = bytearray(_SECTOR)
    struct.pack_into("<I", first, _SIGNATURE_AT, signature)
    entry = struct.pack("<B3sB3sII", 0, _NO_CYLINDERS, _LINUX, _NO_CYLINDERS, FIRST_SECTOR, size // _SECTOR)
    first[_ENTRY_AT : _ENTRY_AT + len(entry)] = entry
    struct.pack_into("<H", first, _MARK_AT, 0xAA55)
    with open(disk, "wb") as target, open(file_system, "rb") as source:
        target.write(first)
        target.seek(FIRST_SECTOR * _SECTOR)
        shutil.copyfileobj(source, target)

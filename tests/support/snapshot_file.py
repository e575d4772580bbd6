# SPDX-License-Identifier: BSD-3-Clause
"""A writer of ``engine/memory.elf`` for tests that have no engine; what engines use is native/snapshot."""

import struct
from pathlib import Path

import numpy as np

from analysis.attribute.snapshot import ET_CORE, PAGE, PN_XNUM, PT_LOAD, SEGMENT


def write_snapshot(path: Path, runs: list[tuple[int, bytes]]) -> None:
    """Write a memory.elf of ``runs`` (guest physical address, contents)."""
    count = len(runs)
    extended = count >= PN_XNUM
    shoff = 64 + count * SEGMENT.itemsize if extended else 0
    start = -(-(64 + count * SEGMENT.itemsize + 64) // PAGE) * PAGE
    segments = np.zeros(count, SEGMENT)
    segments["type"], segments["flags"], segments["align"] = PT_LOAD, 6, PAGE
    segments["paddr"] = [address for address, _ in runs]
    segments["filesz"] = segments["memsz"] = [len(contents) for _, contents in runs]
    segments["offset"] = start + np.concatenate([[0], np.cumsum(segments["filesz"])[:-1]]) if count else 0
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    fields = (ET_CORE, 62, 1, 0, 64, shoff, 0, 64, 56, min(count, PN_XNUM), 64, 1 if extended else 0, 0)
    with open(path, "wb") as handle:
        handle.write(head + struct.pack("<HHIQQQIHHHHHH", *fields))
        handle.write(segments.tobytes())
        if extended:
            handle.write(struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, count, 0, 0))
        handle.seek(start)
        for _, contents in runs:
            handle.write(contents)

# SPDX-License-Identifier: BSD-3-Clause
"""Valgrind's client requests in the image's programs become instructions that do nothing everywhere.

A program that can tell Valgrind something (Exim is one) does it with four rotations that together change nothing and the exchange
of a register with itself. On a processor that is a way to do nothing; gem5's x86 exchanges two registers by three exclusive ors,
and leaves 0 in one that is exchanged with itself. Exim ended with a segmentation fault there.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from harness.build.ext2 import Entry

# rol $3, $13, $61, $51, %rdi; then xchg of %rbx, %rcx, %rdx or %rdi with itself, which says what is asked for.
_REQUEST = re.compile(
    rb"(\x48\xc1\xc7\x03\x48\xc1\xc7\x0d\x48\xc1\xc7\x3d\x48\xc1\xc7\x33)\x48\x87[\xdb\xc9\xd2\xff]",
    re.DOTALL,
)
_NOP = rb"\1" + b"\x0f\x1f\x00"  # of three bytes, as the exchange is
_ELF = b"\x7fELF"


def without_requests(program: bytes) -> bytes:
    """``program`` with each client request's exchange replaced by a nop; the same bytes where there is none."""
    return _REQUEST.sub(_NOP, program)


def take_out(tree: Mapping[PurePosixPath, Entry], folder: Path) -> dict[PurePosixPath, Entry]:
    """Entries of ``tree`` that are other without client requests; their contents are written below ``folder``."""
    changed: dict[PurePosixPath, Entry] = {}
    for path, entry in sorted(tree.items()):
        if entry.content is None:
            continue
        with open(entry.content, "rb") as handle:
            if handle.read(len(_ELF)) != _ELF:
                continue
            before = _ELF + handle.read()
        after = without_requests(before)
        if after != before:
            content = folder / f"without-requests-{len(changed)}"
            content.write_bytes(after)
            changed[path] = replace(entry, content=content)
    return changed

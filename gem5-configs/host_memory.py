# SPDX-License-Identifier: BSD-3-Clause
"""What gem5 allocated on this host, in huge pages.

It looks up tags, lines and decoded instructions all over a gigabyte, and with pages of 4 KiB the host's processor waits for page
tables. The guest's memory, of which little may be used, stays as it is.
"""

import ctypes
import mmap
from collections.abc import Iterable

_HUGE_BYTES = 1 << 21
_MADV_COLLAPSE = 25  # Linux 6.1; Python has no name for it


def use_huge_pages() -> None:
    """Put this process's heap into huge pages, as far as it has grown.

    Nothing but time depends on it: a host without huge pages goes on with small ones.
    """
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        start, end = heap(maps)
    if start < end:
        libc = ctypes.CDLL(None)
        for advice in (mmap.MADV_HUGEPAGE, _MADV_COLLAPSE):
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), advice)


def heap(maps: Iterable[str]) -> tuple[int, int]:
    """(start, end) of the whole huge pages of the heap, by the lines of /proc/PID/maps; (0, 0) if there is none."""
    for line in maps:
        addresses, _, _, _, _, *name = line.split(maxsplit=5)
        if name and name[0].strip() == "[heap]":
            first, last = (int(one, 16) for one in addresses.split("-"))
            return -(-first // _HUGE_BYTES) * _HUGE_BYTES, last // _HUGE_BYTES * _HUGE_BYTES
    return 0, 0

# SPDX-License-Identifier: BSD-3-Clause
"""The heap in huge pages. None of it needs gem5."""

import ctypes
import platform
import re
from pathlib import Path

import pytest
from host_memory import heap, use_huge_pages

_MAPS = """\
00400000-06000000 r-xp 00000000 fd:00 11 /bin/gem5.opt
07f00000-08900000 rw-p 00000000 00:00 0                                  [heap]
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
7ffc00000000-7ffc00800000 rw-p 00000000 00:00 0                          [stack]
"""
_PIECE, _PIECES = 64 << 10, 256  # what malloc takes from the heap


def test_whole_huge_pages_of_the_heap() -> None:
    lines = _MAPS.splitlines()
    assert heap(lines) == (0x8000000, 0x8800000)
    assert heap([line for line in lines if "heap" not in line]) == (0, 0)
    assert heap(["08100000-08180000 rw-p 00000000 00:00 0 [heap]"]) == (0x8200000, 0x8000000)  # less than one: nothing


def _missing() -> str:
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[never]" in setting.read_text():
        return "this host has no huge pages"
    release = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    return "" if release >= (6, 1) else "this host's Linux makes no huge pages of small ones at once"


@pytest.mark.skipif(bool(_missing()), reason=_missing())
def test_what_is_in_the_heap_is_in_huge_pages_afterwards() -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    pieces = [ctypes.c_void_p(libc.malloc(ctypes.c_size_t(_PIECE))) for _ in range(_PIECES)]
    for number, piece in enumerate(pieces):
        ctypes.memset(piece, number % 250 + 1, _PIECE)
    before = _huge_kib()
    use_huge_pages()
    assert _huge_kib() - before >= _PIECE * _PIECES // 2 // 1024
    for number, piece in enumerate(pieces):
        assert ctypes.string_at(piece, _PIECE) == bytes([number % 250 + 1]) * _PIECE
        libc.free(piece)


def _huge_kib() -> int:
    found = re.search(r"^AnonHugePages: +(\d+) kB$", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])

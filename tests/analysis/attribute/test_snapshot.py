# SPDX-License-Identifier: BSD-3-Clause
"""Memory snapshots: physical reads, page-table walks, damaged files."""

from pathlib import Path

import numpy as np
import pytest
from snapshot_file import write_snapshot

from analysis.attribute.snapshot import PAGE, AddressSpace, Snapshot
from common.outcome import Failure


def test_reads_across_runs_and_holes(tmp_path: Path) -> None:
    path = tmp_path / "memory.elf"
    write_snapshot(path, [(0x1000, b"a" * PAGE), (0x2000, b"b" * PAGE), (0x8000, b"c" * PAGE)])
    snapshot = Snapshot(path)
    assert snapshot.read(0x1FFE, 4) == b"aabb"
    assert snapshot.read(0x2FFE, 4) == b"bb\0\0"
    assert snapshot.read(0x7FFE, 4) == b"\0\0cc"
    assert snapshot.read(0x5000, 3) == b"\0\0\0"
    assert snapshot.read(0xFFF, PAGE * 8) == b"\0" + b"a" * PAGE + b"b" * PAGE + b"\0" * PAGE * 5 + b"c" * (PAGE - 1)
    assert snapshot.bytes_present == 3 * PAGE
    pieces = snapshot.gather(np.array([0x8000, 0x1010, 0x9000], np.uint64), 2)
    assert [bytes(piece) for piece in pieces] == [b"cc", b"aa", b"\0\0"]


def test_more_runs_than_a_header_can_count(tmp_path: Path) -> None:
    path = tmp_path / "memory.elf"
    write_snapshot(path, [(index * 2 * PAGE, bytes([index & 255]) * 8) for index in range(70_000)])
    snapshot = Snapshot(path)
    assert len(snapshot.runs) == 70_000
    assert snapshot.read(69_999 * 2 * PAGE, 2) == bytes([69_999 & 255]) * 2


def test_page_walk(tmp_path: Path) -> None:
    def table(entries: dict[int, int]) -> bytes:
        values = np.zeros(512, "<u8")
        for index, entry in entries.items():
            values[index] = entry
        return values.tobytes()

    path = tmp_path / "memory.elf"
    top = table({256: 0x2003, 511: 0x2003})
    second = table({0: 0x4000_0083, 1: 0x3003, 510: 0x3003})  # 1 GiB at 0x40000000, tables
    third = table({0: 0x0060_0083, 1: 0x4003, 2: 0})  # 2 MiB at 0x600000, table
    fourth = table({7: 0x8000_0000_0012_3003})  # no-execute bit set
    write_snapshot(path, [(0x1000, top + second + third + fourth)])
    space = AddressSpace(Snapshot(path), 0x1000)
    base = 0xFFFF_8000_0000_0000
    assert space.translate(base + 0x1234_5678) == 0x4000_0000 + 0x1234_5678
    assert space.translate(base + (1 << 30) + 0x1_2345) == 0x60_0000 + 0x1_2345
    assert space.translate(base + (1 << 30) + (1 << 21) + 7 * PAGE + 9) == 0x12_3009
    assert space.translate(base + (1 << 30) + (1 << 21)) is None
    assert space.translate(0x1000) is None
    mapped = list(space.mappings(0xFFFF_8000_0000_0000, 0xFFFF_8080_0000_0000))
    assert mapped[0] == (base, 0x4000_0000, 1 << 30)
    assert mapped[2] == (base + (1 << 30) + (1 << 21) + 7 * PAGE, 0x12_3000, PAGE)
    frames = set(space.tables(0xFFFF_8000_0000_0000, 0xFFFF_FFFF_FFFF_FFFF))
    assert frames == {(1, 4), (2, 3), (3, 2), (4, 1)}


@pytest.mark.parametrize("length", [0, 10, 64, 100, 5000])
def test_truncated(tmp_path: Path, length: int) -> None:
    path = tmp_path / "memory.elf"
    write_snapshot(path, [(0x1000, b"a" * PAGE), (0x8000, b"b" * PAGE)])
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(Failure, match=str(path)):
        Snapshot(path)

# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of the guest without memory are found in its kernel's zones."""

from pathlib import Path

from toy import Toy

from analysis.attribute.full_nodes import full_nodes
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.snapshot import Snapshot


def found(guest: Toy, path: Path) -> list[int]:
    guest.write_memory(path)
    return full_nodes(GuestKernel(guest.vmlinux, Snapshot(path)))


def test_a_node_is_full_when_a_zone_has_no_more_than_the_high_watermark(toy: Toy, tmp_path: Path) -> None:
    guest = Toy(toy.vmlinux)
    assert found(guest, tmp_path / "memory.elf") == []
    free = guest.at("struct pglist_data", "node_zones[1].vm_stat[0].counter")
    guest.word(guest.symbol("second_node") + free, 30)
    assert found(guest, tmp_path / "memory.elf") == [1]
    guest.word(guest.symbol("first_node") + guest.at("struct pglist_data", "node_zones[0].vm_stat[0].counter"), 30)
    assert found(guest, tmp_path / "memory.elf") == [0, 1]

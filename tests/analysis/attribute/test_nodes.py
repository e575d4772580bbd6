# SPDX-License-Identifier: BSD-3-Clause
"""Where the memory of the guest's nodes is, and which have none left."""

from pathlib import Path

from toy import Toy

from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.nodes import full_nodes, node_memory
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


def test_each_node_has_the_pages_that_its_kernel_says(toy: Toy, tmp_path: Path) -> None:
    guest = Toy(toy.vmlinux)
    guest.word(guest.symbol("second_node") + guest.at("struct pglist_data", "node_spanned_pages"), 24)
    guest.write_memory(tmp_path / "memory.elf")
    kernel = GuestKernel(guest.vmlinux, Snapshot(tmp_path / "memory.elf"))
    assert node_memory(kernel) == {0: (0, 1000 << 12), 1: (1000 << 12, 1024 << 12)}

# SPDX-License-Identifier: BSD-3-Clause
"""Attribution on a guest whose every object is known, with the structures of 6.1 and of 2.6.35."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import toy as places
from toy import Toy

from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.locate import Attribution
from analysis.attribute.run_tables import write_run_tables
from analysis.attribute.snapshot import Snapshot
from analysis.attribute.source_lines import CodeMap
from analysis.attribute.subjects import Kind, Subject
from common.outcome import Failure, Outcome


@pytest.fixture(scope="session")
def attribution(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Attribution:
    path = tmp_path_factory.mktemp("memory") / "memory.elf"
    toy.write_memory(path)
    return Attribution(GuestKernel(toy.vmlinux, Snapshot(path)))


def look(attribution: Attribution, address: int) -> tuple[Subject, str, int, int]:
    """(subject, label, physical address of the object's start if it is in the direct map, CPU) of one address."""
    located = attribution.locate(np.array([address], np.uint64))
    number, offset = int(located.subject[0]), int(located.offset[0])
    start = int(located.object[0]) - places.DIRECT if located.object[0] else -1
    return attribution.subjects[number], attribution.label(number, offset), start, int(located.cpu[0])


def test_variables_of_one_name_in_two_files(attribution: Attribution, toy: Toy) -> None:
    for file in ("kernel", "driver"):
        pointer = toy.symbol(f"{file}_hidden")
        hidden = int.from_bytes(toy.memory[pointer : pointer + 8], "little") - places.TEXT
        assert look(attribution, hidden + 8)[1] == f"hidden.of_the_{file}"


def test_what_a_network_driver_has_behind_its_device(attribution: Attribution, toy: Toy) -> None:
    device = places.DEVICES + 512
    buffer = places.RING_BUFFERS + 3 * toy.size("struct ixgbe_rx_buffer")
    attribution.infer(np.array([toy.ring], np.uint64))
    wanted = {
        device + toy.at("struct net_device", "netdev_ops"): ("net_device.netdev_ops", device),
        toy.adapter + toy.at("struct ixgbe_adapter", "num_rx_queues"): ("ixgbe_adapter.num_rx_queues", toy.adapter),
        toy.ring + toy.at("struct ixgbe_ring", "count"): ("ixgbe_ring.count", toy.ring),
        places.VECTORS + 192: ("ixgbe_q_vector." + ("eitr" if toy.old else "itr"), places.VECTORS + 192),
        places.DESCRIPTORS + 5 * 16 + 8: ("ixgbe_adv_rx_desc.read.hdr_addr", places.DESCRIPTORS + 5 * 16),
        buffer + toy.at("struct ixgbe_rx_buffer", "page"): ("ixgbe_rx_buffer.page", buffer),
        places.PACKET_PAGE + 100: ("packet data", places.PACKET_PAGE),
    }
    assert {address: look(attribution, address)[1:3] for address in wanted} == wanted
    assert look(attribution, places.DESCRIPTORS)[0].kind == Kind.DRIVER
    assert look(attribution, places.DESCRIPTORS + 64 * 16)[0].kind == Kind.UNKNOWN  # behind the ring


def test_index_of_debug_information_is_made_by_one_thread() -> None:
    """With several, which of two types of one name is found is a matter of chance."""
    script = (
        "import os; os.environ['OMP_NUM_THREADS'] = '7'; import analysis.attribute, ctypes, glob, re;"
        "paths = {line.split()[-1] for line in open('/proc/self/maps') if re.search('drgn.*libgomp|_drgn', line)};"
        "found = [ctypes.CDLL(path).omp_get_max_threads() for path in paths];"
        "print(max(found), os.environ['OMP_NUM_THREADS'])"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["1", "7"]


def test_slab_object_across_the_pages_of_a_compound_page(attribution: Attribution, toy: Toy) -> None:
    count = toy.lockref() + toy.at("struct lockref", "count")
    assert toy.dentry // 4096 == toy.lockref() // 4096 or toy.dentry // 4096 + 1 == count // 4096
    assert look(attribution, count) == (
        Subject(Kind.SLAB, "dentry", "struct dentry"),
        "dentry.d_lockref.lock_count",
        toy.dentry,
        -1,
    )


def test_embedded_inode_has_the_name_of_any_inode(attribution: Attribution, toy: Toy) -> None:
    lock = toy.inode + toy.at("struct shmem_inode_info", "vfs_inode.i_lock")
    subject, label, start, _ = look(attribution, lock)
    assert (subject.type_name, label, start) == ("struct shmem_inode_info", "inode.i_lock", toy.inode)
    bits = toy.inode + toy.at("struct shmem_inode_info", "vfs_inode") + 4
    assert look(attribution, bits)[1] == "inode.i_a"
    assert look(attribution, toy.inode)[1] == "shmem_inode_info.seals"


def test_static_variable_and_array_of_structures(attribution: Attribution, toy: Toy) -> None:
    subject, label, _, _ = look(attribution, toy.symbol("futexes") + 20)
    assert (subject.kind, subject.name, label) == (Kind.STATIC, "futexes", "futexes[].lock")
    assert look(attribution, toy.symbol("nr_cpu_ids"))[1] == "nr_cpu_ids"
    assert look(attribution, toy.symbol("dput"))[0] == Subject(Kind.CODE, "dput")


def test_per_cpu_variable(attribution: Attribution, toy: Toy) -> None:
    address = places.UNITS + 0x8000 + toy.at("struct rq", "nr_running")
    subject, label, start, cpu = look(attribution, address)
    assert (subject.kind, label, start, cpu) == (Kind.PER_CPU, "runqueues.nr_running", places.UNITS + 0x8000, 1)


def test_struct_page_names_the_owner_of_its_page(attribution: Attribution, toy: Toy) -> None:
    entry = places.MEMMAP + places.DENTRIES // 4096 * 64
    of_slab = ("struct page", "page.flags") if toy.old else ("struct slab", "slab.__page_flags")
    assert look(attribution, entry)[:2] == (Subject(Kind.PAGE_STRUCT, "of slab dentry", of_slab[0]), of_slab[1])
    entry = places.MEMMAP + places.ANONYMOUS // 4096 * 64
    count = toy.at("struct page", "_count" if toy.old else "_refcount")
    assert look(attribution, entry + count)[1] == ("page._count" if toy.old else "page._refcount")
    assert look(attribution, entry)[0].name == "of anonymous"
    if not toy.old:
        assert look(attribution, entry + 8)[1] == "page.compound_head"
        assert look(attribution, entry + 16)[1] == "page.lru"


def test_memory_that_is_no_object(attribution: Attribution) -> None:
    assert look(attribution, places.ANONYMOUS + 8)[1] == "user memory"
    assert look(attribution, places.FILE_PAGE + 8)[:2] == (Subject(Kind.PAGE_CACHE, "tmpfs:shared-file"), "page cache (tmpfs)")
    assert look(attribution, places.FREE)[0].kind == Kind.FREE
    assert look(attribution, places.USER_TABLE)[0] == Subject(Kind.PAGE_TABLE, "level 3 of worker")
    assert look(attribution, 0x10_1000)[0].kind == Kind.PAGE_TABLE
    assert look(attribution, places.STACK + 4096 + 64)[0] == Subject(Kind.STACK, "worker/42")
    assert look(attribution, places.NAMES)[0].kind == Kind.UNKNOWN  # a page in use that nothing says more about


def test_boot_array_in_vmalloc(attribution: Attribution) -> None:
    subject, label, _, _ = look(attribution, places.VMALLOC_PAGES[1] + 64)
    assert (subject.kind, subject.name, label) == (Kind.BOOT, "inode_hashtable", "inode_hashtable[]")


def test_type_of_a_kmalloc_object_from_a_pointer_to_it(attribution: Attribution, toy: Toy) -> None:
    before = look(attribution, toy.mystery + 8)
    assert before[0] == Subject(Kind.SLAB, "kmalloc-64")
    attribution.infer(np.array([toy.mystery + 8], np.uint64))
    subject, label, start, _ = look(attribution, toy.mystery + 8)
    assert subject == Subject(Kind.SLAB, "kmalloc-64", "struct mystery", inferred=True)
    assert (label, start) == ("mystery.users", toy.mystery)
    assert look(attribution, toy.mystery + 3 * 64)[0] == Subject(Kind.SLAB, "kmalloc-64")


def test_type_of_a_kmalloc_object_that_only_a_void_pointer_leads_to(attribution: Attribution, toy: Toy) -> None:
    unknown = toy.of_file + 128  # the file's operations are not in kernel-types.toml
    attribution.infer(np.array([toy.of_super_block, toy.of_file, toy.of_device, unknown], np.uint64))
    assert look(attribution, toy.of_super_block + 8)[1] == "shmem_sb_info.stat_lock"
    assert look(attribution, toy.of_file)[1] == "eventpoll.lock"
    assert look(attribution, toy.of_device)[1] == "scsi_disk.openers"
    assert look(attribution, toy.of_super_block)[0] == Subject(Kind.SLAB, "kmalloc-64", "struct shmem_sb_info", inferred=True)
    assert look(attribution, unknown)[0] == Subject(Kind.SLAB, "kmalloc-64")


def test_packet_data_and_what_follows_it(attribution: Attribution, toy: Toy) -> None:
    attribution.infer(np.array([toy.packet], np.uint64))
    assert look(attribution, toy.packet + 8)[0:2] == (Subject(Kind.SLAB, "packet data", inferred=True), "packet data")
    subject, label, start, _ = look(attribution, toy.packet + 256 - 64)
    assert (subject.type_name, label, start) == ("struct skb_shared_info", "skb_shared_info.dataref", toy.packet + 256 - 64)


def test_fields_of_a_line(attribution: Attribution, toy: Toy) -> None:
    located = attribution.locate(np.array([toy.dentry], np.uint64))
    offset = toy.at("struct dentry", "d_lockref")
    names = attribution.labels_in(int(located.subject[0]), offset, offset + 16)
    assert names == ["dentry.d_lockref.lock_count", "dentry.d_inode"]


def test_code(attribution: Attribution, toy: Toy) -> None:
    kernel = attribution.kernel
    address = toy.symbols.address("dput")
    assert address is not None
    sites = CodeMap(toy.vmlinux, kernel.program, kernel.symbols).resolve([address, address + 1, 0xFFFF_FFFF_8123_4567])
    site = sites[address]
    assert site.function == "dput"
    assert [frame.function for frame in site.frames] == ["lock", "dput"]
    assert site.inner.file.endswith("toy_kernel.c")
    assert sites[0xFFFF_FFFF_8123_4567].function == "0xffffffff81234567"


def test_extract(toy: Toy, tmp_path: Path) -> None:
    toy.write_run(tmp_path / "run")
    write_run_tables(tmp_path / "run", toy.vmlinux)
    types = {row["paddr"]: row for row in pq.read_table(tmp_path / "run" / "memory-types.parquet").to_pylist()}
    hot = types[toy.lockref() // 64 * 64]
    assert (hot["kind"], hot["name"], hot["type"], hot["instance"]) == ("slab", "dentry", "struct dentry", "shared-file")
    assert hot["field"] == "dentry.d_lockref.lock_count"
    assert hot["offset"] == toy.lockref() // 64 * 64 - toy.dentry
    assert types[toy.mystery]["field"] == "mystery.users"
    assert types[toy.mystery]["type_inferred"]
    assert types[places.UNITS + 0x8000]["cpu"] == 1
    assert types[places.FREE]["type"] is None
    sites = pq.read_table(tmp_path / "run" / "sites.parquet").to_pylist()
    assert sites[0]["field"] == "dentry.d_lockref.lock_count"
    assert (sites[0]["function"], sites[0]["file"].endswith("toy_kernel.c")) == ("dput", True)
    assert next(site for site in sites if not site["kernel"])["function"] == "user"
    lines = pq.read_table(tmp_path / "run" / "lines.parquet")
    assert lines.column("atomics").null_count == lines.num_rows
    assert lines.schema.metadata[b"engine"] == b"fast"
    matrix = pq.read_table(tmp_path / "run" / "matrix.parquet").to_pylist()
    assert [row["kind"] for row in matrix] == ["write", "write", "data from core"]
    samples = pq.read_table(tmp_path / "run" / "samples.parquet").to_pylist()
    assert [(row["function"], row["count"]) for row in samples] == [("dput", 23), ("user", 5)]


def test_extract_twice_gives_the_same_bytes(toy: Toy, tmp_path: Path) -> None:
    for name in ("a", "b"):
        toy.write_run(tmp_path / name)
        write_run_tables(tmp_path / name, toy.vmlinux)
    for path in sorted((tmp_path / "a").glob("*.parquet")):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_snapshot_of_another_kernel(toy: Toy, tmp_path: Path) -> None:
    toy.write_run(tmp_path / "run")
    memory = bytearray((tmp_path / "run" / "engine" / "memory.elf").read_bytes())
    place = memory.index(b"Linux version 0.0-toy")
    memory[place : place + 5] = b"Minix"
    (tmp_path / "run" / "engine" / "memory.elf").write_bytes(memory)
    with pytest.raises(Failure, match="is not of the kernel") as raised:
        write_run_tables(tmp_path / "run", toy.vmlinux)
    assert raised.value.outcome == Outcome.BAD_INPUT


def test_vmlinux_without_debug_information(toy: Toy, tmp_path: Path) -> None:
    toy.write_run(tmp_path / "run")
    stripped = tmp_path / "stripped"
    stripped.write_bytes(toy.vmlinux.read_bytes().replace(b".debug_info\0", b".xebug_info\0"))
    with pytest.raises(Failure, match="no usable debug information"):
        write_run_tables(tmp_path / "run", stripped)

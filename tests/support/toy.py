# SPDX-License-Identifier: BSD-3-Clause
"""A made-up guest: toy_kernel.c compiled, and a memory in which it left objects at known places.

32 MiB of memory, two CPUs, mapped as x86-64 Linux does it: direct map, memmap, vmalloc and kernel image, each by another size
of page.
"""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import drgn
import numpy as np
from records_file import write_records
from snapshot_file import write_snapshot

from analysis.attribute.guest_kernel import load_debug_info
from analysis.attribute.symbol_table import SymbolTable

HERE = Path(__file__).parent
DIRECT, VMEMMAP, VMALLOC, TEXT = 0xFFFF_8880_0000_0000, 0xFFFF_EA00_0000_0000, 0xFFFF_C900_0000_0000, 0xFFFF_FFFF_8000_0000
BYTES = 32 << 20

IMAGE, MEMMAP = 0x100_0000, 0x80_0000
UNITS = 0x40_0000
DENTRIES, INODES, MYSTERIES, TASKS, CACHES, NAMES = 0x50_0000, 0x50_2000, 0x50_3000, 0x50_4000, 0x50_5000, 0x50_6000
PACKETS, BUFFERS, FILES = 0x50_8000, 0x50_9000, 0x50_A000
ANONYMOUS, FILE_PAGE, FREE, SUPER = 0x60_0000, 0x60_1000, 0x60_2000, 0x50_7000
STACK, USER_TOP, USER_TABLE = 0x70_0000, 0x71_0000, 0x71_1000
DEVICES, VECTORS, RINGS, DESCRIPTORS, RING_BUFFERS, PACKET_PAGE = (0x51_0000 + 0x2000 * number for number in range(6))
VMALLOC_PAGES = (0x30_0000, 0x30_2000)
CYCLES = {
    "instruction": 200,
    "l1": 100,
    "pause": 50,
    "l2": 20,
    "l3": 30,
    "same_socket": 50,
    "other_socket": 340,
    "upgrade": 100,
    "dram_local": 40,
    "dram_remote": 60,
    "card": 10,
    "idle": 0,
}
"""Where each core's cycles go, in thousands."""


def compile_kernel(folder: Path, *, old: bool = False) -> Path:
    """Compile the toy kernel; ``old`` gives the structures of 2.6.35."""
    vmlinux = folder / "vmlinux"
    flags = "-g -O1 -mcmodel=kernel -fno-pic -fno-pie -ffreestanding -fno-stack-protector -fno-eliminate-unused-debug-types"
    link = f"-nostdlib -static -no-pie -Wl,-T,{HERE}/toy_kernel.ld -Wl,--build-id=none -Wl,--no-warn-rwx-segments"
    sources = [str(HERE / "toy_kernel.c"), str(HERE / "toy_driver.c")]
    subprocess.run(
        ["gcc", *flags.split(), *link.split(), *(["-DOLD"] if old else []), *sources, "-o", str(vmlinux)],
        check=True,
        capture_output=True,
    )
    return vmlinux


@dataclass
class Toy:
    """The guest; addresses are physical. ``write`` makes the files a run directory has under ``engine/``."""

    vmlinux: Path
    memory: bytearray = field(default_factory=lambda: bytearray(BYTES))

    def __post_init__(self) -> None:
        self.types = load_debug_info(self.vmlinux)
        self.symbols = SymbolTable(self.vmlinux)
        self.old = "slab" in [member.name for member in _flat(self.types.type("struct page"))]
        self._flags = {e.name: e.value for e in self.types.type("enum pageflags").enumerators or []}
        self._load_image()
        self._map()
        self._layout_pages()
        self._objects()

    # ---- writing -------------------------------------------------------------------------------------------------------------

    def at(self, type_name: str, path: str) -> int:
        """Offset of a member."""
        return int(drgn.offsetof(self.types.type(type_name), path))

    def size(self, type_name: str) -> int:
        """Bytes of a type."""
        return int(drgn.sizeof(self.types.type(type_name)))

    def symbol(self, name: str) -> int:
        """Physical address of a variable in the image."""
        address = self.symbols.address(name)
        assert address is not None, name
        return address - TEXT

    def word(self, address: int, value: int, size: int = 8) -> None:
        """Store a number."""
        self.memory[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def put(self, type_name: str, address: int, **values: int) -> None:
        """Store members of an object; a double underscore in a name is a dot."""
        for name, value in values.items():
            path = name.replace("__", ".")
            kind = self.types.type(type_name)
            for part in path.split("."):
                kind = next(member for member in _flat(kind) if member.name == part).type
            self.word(address + self.at(type_name, path), value, int(drgn.sizeof(kind)))

    def text(self, address: int, value: str) -> int:
        """Store a string; its direct-map address."""
        self.memory[address : address + len(value) + 1] = value.encode() + b"\0"
        return DIRECT + address

    # ---- the guest -----------------------------------------------------------------------------------------------------------

    def _load_image(self) -> None:
        data = self.vmlinux.read_bytes()
        offset, size, count = int.from_bytes(data[32:40], "little"), 56, int.from_bytes(data[56:58], "little")
        for index in range(count):
            header = np.frombuffer(data, "<u8", 7, offset + index * size)
            position, virtual, stored = int(header[1]), int(header[2]), int(header[4])
            if int(header[0]) & 0xFFFF_FFFF == 1 and virtual >= TEXT:
                self.memory[virtual - TEXT : virtual - TEXT + stored] = data[position : position + stored]

    def _map(self) -> None:
        top = self.symbol("init_top_pgt")
        self.word(top, 0)
        tables = iter(range(0x10_0000, 0x11_0000, 0x1000))

        def link(table: int, index: int) -> int:
            entry = int.from_bytes(self.memory[table + 8 * index : table + 8 * index + 8], "little")
            if entry:
                return entry & ~0xFFF
            fresh = next(tables)
            self.word(table + 8 * index, fresh | 0x63)
            return fresh

        def indices(virtual: int) -> tuple[int, int, int, int]:
            return virtual >> 39 & 511, virtual >> 30 & 511, virtual >> 21 & 511, virtual >> 12 & 511

        a, b, _, _ = indices(DIRECT)
        self.word(link(top, a) + 8 * b, 0xE3)  # 1 GiB at 0
        a, b, c, _ = indices(VMEMMAP)
        self.word(link(link(top, a), b) + 8 * c, MEMMAP | 0xE3)
        a, b, c, _ = indices(TEXT + IMAGE)
        self.word(link(link(top, a), b) + 8 * c, IMAGE | 0xE3)
        for number, frame in enumerate(VMALLOC_PAGES):
            a, b, c, d = indices(VMALLOC + number * 4096)
            self.word(link(link(link(top, a), b), c) + 8 * d, frame | 0x63)
        self.tables = range(0x10_0000, next(tables), 4096)

    def page(
        self, address: int, *, flags: tuple[str, ...] = (), count: int = 1, mapping: int = 0, cache: int = 0, head: int = 0
    ) -> None:
        """Fill in the struct page of the page at ``address``; ``head`` makes it a tail page of the page there."""
        entry = MEMMAP + address // 4096 * 64
        bits = sum(1 << self._flags[flag] for flag in flags)
        if head:
            link = VMEMMAP + head // 4096 * 64
            bits |= 1 << self._flags["PG_tail"] if self.old else 0
            self.put("struct page", entry, flags=bits)
            self.put("struct page", entry, **({"first_page": link} if self.old else {"compound_head": link + 1}))
            return
        self.put("struct page", entry, flags=bits, **({"_count": count} if self.old else {"_refcount": count}))
        if cache and self.old:
            self.put("struct page", entry, slab=DIRECT + cache)
        elif cache:
            self.put("struct slab", entry, slab_cache=DIRECT + cache)
        else:
            self.put("struct page", entry, mapping=mapping)

    def _layout_pages(self) -> None:
        reserved = [
            *range(IMAGE, IMAGE + 0x10000, 4096),
            *self.tables,
            *range(UNITS, UNITS + 0x10000, 4096),
            *range(MEMMAP, MEMMAP + BYTES // 64, 4096),
        ]
        for address in reserved:
            self.page(address, flags=("PG_reserved",))
        self.page(STACK)
        for address in (USER_TOP, USER_TABLE, SUPER, NAMES, *VMALLOC_PAGES):
            self.page(address)

    def cache(self, number: int, name: str, stride: int) -> int:
        """Make the struct kmem_cache ``number``; its physical address."""
        address = CACHES + number * 64
        label = self.text(NAMES + number * 32, name)
        self.put("struct kmem_cache", address, size=stride, name=label, **{"objsize" if self.old else "object_size": stride})
        return address

    def _objects(self) -> None:
        self.dentry_stride, self.inode_stride, self.task_stride = 96, 128, 128
        dentries = self.cache(0, "dentry", self.dentry_stride)
        self.page(DENTRIES, flags=("PG_slab",), cache=dentries)
        self.page(DENTRIES + 4096, head=DENTRIES)
        # Object 43 lies across the two pages of its slab.
        self.dentry = DENTRIES + 43 * self.dentry_stride
        self.put("struct dentry", self.dentry, d_name__name=self.text(NAMES + 0x800, "shared-file"))

        self.page(INODES, flags=("PG_slab",), cache=self.cache(1, "shmem_inode_cache", self.inode_stride))
        self.inode = INODES + 3 * self.inode_stride
        inner = self.inode + self.at("struct shmem_inode_info", "vfs_inode")
        self.put("struct inode", inner, i_ino=77, i_sb=DIRECT + SUPER)
        self.put("struct super_block", SUPER, s_type=DIRECT + SUPER + 64)
        self.put("struct file_system_type", SUPER + 64, name=self.text(NAMES + 0x840, "tmpfs"))
        self.put("struct inode", inner, i_dentry__first=DIRECT + self.dentry + self.at("struct dentry", "d_alias"))
        mapping = inner + self.at("struct inode", "i_data")
        self.put("struct address_space", mapping, host=DIRECT + inner)

        self.page(MYSTERIES, flags=("PG_slab",), cache=self.cache(2, "kmalloc-64", 64))
        self.mystery = MYSTERIES + 5 * 64
        self._untyped()
        self._network_card()
        self.page(PACKETS, flags=("PG_slab",), cache=self.cache(5, "skbuff_head_cache", 64))
        self.page(BUFFERS, flags=("PG_slab",), cache=self.cache(6, "kmalloc-256", 256))
        self.packet = BUFFERS + 256
        self.put("struct sk_buff", PACKETS + 128, head=DIRECT + self.packet, data=DIRECT + self.packet + 64)
        self.page(TASKS, flags=("PG_slab",), cache=self.cache(3, "task_struct", self.task_stride))
        self.page(CACHES, flags=("PG_slab",), cache=self.cache(4, "kmem_cache", 64))
        self.task = TASKS + 2 * self.task_stride
        self._link_task()

        self.page(ANONYMOUS, mapping=0xFFFF_8880_0012_3401)
        self.page(FILE_PAGE, mapping=DIRECT + mapping)
        self.page(FREE, count=0)

        offsets = self.symbol("__per_cpu_offset")
        for cpu in range(2):
            self.word(offsets + 8 * cpu, DIRECT + UNITS + cpu * 0x8000)
            self.put("struct rq", UNITS + cpu * 0x8000, idle=TEXT + self.symbol("init_task"))
        self.word(self.symbol("inode_hashtable"), VMALLOC + 4096)

    def _untyped(self) -> None:
        """Three kmalloc objects that a ``void *`` leads to: a super block's, a file's and a device's; a second file has none."""
        self.of_super_block, self.of_file, self.of_device = (self.mystery + number * 64 for number in (5, 6, 7))
        self._link("super_blocks", SUPER + self.at("struct super_block", "s_list"))
        self.put("struct super_block", SUPER, s_fs_info=DIRECT + self.of_super_block)
        self.page(FILES, flags=("PG_slab",), cache=self.cache(7, "filp", 32))
        for place, operations, target in ((32, "eventpoll_fops", self.of_file), (64, "other_fops", self.of_file + 128)):
            self.put("struct file", FILES + place, f_op=TEXT + self.symbol(operations), private_data=DIRECT + target)
        device, driver = SUPER + 512, SUPER + 768
        self._link("devices", device + self.at("struct device", "kobj.entry"))
        self.put("struct device_driver", driver, name=self.text(NAMES + 0x880, "sd"))
        self.put("struct device", device, driver=DIRECT + driver)
        if self.old:
            self.put("struct device", device, p=DIRECT + SUPER + 1024)
            self.put("struct device_private", SUPER + 1024, driver_data=DIRECT + self.of_device)
        else:
            self.put("struct device", device, driver_data=DIRECT + self.of_device)

    def _network_card(self) -> None:
        """A network device of a known driver, with a receive ring of 64 descriptors, and a transmit ring without any."""
        device, private = DEVICES + 512, DEVICES + 512 + -(-self.size("struct net_device") // 32) * 32
        self.page(DEVICES, flags=("PG_slab",), cache=self.cache(8, "kmalloc-512", 512))
        self.page(VECTORS, flags=("PG_slab",), cache=self.cache(9, "kmalloc-192", 192))
        self.page(RINGS, flags=("PG_slab",), cache=self.cache(10, "kmalloc-96", 96))
        for page in (DESCRIPTORS, RING_BUFFERS, PACKET_PAGE):
            self.page(page)
        self._link("init_net", device + self.at("struct net_device", "dev_list"))
        self.put("struct net_device", device, netdev_ops=TEXT + self.symbol("ixgbe_netdev_ops"))
        vector = VECTORS + 192
        each = self.size("struct ixgbe_ring")
        first = RINGS + 96 if self.old else vector + self.size("struct ixgbe_q_vector")
        second = RINGS + 192 if self.old else first + each
        self.put("struct ixgbe_ring", first, count=64)
        self.put("struct ixgbe_ring", second, count=64, desc=DIRECT + DESCRIPTORS, rx_buffer_info=DIRECT + RING_BUFFERS)
        self.word(private + self.at("struct ixgbe_adapter", "q_vector"), DIRECT + vector)
        self.word(private + self.at("struct ixgbe_adapter", "tx_ring"), DIRECT + first)
        self.word(private + self.at("struct ixgbe_adapter", "rx_ring"), DIRECT + second)
        self.put("struct ixgbe_adapter", private, num_tx_queues=1, num_rx_queues=1)
        buffer = RING_BUFFERS + 3 * self.size("struct ixgbe_rx_buffer")
        self.put("struct ixgbe_rx_buffer", buffer, page=VMEMMAP + PACKET_PAGE // 4096 * 64)
        self.adapter, self.ring = private, second

    def _link(self, variable: str, entry: int) -> None:
        """Make the struct list_head ``variable`` a list of one entry."""
        head = self.symbol(variable)
        for here, there in ((head, DIRECT + entry), (entry, TEXT + head)):
            self.put("struct list_head", here, next=there, prev=there)

    def _link_task(self) -> None:
        """One task besides init_task: in its list, with a stack, its own page table and a pointer to the mystery."""
        tasks, threads = self.at("struct task_struct", "tasks"), self.at("struct task_struct", "thread_group")
        init, here = TEXT + self.symbol("init_task"), DIRECT + self.task
        self.put("struct task_struct", self.symbol("init_task"), tasks__next=here + tasks, tasks__prev=here + tasks)
        self.put("struct task_struct", self.task, tasks__next=init + tasks, tasks__prev=init + tasks)
        self.put("struct task_struct", self.task, thread_group__next=here + threads, thread_group__prev=here + threads)
        self.put("struct task_struct", self.task, pid=42, stack=DIRECT + STACK, secret=DIRECT + self.mystery)
        self.text(self.task + self.at("struct task_struct", "comm"), "worker")
        mm = self.mystery + 64
        self.put("struct task_struct", self.task, mm=DIRECT + mm)
        self.put("struct mm_struct", mm, pgd=DIRECT + USER_TOP)
        self.word(USER_TOP, USER_TABLE | 0x67)

    # ---- files ---------------------------------------------------------------------------------------------------------------

    def write_memory(self, path: Path) -> None:
        """memory.elf without the pages of zeros."""
        pages = np.frombuffer(self.memory, np.uint64).reshape(-1, 512).any(axis=1)
        edges = np.nonzero(np.diff(np.concatenate([[0], pages.astype(np.int8), [0]])))[0].reshape(-1, 2)
        runs = [(int(a) * 4096, bytes(self.memory[int(a) * 4096 : int(b) * 4096])) for a, b in edges]
        write_snapshot(path, runs)

    def lockref(self) -> int:
        """Physical address of the hot dentry's lockref."""
        return self.dentry + self.at("struct dentry", "d_lockref")

    def write_run(self, folder: Path, *, cores: int = 48, transfers: int = 10_007) -> None:
        """``engine/`` of a run in which the dentry's lockref moves ``transfers`` times and some other lines a little."""
        (folder / "engine").mkdir(parents=True)
        (folder / "point.toml").write_text(f'id = "toy"\ncores = {cores}\n[machine]\nname = "opteron-8431"\nclock_ghz = 2.4\n')
        self.write_memory(folder / "engine" / "memory.elf")
        code = self.symbols.address("dput")
        assert code is not None
        places = {
            self.lockref(): transfers,
            self.inode + self.at("struct shmem_inode_info", "vfs_inode.i_lock"): 500,
            self.mystery + 8: 50,
            self.symbol("futexes") + 20: 40,
            UNITS + 0x8000: 30,
            ANONYMOUS + 128: 20,
            FREE: 1,
        }
        lines = sorted(address // 64 * 64 for address in places)
        sites = sorted(places, key=lambda address: address // 64)
        moved = [places[address] for address in sites]
        everyone = (1 << cores) - 1
        zero = [0] * len(lines)
        counts = {
            "l3_hits": zero,
            "transfers_same_socket": [count // 10 for count in moved],
            "transfers_other_socket": moved,
            "dram_local": zero,
            "dram_remote": [1] * len(lines),
            "upgrades": [count // 3 for count in moved],
            "cycles": [count * 350 for count in moved],
        }
        write_records(
            folder / "engine" / "records.bin",
            {
                "lines": {
                    "paddr": lines,
                    "vaddr": [DIRECT + line for line in lines],
                    "kernel": [1] * len(lines),
                    "l1_misses": moved,
                    **counts,
                    "cores": [everyone] * len(lines),
                    "writers": [1] * len(lines),
                },
                "sites": {
                    "paddr": lines,
                    "pc": [0x40_1000 if address // 4096 == ANONYMOUS // 4096 else code for address in sites],
                    "kernel": [0 if address // 4096 == ANONYMOUS // 4096 else 1 for address in sites],
                    "offset": [address % 64 for address in sites],
                    "size": [4] * len(sites),
                    "cores": [everyone] * len(sites),
                    "accesses": moved,
                    "writes": moved,
                    **counts,
                },
                "matrix": {
                    "home": [0, 0, 1],
                    "requester": [0, 1, 1],
                    "kind": [1, 1, 5],
                    "messages": [100, 23, 7],
                    "bytes": [800, 184, 560],
                },
                "cores": {
                    "core": list(range(cores)),
                    "cycles": [1_000_000] * cores,
                    **{f"{part}_cycles": [1000 * thousands] * cores for part, thousands in CYCLES.items()},
                },
                "samples": {"core": [0, 1], "pc": [code, 0x40_1000], "kernel": [1, 0], "count": [23, 5]},
            },
            roi_cycles=1_000_000,
        )


def _flat(kind: drgn.Type) -> list[Any]:
    """Members of a structure, those of its unnamed members in their place."""
    found, waiting = [], list(kind.members or [])
    while waiting:
        member = waiting.pop()
        if member.name is None:
            waiting += member.type.members or []
        else:
            found.append(member)
    return found

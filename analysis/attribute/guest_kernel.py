# SPDX-License-Identifier: BSD-3-Clause
"""The guest's kernel as a program: its debug information (vmlinux) over its memory (the snapshot), through drgn's core.

drgn's helpers for Linux are not used: they do not know 2.6.35. Only its type, object and line-table readers are.
"""

from collections.abc import Iterator
from pathlib import Path

import drgn

from analysis.attribute.snapshot import AddressSpace, Snapshot
from analysis.attribute.symbol_table import SymbolTable
from analysis.attribute.walks import Walks
from common.outcome import Failure, bad_input

_TEXT_MAPPING = 0xFFFF_FFFF_8000_0000  # __START_KERNEL_map: where x86-64 maps the kernel image, since 2.6
_ADDRESS_MASK = 0xFFFF_FFFF_FFFF_FFFF

# The kernel's own top-level page table, by the names it has had.
_TOP_TABLES = ["init_top_pgt", "init_level4_pgt", "swapper_pg_dir"]


def load_debug_info(vmlinux: Path) -> drgn.Program:
    """A program with the types, variables and line tables of ``vmlinux``, and no memory.

    Raises:
        Failure: bad-input, if the file has no debug information.
    """
    program = drgn.Program(drgn.Platform(drgn.Architecture.X86_64))
    try:
        module = program.extra_module("vmlinux", create=True)
        module.try_file(str(vmlinux), force=True)
        # Given only now: a module that has a range when its file arrives would be moved to the range's start.
        module.address_ranges = [(_TEXT_MAPPING, _ADDRESS_MASK)]
        program.type("struct task_struct")
    except (OSError, LookupError, ValueError, drgn.MissingDebugInfoError) as error:
        raise bad_input(
            f"The kernel {vmlinux} has no usable debug information ({error}).", "Build it with CONFIG_DEBUG_INFO."
        ) from None
    return program


class GuestKernel:
    """A vmlinux with the memory it ran in.

    ``program`` is drgn's view (virtual memory and types), ``memory`` the kernel's address space, ``symbols`` the symbol table,
    ``walks`` counts the walks through its memory that were given up.
    ``phys_base`` is what to subtract from a kernel-image address (besides the mapping's base) to get a physical one: 0 unless
    the boot loader moved the kernel.

    Raises:
        Failure: bad-input, when the snapshot was not taken of this kernel.
    """

    def __init__(self, vmlinux: Path, snapshot: Snapshot) -> None:
        self.vmlinux = vmlinux
        self.snapshot = snapshot
        self.walks = Walks()
        self.symbols = SymbolTable(vmlinux)
        self._check_banner()
        self.memory = AddressSpace(snapshot, self.image_physical(self._top_table()), 5 if self._five_levels() else 4)
        self.program = load_debug_info(vmlinux)
        self.program.add_memory_segment(0, _ADDRESS_MASK, self._read_virtual)
        self.direct_map = self._find_direct_map()
        self.vmemmap = self._find_vmemmap()

    def image_physical(self, address: int) -> int:
        """Physical address of an address inside the kernel image."""
        return address - _TEXT_MAPPING

    def _mismatch(self, what: str) -> Failure:
        return bad_input(
            f"The memory snapshot {self.snapshot.path} is not of the kernel {self.vmlinux}: {what}.",
            "Give the vmlinux named in the run's provenance.json (and boot with nokaslr).",
        )

    def _check_banner(self) -> None:
        address = self.symbols.address("linux_banner")
        if address is None:
            raise bad_input(f"{self.vmlinux} has no symbol linux_banner.", "Give the vmlinux of a Linux kernel.")
        found = self.snapshot.read(self.image_physical(address), 14)
        if not found.startswith(b"Linux version "):
            raise self._mismatch(f"no kernel banner at {self.image_physical(address):#x}")

    def _top_table(self) -> int:
        for name in _TOP_TABLES:
            if (address := self.symbols.address(name)) is not None:
                return address
        raise bad_input(f"{self.vmlinux} has none of the symbols {', '.join(_TOP_TABLES)}.", "Give an x86-64 vmlinux.")

    def _five_levels(self) -> bool:
        address = self.symbols.address("__pgtable_l5_enabled")
        return address is not None and any(self.snapshot.read(self.image_physical(address), 4))

    def _read_virtual(self, address: int, count: int, offset: int, physical: bool) -> bytes:
        data = self.memory.read(address, count)
        if data is None:
            raise drgn.FaultError("not mapped in the kernel's page table", address)
        return data

    def _quadword(self, symbol: str) -> int | None:
        address = self.symbols.address(symbol)
        data = None if address is None else self.memory.read(address, 8)
        return None if data is None else int.from_bytes(data, "little")

    def _find_direct_map(self) -> int:
        """Start of the direct map: page_offset_base where the kernel has it, else the first region that maps physical 0."""
        base = self._quadword("page_offset_base")
        if base:
            return base
        for index in range(256, 512):
            address = 0xFFFF_0000_0000_0000 | index << 39
            if self.memory.translate(address) == 0:
                return address
        raise self._mismatch("its page table has no direct map")

    def _find_vmemmap(self) -> int:
        # Fixed on kernels without address-space randomisation: Documentation/x86/x86_64/mm.rst.
        return self._quadword("vmemmap_base") or 0xFFFF_EA00_0000_0000

    def list_entries(self, head: drgn.Object, type_name: str, member: str) -> Iterator[drgn.Object]:
        """The objects of type ``type_name`` linked by ``member`` into the struct list_head ``head`` (not a pointer).

        Raises:
            drgn.FaultError: a link leads to memory that is not mapped.
        """
        start = head.address_
        assert start is not None
        kind = self.program.type(type_name)
        offset = drgn.offsetof(kind, member)
        address = head.next.value_()
        seen: set[int] = set()
        while address != start:
            if address in seen:  # a ring that does not lead back to the head
                self.walks.give_up(f"list of {type_name}")
                return
            seen.add(address)
            entry = drgn.Object(self.program, kind, address=address - offset)
            address = entry.subobject_(member).next.value_() if "." in member else getattr(entry, member).next.value_()
            yield entry

    def has_type(self, name: str) -> bool:
        """Whether the debug information has the type ``name`` (as in C: ``struct page``, ``spinlock_t``)."""
        try:
            self.program.type(name)
        except LookupError:
            return False
        return True

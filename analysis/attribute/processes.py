# SPDX-License-Identifier: BSD-3-Clause
"""What files processes have mapped, and where: from the ``struct mm_struct`` of all that are alive in the snapshot."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import drgn
from drgn.helpers.linux.mm import for_each_vma

from analysis.attribute.fields import has_member
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.snapshot import AddressSpace
from analysis.attribute.tasks import Task

USER_END = 1 << 47
_MAPPINGS = "files of processes"  # what walks look for, as a reader of the run is told
_MOST = 1 << 16  # mappings of a process, as sysctl vm.max_map_count has it by default, rounded up; more is a list gone wrong
_DEEPEST = 256  # folders above a file
_INIT = 1  # waits for the job to end, in code at the same addresses as that of other static programs
_VM_EXEC = 4  # include/linux/mm.h, the same in 2.6.35 and 6.1


@dataclass(frozen=True)
class Mapping:
    """User addresses [start, end). ``file`` is the path in its file system from byte ``offset`` on, empty without one;
    ``file_system`` its type, for example ext2."""

    start: int
    end: int
    is_code: bool
    file: str = ""
    file_system: str = ""
    offset: int = 0


class Process:
    """The mappings of one address space, sorted, and how many tasks have it."""

    def __init__(self, name: str, mappings: Iterable[Mapping], memory: AddressSpace | None) -> None:
        self.name = name
        self.mappings = sorted(mappings, key=lambda mapping: mapping.start)
        self._starts = [mapping.start for mapping in self.mappings]
        self._memory = memory
        self._first_of_file: dict[int, Mapping | None] = {}

    def at(self, address: int) -> Mapping | None:
        """The mapping that holds ``address``."""
        index = bisect_right(self._starts, address) - 1
        return self.mappings[index] if index >= 0 and address < self.mappings[index].end else None

    def first_of_file(self, address: int) -> Mapping | None:
        """Where the file that ``address`` may be data of begins; None where no file is mapped there or before.

        What a file's data lacks in the file (.bss) is memory behind it without a file.
        """
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self.mappings[index].end:
            return None
        if index not in self._first_of_file:  # a process may have thousands of mappings side by side
            self._first_of_file[index] = self._find_first_of_file(index)
        return self._first_of_file[index]

    def _find_first_of_file(self, index: int) -> Mapping | None:
        while index > 0 and not self.mappings[index].file and self.mappings[index - 1].end == self.mappings[index].start:
            index -= 1
        file = self.mappings[index].file
        while index > 0 and file and self.mappings[index].offset and self.mappings[index - 1].file == file:
            index -= 1
        return self.mappings[index] if file and not self.mappings[index].offset else None

    def has_page(self, address: int) -> bool:
        """Whether the page of ``address`` is in memory for this process: where it is not, the process cannot have been there."""
        return self._memory is None or self._memory.translate(address) is not None


def find_processes(kernel: GuestKernel, tasks: Iterable[Task]) -> list[Process]:
    """One for each address space of ``tasks`` but that of process 1.

    None of a kernel whose debug information does not say what is mapped.
    """
    memory_map = kernel.program.type("struct mm_struct")
    if not (has_member(memory_map, "mm_mt") or has_member(memory_map, "mmap")):
        return []
    found: dict[int, Process] = {}
    files = _Files()
    for task in tasks:
        if not task.mm or task.mm in found or task.pid == _INIT:
            continue
        mappings: list[Mapping] = []
        with kernel.walks.attempt(_MAPPINGS):
            try:
                mappings.extend(_mappings(kernel, task.mm, files))
            except (LookupError, NotImplementedError, ValueError):  # a tree that was half changed when the snapshot was taken
                kernel.walks.give_up(_MAPPINGS)
        root = kernel.memory.translate(task.pgd)
        memory = None if root is None else AddressSpace(kernel.snapshot, root, kernel.memory.levels)
        found[task.mm] = Process(task.name, mappings, memory)
    return list(found.values())


def _mappings(kernel: GuestKernel, mm: int, files: "_Files") -> Iterator[Mapping]:
    pointer = drgn.Object(kernel.program, "struct mm_struct *", value=mm)
    for count, area in enumerate(for_each_vma(pointer)):
        if count == _MOST:
            kernel.walks.give_up(_MAPPINGS)
            return
        start, end, is_code = area.vm_start.value_(), area.vm_end.value_(), bool(area.vm_flags.value_() & _VM_EXEC)
        if area.vm_file.value_():
            name, file_system = files.of(area.vm_file)
            yield Mapping(start, end, is_code, name, file_system, area.vm_pgoff.value_() << 12)
        else:
            yield Mapping(start, end, is_code)


class _Files:
    """Paths of open files, each looked up once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, str]] = {}

    def of(self, file: drgn.Object) -> tuple[str, str]:
        """(path in its file system, type of that) of a ``struct file *``."""
        entry = file.f_path.dentry
        address = entry.value_()
        if address not in self._known:
            self._known[address] = (_path(entry), entry.d_sb.s_type.name.string_().decode(errors="replace"))
        return self._known[address]


def _path(entry: drgn.Object) -> str:
    parts: list[str] = []
    for _ in range(_DEEPEST):
        if entry.d_parent.value_() == entry.value_():
            break
        parts.append(entry.d_name.name.string_().decode(errors="replace"))
        entry = entry.d_parent
    return "/" + "/".join(reversed(parts))

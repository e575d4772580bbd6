# SPDX-License-Identifier: BSD-3-Clause
"""Tasks: their stacks, and the page tables of their processes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import drgn
import numpy as np

from analysis.attribute.areas import Area
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.snapshot import PAGE, AddressSpace
from analysis.attribute.subjects import I64, Kind, Located, Place, Subject, Subjects

_TASKS = "tasks"  # what walks look for, as a reader of the run is told

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_USER_END = 1 << 47


@dataclass(frozen=True)
class Task:
    """A task: ``stack`` is a kernel virtual address, ``mm`` that of its own address space and ``pgd`` that of the top page
    table of it (0: a kernel thread)."""

    pid: int
    name: str
    stack: int
    mm: int
    pgd: int


def find_tasks(kernel: GuestKernel, per_cpu_offsets: Iterable[int]) -> list[Task]:
    """All threads, the idle ones included."""
    program = kernel.program
    found: dict[int, Task] = {}

    def add(task: drgn.Object) -> None:
        if task.address_ in found:
            return
        mm = task.mm.value_()
        pgd = task.mm.pgd.value_() if mm else 0
        name = task.comm.string_().decode(errors="replace")
        assert task.address_ is not None
        found[task.address_] = Task(int(task.pid), name, task.stack.value_(), mm, pgd)

    init = program["init_task"]
    add(init)
    with kernel.walks.attempt(_TASKS):
        for process in kernel.list_entries(init.tasks, "struct task_struct", "tasks"):
            with kernel.walks.attempt(_TASKS):
                add(process)
                for thread in kernel.list_entries(process.thread_group, "struct task_struct", "thread_group"):
                    add(thread)
    queue = program["runqueues"]
    for offset in per_cpu_offsets:
        here = drgn.Object(program, queue.type_, address=((queue.address_ or 0) + offset) & _MASK)
        with kernel.walks.attempt(_TASKS):
            if here.idle.value_():  # a CPU that never came up has none
                add(here.idle[0])
    return list(found.values())


def task_stacks(kernel: GuestKernel, tasks: Iterable[Task]) -> Iterator[Area]:
    """One area per kernel stack."""
    size = _stack_size(kernel)
    image = kernel.symbols.address("_text") or 0
    for task in tasks:
        if 0 < task.stack < image:
            yield Area(task.stack, task.stack + size, Kind.STACK, f"{task.name}/{task.pid}")


def _stack_size(kernel: GuestKernel) -> int:
    """THREAD_SIZE: the first task's stack between two labels of the linker script, before 4.16 ``union thread_union``."""
    start, end = kernel.symbols.address("__start_init_task"), kernel.symbols.address("__end_init_task")
    if start is not None and end is not None:
        return end - start
    return int(drgn.sizeof(kernel.program.type("union thread_union")))


class PageTables:
    """Every page table: the kernel's and those of all tasks that are alive. ``frames`` are their frame numbers, sorted."""

    def __init__(self, kernel: GuestKernel, tasks: Iterable[Task]) -> None:
        self._tables = {frame: (level, "kernel") for frame, level in kernel.memory.tables(0xFFFF_8000_0000_0000, _MASK)}
        seen: set[int] = set()
        for task in tasks:
            if not task.pgd or task.pgd in seen:
                continue
            seen.add(task.pgd)
            root = kernel.memory.translate(task.pgd)
            if root is None:
                kernel.walks.give_up("page tables of tasks")
                continue
            # With page-table isolation the kernel's copy of the top table is this one.
            for frame, level in AddressSpace(kernel.snapshot, root, kernel.memory.levels).tables(0, _USER_END):
                self._tables.setdefault(frame, (level, task.name))
        self.frames = np.array(sorted(self._tables), np.uint64)

    def locate(self, rows: I64, place: Place, subjects: Subjects, result: Located) -> None:
        """Enter the tables, whose frames are the owners, at ``rows`` of ``place``."""
        frames, of_row = np.unique(place.owner[rows], return_inverse=True)
        numbers = [subjects.number(self._subject(int(frame))) for frame in frames]
        result.subject[rows] = np.array(numbers, np.int32)[of_row]
        result.object[rows] = place.va[rows] & ~np.uint64(PAGE - 1)
        result.offset[rows] = (place.va[rows] % np.uint64(PAGE)).astype(np.int64)

    def _subject(self, frame: int) -> Subject:
        level, name = self._tables[frame]
        return Subject(Kind.PAGE_TABLE, f"level {level} of {name}")

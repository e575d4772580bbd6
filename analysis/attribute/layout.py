# SPDX-License-Identifier: BSD-3-Clause
"""Where the kernel keeps what is neither slab nor static: per-CPU units, boot-time arrays, stacks, vmalloc areas, page tables."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import drgn

from analysis.attribute.kernel import GuestKernel
from analysis.attribute.snapshot import AddressSpace

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_USER_END = 1 << 47

# What walks look for, as a reader of the run is told.
_CHUNKS, _TASKS, _AREAS = "per-CPU chunks", "tasks", "vmalloc areas"


@dataclass(frozen=True)
class Area:
    """Kernel virtual addresses [start, end): elements of ``type_name`` if that is known; one CPU's unit if ``cpu`` is set."""

    start: int
    end: int
    kind: str
    name: str
    type_name: str | None = None
    cpu: int | None = None


@dataclass(frozen=True)
class PerCpu:
    """Per-CPU memory: ``offsets[cpu]`` is what the kernel adds to a per-CPU address for that CPU."""

    offsets: dict[int, int]
    static_start: int
    static_end: int
    areas: list[Area]


@dataclass(frozen=True)
class Task:
    """A task: ``stack`` is a kernel virtual address, ``pgd`` that of the top page table of its own mm (0: a kernel thread)."""

    pid: int
    name: str
    stack: int
    pgd: int


def per_cpu(kernel: GuestKernel) -> PerCpu:
    """The per-CPU units of all chunks."""
    program = kernel.program
    table = program["__per_cpu_offset"]
    count = int(program["nr_cpu_ids"])
    start, end = kernel.symbols.address("__per_cpu_start"), kernel.symbols.address("__per_cpu_end")
    assert start is not None and end is not None
    unit = int(program["pcpu_unit_size"])
    offsets = {cpu: int(table[cpu]) for cpu in range(count)}
    bases = {(offset + start) & _MASK for offset in offsets.values()}
    areas = [
        Area((offset + start) & _MASK, ((offset + start) & _MASK) + unit, "per-cpu", "per-CPU", cpu=cpu)
        for cpu, offset in offsets.items()
    ]
    within = program["pcpu_unit_offsets"]
    for chunk_base in _per_cpu_chunks(kernel):
        for cpu in range(count):
            address = chunk_base + int(within[cpu])
            if address not in bases:
                areas.append(Area(address, address + unit, "per-cpu", "per-CPU", cpu=cpu))
    # The reserved and dynamic parts of the first chunk are chunks with a base of their own inside the first units: drop overlaps.
    areas.sort(key=lambda area: area.start)
    kept: list[Area] = []
    for area in areas:
        if not kept or area.start >= kept[-1].end:
            kept.append(area)
    return PerCpu(offsets, start, end, kept)


def _per_cpu_chunks(kernel: GuestKernel) -> Iterator[int]:
    """Base addresses of the chunks that per-CPU allocations come from (mm/percpu.c)."""
    program = kernel.program
    name = "pcpu_chunk_lists" if kernel.symbols.address("pcpu_chunk_lists") is not None else "pcpu_slot"
    try:
        slots, count = program[name], int(program["pcpu_nr_slots"])
        first = int(program["pcpu_unit_offsets"][0])
    except LookupError:  # a kernel that keeps them in another way
        kernel.walks.give_up(_CHUNKS)
        return
    for index in range(count):
        with kernel.walks.attempt(_CHUNKS):
            for chunk in kernel.list_entries(slots[index], "struct pcpu_chunk", "list"):
                base = chunk.base_addr.value_()
                if kernel.memory.translate(base + first) is not None:
                    yield base


def evaluate(kernel: GuestKernel, expression: str) -> drgn.Object:
    """The object an expression of kernel-types.toml names: ``tcp_hashinfo.ehash``, ``node_data[3]``.

    Raises:
        LookupError: the kernel has no such variable or member, or a pointer on the way is null.
        drgn.FaultError: a pointer on the way leads to memory that is not mapped.
    """
    name, *rest = re.findall(r"\w+|\[\d+\]", expression)
    value = kernel.program.variable(name)
    for part in rest:
        if value.type_.kind == drgn.TypeKind.POINTER and not value.value_():
            raise LookupError(f"{expression}: null before {part}")
        value = value[int(part[1:-1])] if part.startswith("[") else value.member_(part)
    return value


def boot_arrays(kernel: GuestKernel, entries: Iterable[dict[str, str]]) -> Iterator[Area]:
    """The arrays of kernel-types.toml that this kernel has."""
    seen: set[int] = set()
    for entry in entries:
        for pointer in _expand(kernel, entry["pointer"]):
            try:
                value = evaluate(kernel, pointer)
                if "since" in entry and entry["since"] not in str(value.type_):
                    continue
                address, element = value.value_(), value.type_.type
                count = _count(kernel, entry)
                size = drgn.sizeof(element)
            except (LookupError, TypeError, ValueError, AttributeError):
                continue  # not of this kernel
            except drgn.FaultError:
                kernel.walks.give_up("boot arrays")
                continue
            if address and address not in seen and 0 < count < 1 << 32:
                seen.add(address)
                while element.kind == drgn.TypeKind.TYPEDEF and element.type.kind != drgn.TypeKind.INT:
                    element = element.type
                yield Area(address, address + count * size, "boot allocation", pointer, element.type_name())


def _expand(kernel: GuestKernel, pointer: str) -> list[str]:
    """``node_data[]`` -> one expression per element of the array."""
    if not pointer.endswith("[]"):
        return [pointer]
    try:
        length = kernel.program.variable(pointer[:-2]).type_.length or 0
    except LookupError:
        return []
    return [f"{pointer[:-2]}[{index}]" for index in range(length)]


def _count(kernel: GuestKernel, entry: dict[str, str]) -> int:
    if "mask" in entry:
        return int(evaluate(kernel, entry["mask"])) + 1
    if "shift" in entry:
        return 1 << int(evaluate(kernel, entry["shift"]))
    if "right_shift" in entry:
        return 1 << (32 - int(evaluate(kernel, entry["right_shift"])))
    return int(entry["count"]) if entry["count"].isdigit() else int(evaluate(kernel, entry["count"]))


def find_tasks(kernel: GuestKernel, cpus: PerCpu) -> list[Task]:
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
        found[task.address_] = Task(int(task.pid), name, task.stack.value_(), pgd)

    init = program["init_task"]
    add(init)
    with kernel.walks.attempt(_TASKS):
        for process in kernel.list_entries(init.tasks, "struct task_struct", "tasks"):
            with kernel.walks.attempt(_TASKS):
                add(process)
                for thread in kernel.list_entries(process.thread_group, "struct task_struct", "thread_group"):
                    add(thread)
    queue = program["runqueues"]
    for offset in cpus.offsets.values():
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
            yield Area(task.stack, task.stack + size, "task stack", f"{task.name}/{task.pid}")


def _stack_size(kernel: GuestKernel) -> int:
    """THREAD_SIZE: the first task's stack between two labels of the linker script, before 4.16 ``union thread_union``."""
    start, end = kernel.symbols.address("__start_init_task"), kernel.symbols.address("__end_init_task")
    if start is not None and end is not None:
        return end - start
    return int(drgn.sizeof(kernel.program.type("union thread_union")))


def vmalloc_areas(kernel: GuestKernel) -> Iterator[Area]:
    """Areas of vmalloc, named by the function that asked for them."""
    program = kernel.program
    with kernel.walks.attempt(_AREAS):
        if kernel.symbols.address("vmap_area_list") is not None:
            for area in kernel.list_entries(program["vmap_area_list"], "struct vmap_area", "list"):
                if area.vm.value_():
                    yield _vm_area(kernel, area.vm)
        elif kernel.symbols.address("vmlist") is not None:  # before 3.10
            vm, seen = program["vmlist"], set[int]()
            while vm.value_():
                if vm.value_() in seen:
                    kernel.walks.give_up(_AREAS)
                    return
                seen.add(vm.value_())
                yield _vm_area(kernel, vm)
                vm = vm.next
        else:  # a kernel that keeps them in another way
            kernel.walks.give_up(_AREAS)


def _vm_area(kernel: GuestKernel, vm: drgn.Object) -> Area:
    caller = kernel.symbols.covering(vm.caller.value_()) if vm.caller.value_() else None
    start = vm.addr.value_()
    return Area(start, start + vm.member_("size").value_(), "vmalloc", f"vmalloc by {caller.name if caller else 'unknown'}")


def page_tables(kernel: GuestKernel, tasks: Iterable[Task]) -> dict[int, tuple[int, str]]:
    """Frame number -> (level, whose) of every page table: the kernel's and those of all tasks that are alive."""
    found = {frame: (level, "kernel") for frame, level in kernel.memory.tables(0xFFFF_8000_0000_0000, _MASK)}
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
            found.setdefault(frame, (level, task.name))
    return found

# SPDX-License-Identifier: BSD-3-Clause
"""Per-CPU memory: its units, and the variables and allocations in them (mm/percpu.c)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.attribute.areas import Area
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.subjects import I64, Inferred, Kind, Located, Place, Subject, Subjects
from analysis.attribute.variables import Variables

_CHUNKS = "per-CPU chunks"  # what walks look for, as a reader of the run is told

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_DYNAMIC = "dynamic per-CPU memory"


@dataclass(frozen=True)
class Units:
    """Per-CPU memory: ``offsets[cpu]`` is what the kernel adds to a per-CPU address for that CPU."""

    offsets: dict[int, int]
    static_start: int
    static_end: int
    areas: list[Area]


def find_units(kernel: GuestKernel) -> Units:
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
        Area((offset + start) & _MASK, ((offset + start) & _MASK) + unit, Kind.PER_CPU, "per-CPU", cpu=cpu)
        for cpu, offset in offsets.items()
    ]
    within = program["pcpu_unit_offsets"]
    for chunk_base in _chunks(kernel):
        for cpu in range(count):
            address = chunk_base + int(within[cpu])
            if address not in bases:
                areas.append(Area(address, address + unit, Kind.PER_CPU, "per-CPU", cpu=cpu))
    # The reserved and dynamic parts of the first chunk are chunks with a base of their own inside the first units: drop overlaps.
    areas.sort(key=lambda area: area.start)
    kept: list[Area] = []
    for area in areas:
        if not kept or area.start >= kept[-1].end:
            kept.append(area)
    return Units(offsets, start, end, kept)


def _chunks(kernel: GuestKernel) -> Iterator[int]:
    """Base addresses of the chunks that per-CPU allocations come from."""
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


class PerCpuObjects:
    """Variables and allocations in per-CPU memory. ``inferred`` has the types that pointers tell (see `PointerScan`)."""

    def __init__(self, units: Units, variables: Variables, subjects: Subjects, inferred: Inferred) -> None:
        self._units = units
        self._variables = variables
        self._subjects = subjects
        self._inferred = inferred

    def locate(self, area: Area, rows: I64, place: Place, result: Located) -> None:
        """Enter what lies in ``area``, the unit of one CPU, at ``rows`` of ``place``."""
        assert area.cpu is not None
        base = np.uint64(self._units.offsets[area.cpu])
        result.cpu[rows] = area.cpu
        for row, cookie in zip(rows, (place.va[rows] - base).tolist(), strict=True):
            result.subject[row], start = self._object(cookie)
            result.offset[row] = cookie - start
        result.object[rows] = place.va[rows] - result.offset[rows].astype(np.uint64)

    def _object(self, cookie: int) -> tuple[int, int]:
        """(subject, start) of the object at an address as the kernel writes per-CPU pointers."""
        if self._units.static_start <= cookie < self._units.static_end:
            return self._variables.at(cookie, Kind.PER_CPU)
        if found := self._inferred.get(cookie):
            return self._subjects.number(Subject(Kind.PER_CPU, _DYNAMIC, found[0], inferred=True)), found[1]
        return self._subjects.number(Subject(Kind.PER_CPU, _DYNAMIC)), cookie

    def untyped_cookie(self, subject: Subject, start: int, cpu: int) -> int | None:
        """How the kernel writes a pointer to the object at ``start``, if it is an allocation whose type is not known."""
        if subject.kind != Kind.PER_CPU or subject.name != _DYNAMIC or subject.type_name is not None:
            return None
        return (start - self._units.offsets[cpu]) & _MASK

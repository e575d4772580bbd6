# SPDX-License-Identifier: BSD-3-Clause
"""What lies at a guest physical address: slab object, static or per-CPU variable, struct page, stack, page table, user memory.

The work is done per page with arrays (a run has millions of lines, a few thousand pages of kernel data) and per distinct
(subject, offset) with drgn. Everything comes from debug information and page tables, so one code serves every x86-64 kernel
with SLUB and a virtual memmap. Each kind of memory has a module of its own; here they are put together.
"""

from collections.abc import Callable

import numpy as np

from analysis.attribute.areas import Areas, locate_elements
from analysis.attribute.boot_arrays import boot_arrays
from analysis.attribute.fields import Fields
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.hashing import distinct
from analysis.attribute.labels import label, labels_in
from analysis.attribute.network_devices import driver_memory
from analysis.attribute.page_cache import PageCache
from analysis.attribute.page_structs import PageStructs
from analysis.attribute.pages import KINDS, PageUse
from analysis.attribute.per_cpu import PerCpuObjects, find_units
from analysis.attribute.pointer_scan import PointerScan
from analysis.attribute.processes import Process, find_processes
from analysis.attribute.slab import SlabCaches, SlabObjects
from analysis.attribute.snapshot import PAGE
from analysis.attribute.subjects import I64, U64, Inferred, Kind, Located, Place, Subject, Subjects
from analysis.attribute.tasks import PageTables, find_tasks, task_stacks
from analysis.attribute.type_data import TypeData, load_type_data
from analysis.attribute.untyped_pointers import UntypedPointers
from analysis.attribute.variables import Variables
from analysis.attribute.vmalloc import vmalloc_areas

_PAGE = np.uint64(PAGE)


class Attribution:
    """Locates physical addresses in a :class:`GuestKernel`. ``subjects`` grows as addresses are located."""

    def __init__(self, kernel: GuestKernel, data: TypeData | None = None) -> None:
        self.kernel = kernel
        self.data = data or load_type_data()
        self.fields = Fields(kernel.program, self.data)
        self.subjects = Subjects()
        driver = driver_memory(kernel, self.data.network_devices)
        self._inferred: Inferred = driver.types
        units = find_units(kernel)
        tasks = find_tasks(kernel, units.offsets.values())
        self._tasks = tasks
        areas = [*units.areas, *driver.areas, *boot_arrays(kernel, self.data.arrays), *task_stacks(kernel, tasks)]
        # A stack is also a vmalloc area, and so are arrays of drivers: what is named first counts.
        covered = {area.start for area in areas}
        self._areas = Areas([*areas, *(area for area in vmalloc_areas(kernel) if area.start not in covered)])
        self._tables = PageTables(kernel, tasks)
        self._pages = PageUse(kernel, self._areas, self._tables.frames)
        self._caches = SlabCaches(kernel, self.fields, self._pages)
        self._slab = SlabObjects(self._caches, self.fields, self.subjects, self._inferred, driver.behind)
        self._variables = Variables(kernel, self.fields, self.subjects)
        self._per_cpu = PerCpuObjects(units, self._variables, self.subjects, self._inferred)
        self._page_structs = PageStructs(kernel, self._pages, self._caches, self.subjects)
        self._page_cache = PageCache(kernel, self.subjects)

    def processes(self) -> list[Process]:
        """The processes that were alive, with what files they have mapped."""
        return find_processes(self.kernel, self._tasks)

    def locate(self, addresses: U64) -> Located:
        """What lies at each guest physical address."""
        result = Located.nowhere(len(addresses))
        if not len(addresses):
            return result
        frames, inverse = distinct(addresses // _PAGE)
        pages = self._pages.of(frames)
        kind = pages.kind[inverse]
        place = Place(pages.va[inverse] + addresses % _PAGE, pages.owner[inverse], pages.head[inverse])
        locators: dict[Kind, Callable[[I64, Place, Located], None]] = {
            Kind.SLAB: self._slab.locate,
            Kind.STATIC: self._variables.locate,
            Kind.BOOT: self._locate_in_areas,
            Kind.PAGE_STRUCT: self._page_structs.locate,
            Kind.PAGE_TABLE: lambda rows, place, result: self._tables.locate(rows, place, self.subjects, result),
            Kind.PAGE_CACHE: self._page_cache.locate,
        }
        for code in np.unique(kind):
            rows = np.nonzero(kind == code)[0]
            which = KINDS[int(code)]
            if which in locators:
                locators[which](rows, place, result)
            else:
                result.subject[rows] = self.subjects.number(Subject(which, str(which)))
        return result

    def _locate_in_areas(self, rows: I64, place: Place, result: Located) -> None:
        numbers = self._areas.of_addresses(place.va[rows])
        # By page an area was near: what lies before it or behind it is of no known use.
        result.subject[rows[numbers < 0]] = self.subjects.number(Subject(Kind.UNKNOWN, str(Kind.UNKNOWN)))
        order = np.argsort(numbers, kind="stable")
        found, starts = np.unique(numbers[order], return_index=True)
        for number, here in zip(found, np.split(rows[order], starts[1:]), strict=True):
            if number < 0:
                continue
            area = self._areas[int(number)]
            if area.cpu is not None:
                self._per_cpu.locate(area, here, place, result)
            else:
                locate_elements(area, here, place, self.fields, self.subjects, result)

    def label(self, subject: int, offset: int) -> str:
        """How a table names a byte, see `analysis.attribute.labels`."""
        return label(self.subjects[subject], offset, self.fields)

    def labels_in(self, subject: int, offset: int, end: int) -> list[str]:
        """The labels of the bytes [offset, end) of one object, in order."""
        return labels_in(self.subjects[subject], offset, end, self.fields)

    def infer(self, addresses: U64) -> None:
        """Deduce the types of objects of unknown type (kmalloc, dynamic per-CPU memory) at these physical addresses.

        A pointer of declared type, found in an object whose type is known, that points at the object's start says what the
        object is; without one a ``void *`` may, of which kernel-types.toml knows what it points at. Later calls of
        :meth:`locate` and :meth:`label` know the answer.
        """
        located = self.locate(addresses)
        wanted: set[int] = set()
        cookies: set[int] = set()
        for row, number in enumerate(located.subject):
            what, start = self.subjects[int(number)], int(located.object[row])
            if what.kind == Kind.SLAB and what.type_name is None:
                wanted.add(start)
            elif (cookie := self._per_cpu.untyped_cookie(what, start, int(located.cpu[row]))) is not None:
                cookies.add(cookie)
        wanted -= set(self._inferred)
        cookies -= set(self._inferred)
        if wanted or cookies:
            found = PointerScan(self.fields, self._caches).find(wanted, cookies)
            untold = {address for address in wanted if found[address] is None}
            self._inferred.update(found | UntypedPointers(self.kernel, self.fields, self._caches).find(untold))

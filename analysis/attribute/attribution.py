# SPDX-License-Identifier: BSD-3-Clause
"""What lies at a guest physical address: slab object, static or per-CPU variable, struct page, stack, page table, user memory.

The work is done per page with arrays (a run has millions of lines, a few thousand pages of kernel data) and per distinct
(subject, offset) with drgn. Everything comes from debug information and page tables, so one code serves every x86-64 kernel
with SLUB and a virtual memmap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import drgn
import numpy as np
import numpy.typing as npt

from analysis.attribute.elf import Symbol
from analysis.attribute.inference import BUFFER, PointerScan
from analysis.attribute.kernel import GuestKernel
from analysis.attribute.kernel_types import Fields, TypeData, has_member, load_type_data, short_name
from analysis.attribute.layout import Area, PerCpu, boot_arrays, find_tasks, page_tables, per_cpu, task_stacks, vmalloc_areas
from analysis.attribute.snapshot import PAGE

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_PAGE = np.uint64(PAGE)
_VMALLOC = (0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000)  # mm.rst: 32 TiB, the same in 2.6.35 and 6.1
_VMEMMAP_BYTES = 1 << 40


class Kind(StrEnum):
    """What owns a piece of memory."""

    SLAB = "slab"
    STATIC = "static"
    PER_CPU = "per-cpu"
    PAGE_STRUCT = "struct page"
    BOOT = "boot allocation"
    STACK = "task stack"
    VMALLOC = "vmalloc"
    PAGE_TABLE = "page table"
    CODE = "kernel code"
    ANONYMOUS = "anonymous"
    PAGE_CACHE = "page cache"
    FREE = "free"
    UNKNOWN = "unknown"


_HOLE = "(padding)"  # between members
_DYNAMIC = "dynamic per-CPU memory"

USER_MEMORY = "user memory"
"""Label of anonymous memory."""

FREED_USER = "freed user memory"
"""Label of free memory that an application had in the region (`analysis.attribute.freed`)."""

# Kinds whose contents are the application's, not the kernel's.
USER_KINDS = frozenset({Kind.ANONYMOUS, Kind.PAGE_CACHE})


@dataclass(frozen=True)
class Subject:
    """What an address belongs to, apart from where in it.

    ``name`` is a slab cache, a symbol, a task, a file, ...; ``type_name`` a key of :class:`Fields`, or None if the type is not
    known; ``inferred`` says that the type was deduced from pointers to the object and not known from its cache.
    """

    kind: Kind
    name: str
    type_name: str | None = None
    inferred: bool = False


@dataclass(frozen=True)
class Located:
    """One entry per address asked for. ``object`` is the virtual address of the object's start (0: none), ``offset`` the byte
    within it (-1: none), ``cpu`` the CPU whose copy of a per-CPU variable it is (-1: not per-CPU)."""

    subject: npt.NDArray[np.int32]
    object: U64
    offset: I64
    cpu: npt.NDArray[np.int16]


@dataclass
class _Pages:
    """One entry per page: ``kind`` is an index into ``_KINDS``, ``va`` the kernel virtual address of the page's first byte,
    ``owner`` depends on the kind: the address of the kmem_cache, an index of an area, the mapping, the level of a page table.
    ``head`` is the virtual address of the first byte of the compound page."""

    kind: npt.NDArray[np.int8]
    va: U64
    owner: U64
    head: U64


_KINDS = list(Kind)
_CODE = {kind: index for index, kind in enumerate(_KINDS)}


class Attribution:
    """Locates physical addresses in a :class:`GuestKernel`. ``subjects`` grows as addresses are located."""

    def __init__(self, kernel: GuestKernel, data: TypeData | None = None) -> None:
        self.kernel = kernel
        self.data = data or load_type_data()
        self.fields = Fields(kernel.program, self.data)
        self.subjects: list[Subject] = []
        self._subject_ids: dict[Subject, int] = {}
        self._caches: dict[int, tuple[str, int, str | None]] = {}
        self._inferred: dict[int, tuple[str, int] | None] = {}
        self._statics: dict[int, tuple[int, int]] = {}
        self._files: dict[int, str] = {}
        program = kernel.program
        page = program.type("struct page")
        self._page_size = drgn.sizeof(page)
        self._offset: dict[str, int] = {"flags": _offset(page, "flags"), "mapping": _offset(page, "mapping")}
        self._offset["refcount"] = _offset(page, "_refcount", "_count")
        slab_type = program.type("struct slab") if kernel.has_type("struct slab") else page
        self._slab_type = "struct slab" if kernel.has_type("struct slab") else "struct page"  # the same memory by another name
        self._offset["cache"] = _first_offset([slab_type, page], "slab_cache", "slab")
        self._offset["head"] = _first_offset([page], "compound_head", "first_page")
        self._head_is_tagged = has_member(page, "compound_head")
        self._flag = _page_flags(program)
        self._find_regions()

    # ---- memory layout -------------------------------------------------------------------------------------------------------

    def _find_regions(self) -> None:
        kernel = self.kernel
        text, end = kernel.symbols.address("_text"), kernel.symbols.address("_end")
        assert text is not None and end is not None
        self._image = (kernel.image_physical(text), kernel.image_physical(end))
        self._image_bias = text - self._image[0]
        self._code_end = kernel.symbols.address("_etext") or text
        self._vmemmap = _ReverseMap(list(kernel.memory.mappings(kernel.vmemmap, kernel.vmemmap + _VMEMMAP_BYTES)))
        self._vmalloc = _ReverseMap(list(kernel.memory.mappings(*_VMALLOC)))
        self._per_cpu: PerCpu = per_cpu(kernel)
        tasks = find_tasks(kernel, self._per_cpu)
        areas = [*self._per_cpu.areas, *boot_arrays(kernel, self.data.arrays), *task_stacks(kernel, tasks)]
        # A stack is also a vmalloc area: what is named first counts.
        covered = {area.start for area in areas}
        areas += [area for area in vmalloc_areas(kernel) if area.start not in covered]
        areas.sort(key=lambda area: area.start)
        self._areas = areas
        self._area_starts: U64 = np.array([area.start for area in areas], np.uint64)
        self._area_ends: U64 = np.array([area.end for area in areas], np.uint64)
        self._tables: dict[int, tuple[int, str]] = page_tables(kernel, tasks)
        frames = sorted(self._tables)
        self._table_frames: U64 = np.array(frames, np.uint64)

    # ---- pages ---------------------------------------------------------------------------------------------------------------

    def _page_structs(self, frames: U64) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Raw ``struct page`` of each frame, shape (n, size of struct page), and whether the frame has one."""
        size = self._page_size
        physical = np.zeros(len(frames), np.uint64)
        valid = np.ones(len(frames), np.bool_)
        addresses = np.uint64(self.kernel.vmemmap) + frames * np.uint64(size)
        pages, inverse = np.unique(addresses // _PAGE, return_inverse=True)
        translated = [self.kernel.memory.translate(int(page) * PAGE) for page in pages]
        bases = np.array([0 if base is None else base for base in translated], np.uint64)
        present = np.array([base is not None for base in translated], np.bool_)
        physical = bases[inverse] + addresses % _PAGE
        valid = present[inverse]
        if PAGE % size:  # a struct page may cross a page of vmemmap: read those with care
            rows = [self.kernel.memory.read(int(address), size) or bytes(size) for address in addresses]
            return np.frombuffer(b"".join(rows), np.uint8).reshape(len(frames), size), valid
        return self.kernel.snapshot.gather(physical, size), valid

    def _member(self, raw: npt.NDArray[Any], name: str, dtype: str = "<u8") -> npt.NDArray[Any]:
        offset = self._offset[name]
        return np.ascontiguousarray(raw[:, offset : offset + np.dtype(dtype).itemsize]).view(dtype)[:, 0]

    def _pages(self, frames: U64) -> _Pages:
        kernel = self.kernel
        raw, valid = self._page_structs(frames)
        va: U64 = np.uint64(kernel.direct_map) + frames * _PAGE
        link = self._member(raw, "head").astype(np.uint64)
        if self._head_is_tagged:
            is_tail = (link & np.uint64(1)) == 1
            link = link - np.uint64(1)
        else:
            is_tail = (self._member(raw, "flags") >> np.uint64(self._flag["tail"]) & np.uint64(1)) == 1
        head_frames = frames.copy()
        tails = is_tail & valid
        head_frames[tails] = (link[tails] - np.uint64(kernel.vmemmap)) // np.uint64(self._page_size)
        if tails.any():
            raw = raw.copy()
            raw[tails] = self._page_structs(head_frames[tails])[0]
        flags = self._member(raw, "flags").astype(np.uint64)
        mapping = self._member(raw, "mapping").astype(np.uint64)
        count = self._member(raw, "refcount", "<i4")
        cache = self._member(raw, "cache").astype(np.uint64)
        is_slab = valid & ((flags >> np.uint64(self._flag["slab"]) & np.uint64(1)) == 1)
        is_reserved = ~valid | ((flags >> np.uint64(self._flag["reserved"]) & np.uint64(1)) == 1)

        kind = np.full(len(frames), _CODE[Kind.UNKNOWN], np.int8)
        owner = np.zeros(len(frames), np.uint64)
        plain = valid & ~is_slab & ~is_reserved
        kind[plain & (count == 0)] = _CODE[Kind.FREE]
        mapped = plain & (count > 0) & (mapping != 0)
        is_anonymous = (mapping & np.uint64(1)) == 1
        kind[mapped & is_anonymous] = _CODE[Kind.ANONYMOUS]
        is_file = mapped & ((mapping & np.uint64(3)) == 0) & (mapping >= np.uint64(kernel.direct_map))
        kind[is_file] = _CODE[Kind.PAGE_CACHE]
        owner[is_file] = mapping[is_file]
        is_table = np.isin(frames, self._table_frames) & ~is_slab
        kind[is_table] = _CODE[Kind.PAGE_TABLE]
        owner[is_table] = frames[is_table]
        kind[is_slab] = _CODE[Kind.SLAB]
        owner[is_slab] = cache[is_slab]

        self._vmalloc.apply(frames, va)
        if len(self._areas):
            # By page: an area that begins inside a page is found again by address in `locate`.
            index = np.searchsorted(self._area_starts, va + np.uint64(PAGE - 1), "right") - 1
            inside = (index >= 0) & (va < self._area_ends[np.maximum(index, 0)])
            # Only the first page of a stack has a reference count: the others look free.
            inside &= np.isin(kind, [_CODE[Kind.UNKNOWN], _CODE[Kind.FREE]])
            kind[inside] = _CODE[Kind.BOOT]  # refined by address
            owner[inside] = 1
        physical = frames * _PAGE
        image = is_reserved & (physical + np.uint64(PAGE) > np.uint64(self._image[0])) & (physical < np.uint64(self._image[1]))
        kind[image] = _CODE[Kind.STATIC]
        va[image] = physical[image] + np.uint64(self._image_bias)
        in_vmemmap = self._vmemmap.apply(frames, va)
        kind[in_vmemmap] = _CODE[Kind.PAGE_STRUCT]
        head = va - (frames - head_frames) * _PAGE
        return _Pages(kind, va, owner, head)

    # ---- addresses -----------------------------------------------------------------------------------------------------------

    def locate(self, addresses: U64) -> Located:
        """What lies at each guest physical address."""
        count = len(addresses)
        subject = np.zeros(count, np.int32)
        objects = np.zeros(count, np.uint64)
        offsets = np.full(count, -1, np.int64)
        cpus = np.full(count, -1, np.int16)
        result = Located(subject, objects, offsets, cpus)
        if not count:
            return result
        frames, inverse = np.unique(addresses // _PAGE, return_inverse=True)
        pages = self._pages(frames)
        kind = pages.kind[inverse]
        va: U64 = pages.va[inverse] + addresses % _PAGE
        owner, head = pages.owner[inverse], pages.head[inverse]
        locators: dict[Kind, Callable[[npt.NDArray[np.int64], U64, U64, U64, Located], None]] = {
            Kind.SLAB: self._locate_slab,
            Kind.STATIC: self._locate_static,
            Kind.BOOT: self._locate_area,
            Kind.PAGE_STRUCT: self._locate_page_struct,
            Kind.PAGE_TABLE: self._locate_table,
            Kind.PAGE_CACHE: self._locate_file,
        }
        for code in np.unique(kind):
            rows = np.nonzero(kind == code)[0]
            which = _KINDS[int(code)]
            if which in locators:
                locators[which](rows, va, owner, head, result)
            else:
                subject[rows] = self._intern(Subject(which, str(which)))
        return result

    def _intern(self, subject: Subject) -> int:
        if subject not in self._subject_ids:
            self._subject_ids[subject] = len(self.subjects)
            self.subjects.append(subject)
        return self._subject_ids[subject]

    def _locate_slab(self, rows: npt.NDArray[np.int64], va: U64, owner: U64, head: U64, result: Located) -> None:
        for cache in np.unique(owner[rows]):
            here = rows[owner[rows] == cache]
            name, stride, type_name = self._cache(int(cache))
            within = va[here] - head[here]
            result.object[here] = va[here] - within % np.uint64(stride)
            result.offset[here] = (within % np.uint64(stride)).astype(np.int64)
            result.subject[here] = self._intern(Subject(Kind.SLAB, name, type_name))
            if type_name is None:
                for row in here if self._inferred else ():
                    found = self._inferred.get(int(result.object[row]))
                    if found:
                        self._apply_inferred(int(row), name, stride, found[0], result)

    def _apply_inferred(self, row: int, cache: str, stride: int, type_name: str, result: Located) -> None:
        """Enter what was deduced for the slab object of one row; what ends a buffer is an object of its own."""
        if not type_name.startswith(BUFFER):
            result.subject[row] = self._intern(Subject(Kind.SLAB, cache, type_name, inferred=True))
            return
        name = type_name.removeprefix(BUFFER)
        tail = next((buffer["tail"] for buffer in self.data.buffers if buffer["name"] == name), "")
        size = -(-self.fields.size(tail) // 64) * 64
        if size and result.offset[row] >= stride - size:
            result.object[row] += np.uint64(stride - size)
            result.offset[row] -= stride - size
            result.subject[row] = self._intern(Subject(Kind.SLAB, cache, tail, inferred=True))
        else:
            result.subject[row] = self._intern(Subject(Kind.SLAB, name, None, inferred=True))

    def _cache(self, address: int) -> tuple[str, int, str | None]:
        """(name, bytes from object to object, type or None) of the struct kmem_cache at ``address``."""
        if address not in self._caches:
            try:
                cache = drgn.Object(self.kernel.program, "struct kmem_cache", address=address)
                name = cache.name.string_().decode(errors="replace")
                stride = int(cache.member_("size"))
            except drgn.FaultError:
                self.kernel.walks.give_up("slab caches")
                name, stride = "slab", PAGE
            self._caches[address] = (name, max(stride, 1), self.fields.type_of_cache(name))
        return self._caches[address]

    def _locate_static(self, rows: npt.NDArray[np.int64], va: U64, owner: U64, head: U64, result: Located) -> None:
        unique, inverse = np.unique(va[rows], return_inverse=True)
        found = [self._static(int(address), Kind.STATIC) for address in unique]
        result.subject[rows] = np.array([subject for subject, _ in found], np.int32)[inverse]
        starts = np.array([start for _, start in found], np.uint64)[inverse]
        result.object[rows] = starts
        result.offset[rows] = (va[rows] - starts).astype(np.int64)

    def _static(self, address: int, kind: Kind) -> tuple[int, int]:
        """(subject, address of its start) of the variable or function at a kernel-image or per-CPU address."""
        if address not in self._statics:
            symbol = self.kernel.symbols.covering(address)
            if symbol is None:
                self._statics[address] = (self._intern(Subject(Kind.UNKNOWN, "kernel image")), address)
            elif kind == Kind.STATIC and (symbol.is_function or address < self._code_end):
                self._statics[address] = (self._intern(Subject(Kind.CODE, symbol.name)), symbol.address)
            else:
                type_name = self._variable_type(symbol)
                self._statics[address] = (self._intern(Subject(kind, symbol.name, type_name)), symbol.address)
        return self._statics[address]

    def _variable_type(self, symbol: Symbol) -> str | None:
        try:
            variable = self.kernel.program.variable(symbol.name, symbol.file or None)
        except (LookupError, drgn.BadDataError):
            return None
        if variable.address_ != symbol.address:  # of another file with the same last component
            return None
        name = f"typeof({symbol.name})@{symbol.file}" if symbol.file else f"typeof({symbol.name})"
        return self.fields.register(name, variable.type_)

    def _locate_area(self, rows: npt.NDArray[np.int64], va: U64, owner: U64, head: U64, result: Located) -> None:
        index = np.searchsorted(self._area_starts, va[rows], "right") - 1
        inside = (index >= 0) & (va[rows] < self._area_ends[np.maximum(index, 0)])
        unknown = self._intern(Subject(Kind.UNKNOWN, str(Kind.UNKNOWN)))
        result.subject[rows[~inside]] = unknown
        for number in np.unique(index[inside]):
            area = self._areas[int(number)]
            here = rows[inside & (index == number)]
            if area.cpu is not None:
                self._locate_per_cpu(here, va, area, result)
                continue
            result.subject[here] = self._intern(Subject(Kind(area.kind), area.name, area.type_name))
            size = self.fields.size(area.type_name) if area.type_name else 0
            within = va[here] - np.uint64(area.start)
            offset = within % np.uint64(size) if size else within
            result.object[here] = va[here] - offset
            result.offset[here] = offset.astype(np.int64)

    def _locate_per_cpu(self, rows: npt.NDArray[np.int64], va: U64, area: Area, result: Located) -> None:
        assert area.cpu is not None
        base = np.uint64(self._per_cpu.offsets[area.cpu])
        result.cpu[rows] = area.cpu
        for row, cookie in zip(rows, (va[rows] - base).tolist(), strict=True):
            result.subject[row], start = self._per_cpu_object(cookie)
            result.offset[row] = cookie - start
        result.object[rows] = va[rows] - result.offset[rows].astype(np.uint64)

    def _per_cpu_object(self, cookie: int) -> tuple[int, int]:
        """(subject, start) of the per-CPU object at an address as the kernel writes per-CPU pointers."""
        if self._per_cpu.static_start <= cookie < self._per_cpu.static_end:
            return self._static(cookie, Kind.PER_CPU)
        if found := self._inferred.get(cookie):
            return self._intern(Subject(Kind.PER_CPU, _DYNAMIC, found[0], inferred=True)), found[1]
        return self._intern(Subject(Kind.PER_CPU, _DYNAMIC)), cookie

    def _locate_page_struct(self, rows: npt.NDArray[np.int64], va: U64, owner: U64, head: U64, result: Located) -> None:
        size = np.uint64(self._page_size)
        within = va[rows] - np.uint64(self.kernel.vmemmap)
        frames = within // size
        result.object[rows] = va[rows] - within % size
        result.offset[rows] = (within % size).astype(np.int64)
        unique, inverse = np.unique(frames, return_inverse=True)
        pages = self._pages(unique)
        subjects = np.zeros(len(unique), np.int32)
        for code in np.unique(pages.kind):
            kind = _KINDS[int(code)]
            these = pages.kind == code
            if kind == Kind.SLAB:
                for cache in np.unique(pages.owner[these]):
                    name = self._cache(int(cache))[0]
                    subject = Subject(Kind.PAGE_STRUCT, f"of slab {name}", self._slab_type)
                    subjects[these & (pages.owner == cache)] = self._intern(subject)
            else:
                subjects[these] = self._intern(Subject(Kind.PAGE_STRUCT, f"of {kind}", "struct page"))
        result.subject[rows] = subjects[inverse]

    def _locate_table(self, rows: npt.NDArray[np.int64], va: U64, owner: U64, head: U64, result: Located) -> None:
        for frame in np.unique(owner[rows]):
            here = rows[owner[rows] == frame]
            level, name = self._tables[int(frame)]
            result.subject[here] = self._intern(Subject(Kind.PAGE_TABLE, f"level {level} of {name}"))
            result.object[here] = va[here] & ~np.uint64(PAGE - 1)
            result.offset[here] = (va[here] % _PAGE).astype(np.int64)

    def _locate_file(self, rows: npt.NDArray[np.int64], va: U64, owner: U64, head: U64, result: Located) -> None:
        mappings, inverse = np.unique(owner[rows], return_inverse=True)
        subjects = [self._intern(Subject(Kind.PAGE_CACHE, self._file(int(mapping)))) for mapping in mappings]
        result.subject[rows] = np.array(subjects, np.int32)[inverse]

    def _file(self, mapping: int) -> str:
        """``ext2:libc.so.6``: file system and last component of the name of the file behind a struct address_space."""
        if mapping not in self._files:
            self._files[mapping] = str(Kind.PAGE_CACHE)
            with self.kernel.walks.attempt("names of files"):
                inode = drgn.Object(self.kernel.program, "struct address_space", address=mapping).host
                if inode.value_():  # the swap cache has none
                    self._files[mapping] = inode.i_sb.s_type.name.string_().decode(errors="replace")
                    self._files[mapping] += f":{self.inode_name(inode)}"
        return self._files[mapping]

    def inode_name(self, inode: drgn.Object) -> str:
        """Name of a directory entry of a struct inode; empty if it has none."""
        dentry = self.kernel.program.type("struct dentry")
        first = inode.i_dentry
        if has_member(first.type_, "first"):  # an hlist since 3.6
            link = first.first.value_()
        else:
            link = first.next.value_()
            if link == first.address_:
                return ""
        if not link:
            return ""
        member = "d_alias" if has_member(dentry, "d_alias") else "d_u.d_alias"
        name = drgn.Object(self.kernel.program, dentry, address=link - drgn.offsetof(dentry, member)).d_name.name
        return str(name.string_().decode(errors="replace"))

    # ---- names ---------------------------------------------------------------------------------------------------------------

    def label(self, subject: int, offset: int) -> str:
        """How a table names a byte: ``dentry.d_lockref.lock_count``, ``runqueues.__lock``, ``kmalloc-64``, ``user memory``."""
        what = self.subjects[subject]
        if what.type_name is None:
            return {
                Kind.SLAB: what.name,
                Kind.STATIC: what.name,
                Kind.PER_CPU: what.name,
                Kind.CODE: f"code of {what.name}",
                Kind.VMALLOC: what.name,
                Kind.BOOT: what.name,
                Kind.ANONYMOUS: USER_MEMORY,
                Kind.PAGE_CACHE: f"page cache ({what.name.split(':')[0]})",
            }.get(what.kind, str(what.kind))
        if what.kind == Kind.BOOT and self.fields.is_scalar(what.type_name):
            return f"{what.name}[]"
        prefix, type_name = what.name, what.type_name
        if not type_name.startswith("typeof("):
            type_name, offset = self.fields.canonical(type_name, offset)
            prefix = short_name(type_name)
        path = self.fields.path(type_name, offset)
        if path is None:
            return prefix if self.fields.is_scalar(type_name) else f"{prefix}.{_HOLE}"
        return prefix + path if path.startswith("[") else f"{prefix}.{path}"

    def labels_in(self, subject: int, offset: int, end: int) -> list[str]:
        """The labels of the bytes [offset, end) of one object, in order; a hole between members adds nothing."""
        what = self.subjects[subject]
        found: dict[str, None] = {}
        if what.type_name is None or self.fields.is_scalar_array(what.type_name):
            return [self.label(subject, max(offset, 0))]
        for byte in range(max(offset, 0), min(end, self.fields.size(what.type_name))):
            found[self.label(subject, byte)] = None
        # A byte between the members of an inner structure is labelled with that structure alone.
        return [
            label
            for label in found
            if _HOLE not in label and not any(other.startswith((f"{label}.", f"{label}[")) for other in found)
        ]

    def infer(self, addresses: U64) -> None:
        """Deduce the types of objects of unknown type (kmalloc, dynamic per-CPU memory) at these physical addresses.

        A pointer of declared type, found in an object whose type is known, that points at the object's start says what the
        object is. Later calls of :meth:`locate` and :meth:`label` know the answer.
        """
        located = self.locate(addresses)
        wanted: set[int] = set()
        cookies: set[int] = set()
        for row, number in enumerate(located.subject):
            what = self.subjects[int(number)]
            if what.type_name is not None:
                continue
            if what.kind == Kind.SLAB:
                wanted.add(int(located.object[row]))
            elif what.kind == Kind.PER_CPU and what.name == _DYNAMIC:
                base = self._per_cpu.offsets[int(located.cpu[row])]
                cookies.add((int(located.object[row]) - base) & 0xFFFF_FFFF_FFFF_FFFF)
        wanted -= set(self._inferred)
        cookies -= set(self._inferred)
        if wanted or cookies:
            self._inferred.update(PointerScan(self.kernel, self.fields, self).find(wanted, cookies))

    def slab_pages(self) -> _Pages:
        """All slab pages present in the snapshot (for the pointer scan)."""
        frames = np.concatenate(
            [np.arange(start // PAGE, -(-(start + size) // PAGE), dtype=np.uint64) for start, size in self.kernel.snapshot.runs]
        )
        pages = self._pages(frames)
        keep = pages.kind == _CODE[Kind.SLAB]
        return _Pages(pages.kind[keep], pages.va[keep], pages.owner[keep], pages.head[keep])

    def cache(self, address: int) -> tuple[str, int, str | None]:
        """As :meth:`_cache`, for the pointer scan."""
        return self._cache(address)


class _ReverseMap:
    """Physical to virtual for a list of mappings (virtual address, physical address, bytes)."""

    def __init__(self, mappings: list[tuple[int, int, int]]) -> None:
        table = np.array(sorted((physical, size, virtual) for virtual, physical, size in mappings), np.uint64).reshape(-1, 3)
        self._starts, self._sizes, self._virtual = table[:, 0], table[:, 1], table[:, 2]

    def apply(self, frames: U64, va: U64) -> npt.NDArray[np.bool_]:
        """Set ``va`` of the frames that are mapped; returns which are."""
        if not len(self._starts):
            return np.zeros(len(frames), np.bool_)
        physical = frames * _PAGE
        index = np.searchsorted(self._starts, physical, "right") - 1
        safe = np.maximum(index, 0)
        inside = (index >= 0) & (physical < self._starts[safe] + self._sizes[safe])
        va[inside] = (self._virtual[safe] + physical - self._starts[safe])[inside]
        return inside


def _offset(kind: drgn.Type, *names: str) -> int:
    for name in names:
        if has_member(kind, name):
            return int(drgn.offsetof(kind, name))
    raise LookupError(f"{kind} has none of {', '.join(names)}")


def _first_offset(kinds: list[drgn.Type], *names: str) -> int:
    for kind in kinds:
        for name in names:
            if has_member(kind, name):
                return int(drgn.offsetof(kind, name))
    raise LookupError(f"none of {', '.join(map(str, kinds))} has {' or '.join(names)}")


def _page_flags(program: drgn.Program) -> dict[str, int]:
    """Bit numbers of the page flags used here, from ``enum pageflags``."""
    kind = program.type("enum pageflags")
    assert kind.enumerators is not None
    values = {enumerator.name: enumerator.value for enumerator in kind.enumerators}
    return {"slab": values["PG_slab"], "reserved": values["PG_reserved"], "tail": values.get("PG_tail", 63)}

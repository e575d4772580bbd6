# SPDX-License-Identifier: BSD-3-Clause
"""What a piece of memory can belong to, and the words for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

Inferred = dict[int, tuple[str, int] | None]
"""Address of an object -> the (type, start) that pointers to it tell, None where none does (`PointerScan`)."""


class Kind(StrEnum):
    """What owns a piece of memory."""

    SLAB = "slab"
    STATIC = "static"
    PER_CPU = "per-cpu"
    PAGE_STRUCT = "struct page"
    BOOT = "boot allocation"
    DRIVER = "memory of a driver"
    STACK = "task stack"
    VMALLOC = "vmalloc"
    PAGE_TABLE = "page table"
    CODE = "kernel code"
    ANONYMOUS = "anonymous"
    PAGE_CACHE = "page cache"
    FREE = "free"
    UNKNOWN = "unknown"


USER_MEMORY = "user memory"
"""Label of anonymous memory."""

FREED_USER = "freed user memory"
"""Label of free memory that an application had in the region (`analysis.attribute.freed_memory`)."""

# Kinds whose contents are the application's, not the kernel's.
USER_KINDS = frozenset({Kind.ANONYMOUS, Kind.PAGE_CACHE})


@dataclass(frozen=True)
class Subject:
    """What an address belongs to, apart from where in it.

    ``name`` is a slab cache, a symbol, a task, a file, ...; ``type_name`` a key of `Fields`, or None if the type is not
    known; ``inferred`` says that the type was deduced from pointers to the object and not known from its cache.
    """

    kind: Kind
    name: str
    type_name: str | None = None
    inferred: bool = False


class Subjects:
    """Every distinct subject that was met, by number."""

    def __init__(self) -> None:
        self._all: list[Subject] = []
        self._numbers: dict[Subject, int] = {}

    def number(self, subject: Subject) -> int:
        """The subject's number, a new one where it was not met before."""
        if subject not in self._numbers:
            self._numbers[subject] = len(self._all)
            self._all.append(subject)
        return self._numbers[subject]

    def __getitem__(self, number: int) -> Subject:
        return self._all[number]

    def __iter__(self) -> Iterator[Subject]:
        return iter(self._all)


@dataclass(frozen=True)
class Located:
    """One entry per address asked for. ``subject`` is a number of `Subjects`, ``object`` the virtual address of the object's
    start (0: none), ``offset`` the byte within it (-1: none), ``cpu`` the CPU whose copy of a per-CPU variable it is (-1: not
    per-CPU)."""

    subject: npt.NDArray[np.int32]
    object: U64
    offset: I64
    cpu: npt.NDArray[np.int16]

    @classmethod
    def nowhere(cls, count: int) -> "Located":
        """Entries to fill in."""
        return cls(
            np.zeros(count, np.int32), np.zeros(count, np.uint64), np.full(count, -1, np.int64), np.full(count, -1, np.int16)
        )


@dataclass(frozen=True)
class Place:
    """Addresses to locate, one entry each: ``va`` is the kernel virtual address, ``owner`` and ``head`` are what `Pages` has of
    the address's page."""

    va: U64
    owner: U64
    head: U64

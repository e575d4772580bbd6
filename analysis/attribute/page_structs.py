# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's own description of its pages, the array of ``struct page``: which page each entry is about."""

import numpy as np

from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.pages import KINDS, PageUse
from analysis.attribute.slab import SlabCaches
from analysis.attribute.subjects import I64, Kind, Located, Place, Subject, Subjects


class PageStructs:
    """Names an entry by what the page that it describes is used for."""

    def __init__(self, kernel: GuestKernel, pages: PageUse, caches: SlabCaches, subjects: Subjects) -> None:
        self._kernel = kernel
        self._pages = pages
        self._caches = caches
        self._subjects = subjects
        self._slab_type = "struct slab" if kernel.has_type("struct slab") else "struct page"  # the same memory by another name

    def locate(self, rows: I64, place: Place, result: Located) -> None:
        """Enter the entries at ``rows`` of ``place``."""
        size = np.uint64(self._pages.page_size)
        within = place.va[rows] - np.uint64(self._kernel.vmemmap)
        result.object[rows] = place.va[rows] - within % size
        result.offset[rows] = (within % size).astype(np.int64)
        unique, inverse = np.unique(within // size, return_inverse=True)
        used = self._pages.of(unique)
        numbers = np.zeros(len(unique), np.int32)
        for code in np.unique(used.kind):
            kind = KINDS[int(code)]
            these = used.of(kind)
            if kind == Kind.SLAB:
                for address in np.unique(used.owner[these]):
                    subject = Subject(Kind.PAGE_STRUCT, f"of slab {self._caches.at(int(address)).name}", self._slab_type)
                    numbers[these & (used.owner == address)] = self._subjects.number(subject)
            else:
                numbers[these] = self._subjects.number(Subject(Kind.PAGE_STRUCT, f"of {kind}", "struct page"))
        result.subject[rows] = numbers[inverse]

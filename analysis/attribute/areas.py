# SPDX-License-Identifier: BSD-3-Clause
"""Stretches of kernel virtual addresses that are one thing, or many things of one type: stacks, boot-time arrays, vmalloc areas,
the units of per-CPU memory."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.attribute.fields import Fields
from analysis.attribute.snapshot import PAGE
from analysis.attribute.subjects import I64, U64, Kind, Located, Place, Subject, Subjects


@dataclass(frozen=True)
class Area:
    """Kernel virtual addresses [start, end): elements of ``type_name`` if that is known; one CPU's unit if ``cpu`` is set."""

    start: int
    end: int
    kind: Kind
    name: str
    type_name: str | None = None
    cpu: int | None = None


class Areas:
    """All areas of a kernel, found by address."""

    def __init__(self, areas: Iterable[Area]) -> None:
        self._areas = sorted(areas, key=lambda area: area.start)
        self._starts: U64 = np.array([area.start for area in self._areas], np.uint64)
        self._ends: U64 = np.array([area.end for area in self._areas], np.uint64)

    def __getitem__(self, number: int) -> Area:
        return self._areas[number]

    def on_pages(self, va: U64) -> npt.NDArray[np.bool_]:
        """Whether an area begins in, or covers, the page that begins at each address."""
        if not self._areas:
            return np.zeros(len(va), np.bool_)
        index = np.searchsorted(self._starts, va + np.uint64(PAGE - 1), "right") - 1
        return (index >= 0) & (va < self._ends[np.maximum(index, 0)])

    def of_addresses(self, va: U64) -> I64:
        """The number of the area that each address lies in, -1 without one."""
        index = np.searchsorted(self._starts, va, "right") - 1
        inside = (index >= 0) & (va < self._ends[np.maximum(index, 0)])
        return np.where(inside, index, -1)


def locate_elements(area: Area, rows: I64, place: Place, fields: Fields, subjects: Subjects, result: Located) -> None:
    """Enter the elements of ``area`` (the area as a whole where their type is not known) at ``rows`` of ``place``."""
    result.subject[rows] = subjects.number(Subject(area.kind, area.name, area.type_name))
    size = fields.size(area.type_name) if area.type_name else 0
    within = place.va[rows] - np.uint64(area.start)
    offset = within % np.uint64(size) if size else within
    result.object[rows] = place.va[rows] - offset
    result.offset[rows] = offset.astype(np.int64)

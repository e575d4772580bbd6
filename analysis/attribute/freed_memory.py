# SPDX-License-Identifier: BSD-3-Clause
"""What memory was that is free when the region ends: the snapshot cannot tell, but who accessed it can.

Processes that start and end within a region leave most of what they used free. Two things are known of such a page all the
same: an instruction of the kernel that reaches one field wherever its object is still there reaches it in a freed object too, and
a page that user-level code accessed was an application's (or the page table with which it was walked).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.attribute.hashing import distinct, is_in
from analysis.attribute.snapshot import PAGE
from analysis.attribute.subjects import FREED_USER, USER_MEMORY, Kind

_SURE = 0.9  # of an instruction's accesses to memory that is known must be to one field
_ENOUGH = 10  # of those accesses

_Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Accesses:
    """One entry per site: physical address, program counter, 1 for the kernel's code, number of accesses, number of its label."""

    paddr: npt.NDArray[np.uint64]
    pc: npt.NDArray[np.uint64]
    kernel: npt.NDArray[np.bool_]
    count: _Integers
    label: _Integers


def name_freed(accesses: Accesses, labels: Sequence[str], typed: Sequence[bool]) -> tuple[list[str], _Integers]:
    """Labels for free memory: the labels, perhaps with one more, and each site's number among them.

    ``typed`` says which of ``labels`` are a field of a known type. Sites on memory that is not free keep what they have.
    """
    free = np.array([label == Kind.FREE for label in labels], np.bool_)[accesses.label]
    texts = [*labels] if FREED_USER in labels else [*labels, FREED_USER]
    found = accesses.label.copy()
    if not free.any():
        return [*labels], found
    pages = accesses.paddr // np.uint64(PAGE)
    used = is_in(pages, pages[free & ~accesses.kernel])
    found[free & used] = texts.index(FREED_USER)
    instruction = distinct(accesses.pc)[1]
    known = accesses.kernel & ~free
    own = np.array([label == USER_MEMORY for label in labels], np.bool_)
    copied = _agreed(instruction, accesses, known)
    by_code = free & accesses.kernel & (copied >= 0)
    found[by_code & own[copied]] = texts.index(FREED_USER)
    # Of an instruction that reaches typed objects, the rest are pages whose object was freed too, and that are used again.
    fields = _agreed(instruction, accesses, known & np.array(typed, np.bool_)[accesses.label])
    by_code = free & accesses.kernel & (fields >= 0)
    found[by_code] = fields[by_code]
    return texts, found


def _agreed(instruction: _Integers, accesses: Accesses, among: npt.NDArray[np.bool_]) -> _Integers:
    """For each site the label that the accesses ``among`` all of its instruction's agree on, -1 without one."""
    size = int(accesses.label.max(initial=0)) + 1
    pairs, which = distinct(instruction[among] * size + accesses.label[among])
    sums = np.zeros(len(pairs), np.int64)
    np.add.at(sums, which, accesses.count[among])
    totals = np.zeros(int(instruction.max(initial=0)) + 1, np.int64)
    np.add.at(totals, pairs // size, sums)
    answer = np.full(len(totals), -1, np.int64)
    sure = (sums >= _SURE * totals[pairs // size]) & (totals[pairs // size] >= _ENOUGH)
    answer[pairs[sure] // size] = pairs[sure] % size
    return answer[instruction]

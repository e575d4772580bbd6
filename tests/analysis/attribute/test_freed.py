# SPDX-License-Identifier: BSD-3-Clause
"""Memory that is free at the end of a region is named after who accessed it, and only where that is certain."""

import numpy as np

from analysis.attribute.freed_memory import Accesses, name_freed

LABELS = ["free", "anon_vma_chain.vma", "user memory", "vm_area_struct.vm_flags"]
TYPED = [False, True, False, True]
FREE, CHAIN, USER, AREA = range(4)
CLONE, COPY, MIXED, SELDOM, PROGRAM = 0x10, 0x20, 0x30, 0x40, 0x50
PAGE_A, PAGE_B, PAGE_C = 0x1000, 0x2000, 0x3000


def name(*sites: tuple[int, int, bool, int, int]) -> list[str]:
    """Labels of sites (address, program counter, kernel, accesses, label)."""
    columns = list(zip(*sites, strict=True))
    accesses = Accesses(
        np.array(columns[0], np.uint64),
        np.array(columns[1], np.uint64),
        np.array(columns[2], np.bool_),
        np.array(columns[3], np.int64),
        np.array(columns[4], np.int64),
    )
    texts, codes = name_freed(accesses, LABELS, TYPED)
    return [texts[code] for code in codes]


def test_instruction_that_reaches_one_field_reaches_it_in_freed_memory_too() -> None:
    assert name((PAGE_A, CLONE, True, 95, CHAIN), (PAGE_B, CLONE, True, 5, AREA), (PAGE_C, CLONE, True, 1, FREE)) == [
        "anon_vma_chain.vma",
        "vm_area_struct.vm_flags",
        "anon_vma_chain.vma",
    ]


def test_pages_used_again_by_others_do_not_count_against_a_field() -> None:
    again = [(PAGE_A, CLONE, True, 10, CHAIN), (PAGE_B, CLONE, True, 10, USER), (PAGE_C, CLONE, True, 1, FREE)]
    assert name(*again)[-1] == "anon_vma_chain.vma"


def test_instruction_that_reaches_several_or_is_hardly_seen_says_nothing() -> None:
    mixed = [(PAGE_A, MIXED, True, 80, CHAIN), (PAGE_B, MIXED, True, 20, AREA), (PAGE_C, MIXED, True, 1, FREE)]
    seldom = [(PAGE_A, SELDOM, True, 9, CHAIN), (PAGE_C, SELDOM, True, 1, FREE)]
    assert name(*mixed)[-1] == name(*seldom)[-1] == "free"


def test_page_that_user_level_code_accessed_was_an_application_s() -> None:
    sites = [(PAGE_C, PROGRAM, False, 1, FREE), (PAGE_C + 64, MIXED, True, 1, FREE), (PAGE_B, MIXED, True, 1, FREE)]
    assert name(*sites) == ["freed user memory", "freed user memory", "free"]


def test_field_of_the_instruction_counts_more_than_the_page() -> None:
    sites = [(PAGE_C, PROGRAM, False, 1, FREE), (PAGE_C + 64, CLONE, True, 1, FREE), (PAGE_A, CLONE, True, 10, CHAIN)]
    assert name(*sites)[1] == "anon_vma_chain.vma"


def test_copy_into_user_memory() -> None:
    assert name((PAGE_A, COPY, True, 10, USER), (PAGE_C, COPY, True, 1, FREE)) == ["user memory", "freed user memory"]


def test_user_level_program_counter_is_no_instruction_of_the_kernel() -> None:
    assert name((PAGE_A, CLONE, True, 10, CHAIN), (PAGE_C, CLONE, False, 1, FREE))[1] == "freed user memory"

# SPDX-License-Identifier: BSD-3-Clause
"""Who called: chains and takers of lines, stacks of waiting cycles, and rules of the catalogue that ask for a caller."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from records_file import write_parquet

from analysis.report import caller_sections, callers, shares
from analysis.report.bottlenecks import Catalogue
from analysis.report.callers import Chain, Taker
from analysis.report.runs import Run

LOCK, OTHER = 0x1000, 0x2000
LSEEK, UNLINK, SYSCALL = 1, 2, 3

CALLERS: dict[str, list[Any]] = {
    "caller": [1, 2, 3, 4],
    "parent": [0, 0, 0, 1],
    "address": [0xF100, 0xF200, 0xF300, 0xF400],
    "kernel": [1, 1, 1, 1],
    "function": ["generic_file_llseek", "do_unlinkat", "do_syscall_64", "mutex_lock"],
}
SITES: dict[str, list[Any]] = {
    "paddr": [LOCK, LOCK, OTHER],
    "pc": [0x10, 0x20, 0x30],
    "kernel": [1, 1, 1],
    "writes": [40, 10, 5],
    "transfers_same_socket": [0, 0, 1],
    "transfers_other_socket": [40, 10, 4],
    "upgrades": [0, 0, 0],
    "cycles": [1001, 200, 70],
    "function": ["__mutex_lock_slowpath", "generic_file_llseek", "reader"],
    "frames": [["__mutex_lock_slowpath"], ["mutex_unlock", "generic_file_llseek"], ["reader"]],
    "field": ["inode.i_mutex.count", "inode.i_mutex.count", "file.f_count"],
}
# Of the slow path: 3 of 4 by lseek, through mutex_lock; unlink's waited as long.
SEEN: dict[str, list[Any]] = {
    "paddr": [LOCK, LOCK, LOCK],
    "pc": [0x10, 0x10, 0x20],
    "caller": [4, UNLINK, SYSCALL],
    "walks": [3, 1, 2],
    "cycles": [50, 50, 30],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_parquet(tmp_path, "callers", CALLERS)
    write_parquet(tmp_path, "site-callers", SEEN)
    write_parquet(tmp_path, "sites", SITES)
    lines = {"paddr": [LOCK, OTHER], "transfers_other_socket": [50, 4], "transfers_same_socket": [0, 1], "cycles": [1201, 70]}
    write_parquet(tmp_path, "lines", lines)
    types: dict[str, list[Any]] = {
        "paddr": [LOCK, OTHER],
        "kind": ["slab"] * 2,
        "type": ["struct inode"] * 2,
        "field": ["inode.i_mutex", "file.f_count"],
    }
    write_parquet(tmp_path, "memory-types", types)
    return tmp_path


def test_chains_go_outwards_and_the_most_frequent_is_first(folder: Path) -> None:
    assert callers.chains(folder)[(LOCK, 0x10)] == [
        Chain(("mutex_lock", "generic_file_llseek"), 3, 50),
        Chain(("do_unlinkat",), 1, 50),
    ]
    assert callers.chains(folder, [OTHER]) == {}


def test_who_takes_a_lock_is_who_called_its_code(folder: Path) -> None:
    found = callers.takers(folder, [LOCK, OTHER])
    assert found == {
        LOCK: [
            Taker("generic_file_llseek", (), 3 / 4, 1 / 2),  # not its own looks, where it gives the lock back
            Taker("do_unlinkat", (), 1 / 4, 1 / 2),
        ]
    }


def test_a_line_that_is_no_locks_is_taken_by_who_uses_it(folder: Path) -> None:
    write_parquet(folder, "site-callers", {**SEEN, "walks": [3, 1, 5]})
    found = callers.takers(folder, [LOCK])[LOCK]
    assert [one.function for one in found] == ["generic_file_llseek", "do_unlinkat"]
    assert [one.transfers_share for one in found] == pytest.approx([8 / 9, 1 / 9])


def test_where_all_are_primitives_the_outermost_takes() -> None:
    assert callers.without_primitives(("_raw_spin_lock", "mutex_lock")) == ("mutex_lock",)
    assert callers.without_primitives(("native_queued_spin_lock_slowpath", "_raw_spin_lock_irqsave", "d_alloc")) == ("d_alloc",)
    assert callers.without_primitives(("open", "_raw_spin_lock")) == ("open", "_raw_spin_lock")


def test_stacks_have_all_cycles(folder: Path) -> None:
    stacks = callers.waiting_stacks(folder)
    assert sum(stacks.values()) == sum(SITES["cycles"])
    assert stacks[("generic_file_llseek", "mutex_lock", "__mutex_lock_slowpath", "[inode.i_mutex.count]")] == 500
    assert stacks[("do_unlinkat", "__mutex_lock_slowpath", "[inode.i_mutex.count]")] == 501
    assert stacks[("reader", "[file.f_count]")] == 70


@pytest.mark.parametrize("weights", [[1], [1, 1, 1], [0, 5, 1], [3, 0, 0, 7]])
def test_parts_add_up(weights: list[int]) -> None:
    parts = callers.apportioned(1000, weights)
    assert sum(parts) == 1000
    assert all(abs(part - 1000 * weight / sum(weights)) < 1 for part, weight in zip(parts, weights, strict=True))


def test_a_site_is_split_among_the_entries_of_its_callers(folder: Path) -> None:
    found = {share.bottleneck.id: share for share in shares.summarise(folder).bottlenecks}
    assert found["lseek-mutex"].other_socket == 30 + 10
    assert found["folder-mutex"].other_socket == 10
    assert found["lseek-mutex"].cycles + found["folder-mutex"].cycles == 1201
    assert sum(share.other_socket for share in found.values()) == 54


def test_rules_ask_for_callers() -> None:
    catalogue = Catalogue()

    def entry(*chain: str) -> str:
        return catalogue.classify("inode.i_mutex.count", ["mutex_lock"], True, chain).id

    assert entry("generic_file_llseek", "sys_lseek") == "lseek-mutex"
    assert entry("do_unlinkat") == "folder-mutex"
    assert entry() == "lseek-mutex"  # not known: what it is on the paper's machine
    assert entry("somebody_else") == "inode-state"  # the next entry that has the field
    assert catalogue.asks_callers("inode.i_mutex.count")
    assert not catalogue.asks_callers("dentry.d_count")


def test_a_report_has_no_identifier_twice() -> None:
    taker = Taker("dput", ("terminate_walk",), 1.0, 1.0)

    class Found:
        """What the sections ask of a run."""

        transfers_count, caption, cycles_note = True, "a run", ""
        kept = SimpleNamespace(takers={0: [taker]}, stacks={"open;dput;[dentry.d_count]": 5})

        def hot_lines(self, count: int) -> list[SimpleNamespace]:
            return [SimpleNamespace(paddr=0, label="dentry.d_count")][:count]

    run = cast(Run, Found())
    sections = [*caller_sections.line_takers(run, "stat"), *caller_sections.waiting(run, "stat")]
    ids = [one.anchor for one in sections]
    ids += [figure.id for one in sections for figure in one.figures]
    ids += [table.id for one in sections for table in one.tables]
    assert len(sections) == 2 and len(set(ids)) == len(ids)

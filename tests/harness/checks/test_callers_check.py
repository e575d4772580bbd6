# SPDX-License-Identifier: BSD-3-Clause
"""The parts of `verify callers` that need no guest."""

from pathlib import Path
from typing import Any

import pytest
from records_file import write_parquet

from analysis.report.callers import Taker
from common.outcome import Failure
from harness.checks.verify.callers import call_of, lock_takers, shares_of


def test_functions_of_both_kernels_are_told_apart() -> None:
    names = {"set_close_on_exec": "fcntl", "close_fd": "close", "sys_close": "close", "sys_dup3": "dup2", "ksys_dup3": "dup2"}
    assert {name: call_of(name) for name in names} == names
    assert call_of("alloc_fd") is None


def test_shares_are_summed_by_call() -> None:
    found = [Taker("ksys_dup3", (), 0.4, 0.1), Taker("__x64_sys_dup2", (), 0.1, 0.1), Taker("close_fd", (), 0.5, 0.8)]
    assert shares_of(found) == {"fcntl": 0, "close": 0.5, "dup2": pytest.approx(0.5)}


def test_the_lock_that_moved_most_is_judged(tmp_path: Path) -> None:
    lock = "files_struct.file_lock.rlock.raw_lock"
    sites: dict[str, list[Any]] = {
        "paddr": [0x40, 0x80, 0xC0],
        "pc": [1, 2, 3],
        "field": [lock, lock, "other"],
        "function": ["close_fd"] * 3,
        "transfers_other_socket": [3, 5, 90],
    }
    write_parquet(tmp_path, "sites", sites)
    write_parquet(tmp_path, "callers", {"caller": []})
    write_parquet(tmp_path, "site-callers", {"paddr": [0x40, 0x80], "pc": [1, 2], "caller": [0, 0], "walks": [9, 4]})
    assert lock_takers(tmp_path) == [Taker("close_fd", (), 1.0, 0.0)]
    write_parquet(tmp_path, "sites", {**sites, "field": ["other"] * 3})
    with pytest.raises(Failure, match="has the field"):
        lock_takers(tmp_path)

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py bottlenecks`: which points it means, and what it prints of their runs. Nothing is run."""

import argparse
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.report.agreement import Side
from common.outcome import Failure
from harness.cli import bottlenecks


def selected(*words: str) -> list[bottlenecks.Case]:
    parser = argparse.ArgumentParser()
    bottlenecks.configure(parser)
    return bottlenecks.select(parser.parse_args(words))


def test_all_sixteen_on_both_engines_and_kernels() -> None:
    cases = selected("--cores", "2,8")
    assert sorted({case.fix.number or 0 for case in cases}) == list(range(1, 17))
    assert len(cases) == 16 * 2 * 2 * 2
    assert {case.point.engine for case in cases} == {"gem5", "fast"}
    first = {"stock", "net-device", "inode-lists", "superpage-mutex"}  # what binds before 9, 13 and 16
    assert {case.point.fix_set for case in cases} == {"pk", *first}
    assert {case.point.fix_set for case in cases if case.fix.number == 13} == {"inode-lists", "pk"}
    assert all(int(case.point.parameters["iterations"]) <= 101 for case in cases)
    many = selected("--cores", "48")
    assert max(int(case.point.parameters["iterations"]) for case in many if case.point.fix_set != "pk") == 31
    assert max(int(case.point.parameters["iterations"]) for case in many if case.point.fix_set == "pk") == 211


def test_some_by_name_and_by_number() -> None:
    assert {case.fix.name for case in selected("lseek", "2", "--engine", "fast")} == {"lseek", "dentry-count"}
    assert len(selected("lseek", "--engine", "fast", "--cores", "2")) == 2  # the fast engine is not beside itself


def test_what_cannot_be_is_told() -> None:
    with pytest.raises(Failure, match="There is no fix 'nothing' with a benchmark"):
        selected("nothing")
    with pytest.raises(Failure, match=r"Fixes are of one source, and the kernels are of linux-2\.6\.35 and linux-6\.1"):
        selected("--kernel", "linux-2.6.35:stock,linux-6.1:stock")


def test_a_case_in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    (case, *_) = selected("lseek", "--cores", "2")
    side = Side("gem5", 10, 1234.0, 40.0, 5.0, {"inode.i_mutex": 30.0}, 40.0, {"transfers": 40.0, "directed probes": 20.0}, 99.0)
    site = SimpleNamespace(function="generic_file_llseek")
    run = SimpleNamespace(folder=None, hot_lines=lambda count: [SimpleNamespace(paddr=0x40, sites=[site])][:count])
    monkeypatch.setattr(bottlenecks, "measure", lambda folder, wanted: (0.0, 3.5))
    counts, fields = bottlenecks.tables([(case, bottlenecks.Seen(side, cast(Any, run), case.fix.measure))])
    assert [next(iter(column.cells)) for column in counts.columns] == [
        "14 lseek",
        "2",
        "linux-2.6.35:stock",
        "gem5",
        "1,234",
        "3.50",
        "4.00",
        "",  # what the engine does not count
        "",
        "2.00",
        "",
        "",
    ]
    assert [next(iter(column.cells)) for column in fields.columns][4:] == ["inode.i_mutex", "75 %", "0x40", "generic_file_llseek"]

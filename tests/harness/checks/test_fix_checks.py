# SPDX-License-Identifier: BSD-3-Clause
"""What the checks of the kernel fixes make of given figures and consoles."""

import argparse
from pathlib import Path
from typing import Any

import pytest
from records_file import write_parquet

from common.outcome import Failure, Outcome
from harness.build.kernel import Kernel
from harness.checks.verify import fix_stress, fixes, fixes_apply
from harness.checks.verify.fix_stress import Stressed, complaints
from harness.checks.verify.fixes import Cost, Row, Seen, matches
from harness.checks.verify.fixes_apply import Applied, Compared
from harness.spec.fixes import Measure, Piece


def _row(stock: Seen, fixed: Seen, reduction: float | None = 10) -> Row:
    wanted = Measure("micro:lseek", {}, ("inode.i_mutex",), ("upgrades",), reduction, "")
    return Row("linux-2.6.35", Piece("lseek", "", Path(), 14, measure=wanted), stock, fixed)


@pytest.mark.parametrize(("outcome", "goes_on"), [(Outcome.WRONG_RESULT, True), (Outcome.INTERRUPTED, False)])
def test_who_interrupts_one_fix_ends_the_check(monkeypatch: pytest.MonkeyPatch, outcome: Outcome, goes_on: bool) -> None:
    def end(*_: object) -> Seen:
        raise Failure(outcome, "It ended.", "Again.")

    monkeypatch.setattr(fixes, "_see", end)
    piece = Piece("lseek", "", Path(), 14, measure=Measure("micro:lseek", {}, (), (), 10, ""))
    if goes_on:
        assert fixes._row("linux-2.6.35", piece, False, "small-2x2", 1).fault == "It ended."
    else:
        with pytest.raises(Failure, match="It ended"):
            fixes._row("linux-2.6.35", piece, False, "small-2x2", 1)


def test_a_fix_is_measured_over_those_that_hide_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def see(source: str, which: str, *_: object) -> Seen:
        seen.append(which)
        return Seen(1, 1, (1,), 1)

    monkeypatch.setattr(fixes, "_see", see)
    for over, together in ((("net-device",), False), (("net-device",), True), ((), False)):
        wanted = Measure("micro:card-udp-echo", {}, (), (), 10, "", over)
        fixes._row("linux-2.6.35", Piece("dma-node", "", Path(), 9, measure=wanted), together, "small-2x2", 1)
    assert seen == ["net-device", "net-device+dma-node", "stock", "pk", "stock", "dma-node"]


def test_a_fix_is_judged_by_stores_moves_and_throughput() -> None:
    stock = Seen(stores=4, moved=2, rates=(1000,), alone=5000)
    assert _row(stock, Seen(0.4, 0.2, (999,), 4950)).problems == []
    assert _row(stock, Seen(0, 0, (3000,), 5000)).problems == []
    assert _row(stock, Seen(0.5, 0, (3000,), 5000)).problems == ["8.0 x instead of 10 x"]
    assert _row(stock, Seen(0, 0, (900,), 4000)).problems == ["slower on all cores", "slower on one core"]
    assert _row(Seen(0, 2, (1,), 1), Seen(0, 0.1, (1,), 1)).problems == []
    assert _row(Seen(0, 0, (1,), 1), Seen(0, 0, (1,), 1)).problems == ["nothing to see on its lines"]
    assert _row(Seen(1, 1, (1,), 1), Seen(1, 1, (1,), 1), None).problems == []
    assert Row("linux", Piece("x", "", Path()), fault="no compiler").problems == ["no compiler"]
    slower = _row(Seen(4, 2, (9,), 100, Cost(900, 1100, 100, 10)), Seen(0, 0, (9,), 96, Cost(910, 1145, 130, 10)))
    assert slower.problems == ["slower on one core (+1.5 % cycles without waits for code)"]
    assert not fixes.judge([]).passed
    assert fixes.judge([_row(stock, Seen(0, 0, (3000,), 5000))]).passed


def test_slower_is_what_trials_do_not_have_among_themselves() -> None:
    calm, wild = (1000.0, 1001.0, 999.0), (800.0, 1200.0, 1000.0)
    assert _row(Seen(4, 2, calm, 1), Seen(0, 0, (980.0, 981.0, 979.0), 1)).problems == ["slower on all cores"]
    assert _row(Seen(4, 2, calm, 1), Seen(0, 0, (995.0, 996.0, 994.0), 1)).problems == []
    assert _row(Seen(4, 2, wild, 1), Seen(0, 0, (980.0, 981.0, 979.0), 1)).problems == []
    assert _row(Seen(4, 2, wild, 1), Seen(0, 0, (600.0, 601.0, 599.0), 1)).problems == ["slower on all cores"]


@pytest.mark.parametrize(
    ("label", "name", "wanted"),
    [
        ("inode.i_mutex.wait_lock", "inode.i_mutex", True),
        ("inode.i_mutex", "inode.i_mutex", True),
        ("struct inode.i_mutex", "inode.i_mutex", True),
        ("inode.i_mutexes", "inode.i_mutex", False),
        ("files_lock", "files_lock", True),
        ("inodes_stat[2]", "inodes_stat", True),
    ],
)
def test_names_of_lines(label: str, name: str, wanted: bool) -> None:
    assert matches(label, [name]) is wanted


def test_what_a_kernel_complains_of() -> None:
    good = "[    0.1] Lock dependency validator: Copyright (c) 2006 Red Hat\n[    1.0] SLUB: Genslabs=15\n@mosbench BUG: {}\n"
    assert complaints(good) == []
    for line in (
        "WARNING: at fs/namespace.c:648 mntput_no_expire+0x1/0x2()",
        "[ INFO: possible circular locking dependency detected ]",
        "[ INFO: inconsistent lock state ]",
        "=[ BUG: bad unlock balance detected! ]",
        "BUG kmalloc-64: Poison overwritten",
        "BUG: unable to handle kernel NULL pointer dereference at 0000000000000008",
    ):
        assert complaints(good + line + "\n") == [line]


def test_a_stress_that_ends_says_what_was_answered_wrongly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def boot(*given: object) -> None:
        folder = given[-1]
        assert isinstance(folder, Path)
        folder.mkdir()
        (folder / "console.log").write_text("stress: moved is not there\nBUG: soft lockup\nstress: a worker ended\n")
        raise Failure(Outcome.WRONG_RESULT, "It ended.", "Again.")

    monkeypatch.setattr(fix_stress, "_boot", boot)
    built = Kernel(tmp_path, tmp_path, "6.1.0", tmp_path, "0")
    found = fix_stress._one("linux-6.1", "stock", "expiry", 2, 100, built, tmp_path)
    assert found.fault == "It ended.; stress: moved is not there; BUG: soft lockup"


def test_a_number_of_cores_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    fix_stress.configure(parser)
    assert parser.parse_args([]).cores == 12
    (point,) = fix_stress.planned(parser.parse_args(["--cores", "3", "--variant", "seeks", "--source", "linux-6.1"]))
    assert point.cores == 3
    with pytest.raises(SystemExit):
        parser.parse_args(["--cores", "x"])
    assert "x is not a whole number of 1 or more" in capsys.readouterr().err


def test_a_stress_needs_its_operations_on_each_source() -> None:
    done = [Stressed("linux-6.1", "pk", "files", 600, ""), Stressed("linux-6.1", "pk", "mounts", 400, "")]
    assert fix_stress.judge(done, 1000).passed
    assert not fix_stress.judge([*done, Stressed("linux-2.6.35", "pk", "files", 999, "")], 1000).passed
    assert not fix_stress.judge([*done, Stressed("linux-6.1", "pk", "more", 9, "BUG")], 1000).passed
    assert not fix_stress.judge([], 1000).passed


def test_every_set_must_apply_and_every_object_be_the_same() -> None:
    good, bad = Applied("linux", "lseek", 1, 1, ""), Applied("linux", "dcache", 1, 1, "no")
    same, other, none = (Compared("linux", "fs/a.o", state) for state in ("same", "different", "not built"))
    assert fixes_apply.judge([good], [same, none], True).passed
    assert fixes_apply.judge([good], [], False).passed
    assert not fixes_apply.judge([good], [none], True).passed
    assert not fixes_apply.judge([good, bad], [same], True).passed
    assert not fixes_apply.judge([good], [same, other], True).passed
    assert not fixes_apply.judge([], [], False).passed


def test_what_is_measured_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "point.toml").write_text('workload = "micro"\ncores = 2\ncore_list = [0, 3]\n')
    (tmp_path / "metrics.json").write_text('{"units": 10}')
    (tmp_path / "provenance.json").write_text("{}")
    # Of the lines of the lock, cores 0 and 3 both store to the first, only core 0 to the second.
    write_parquet(tmp_path, "lines", {"paddr": [64, 128, 192], "writers": [0b1001, 0b0001, 0b1001]})
    sites: dict[str, list[Any]] = {
        "paddr": [64, 64, 128, 192],
        "field": ["inode.i_mutex.count", "inode.i_mutex", "struct inode.i_mutex", "inode.i_size"],
        "writes": [20, 10, 5, 1000],
        "upgrades": [3, 4, 1, 1000],
        "l3_hits": [0, 0, 2, 1000],
    }
    write_parquet(tmp_path, "sites", sites)
    wanted = Measure("micro:lseek", {}, ("inode.i_mutex",), ("upgrades", "l3_hits"), 10, "")
    assert fixes.measure(tmp_path, wanted) == (3.0, 1.0)
    write_parquet(tmp_path, "sites", sites, unknown=["l3_hits"])
    with pytest.raises(Failure, match=r"no numbers in the column sites.l3_hits"):
        fixes.measure(tmp_path, wanted)

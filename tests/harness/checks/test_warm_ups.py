# SPDX-License-Identifier: BSD-3-Clause
"""Which points `verify warm-ups` compares, and that it fails where a region is cold, a run fails or there is none."""

import argparse
from pathlib import Path

import pytest

from common.outcome import Failure, bad_input
from harness.checks.registry import Check
from harness.checks.verify import warm_ups
from harness.checks.verify.measuring import Measured, point
from harness.checks.verify.warm_ups import Change, judge, pairs, variants
from harness.run import runner
from harness.run.console import ConsoleResult
from harness.spec import workload
from harness.spec.point import Point


def test_all_variants_that_are_measured() -> None:
    known = variants([])
    assert {"micro:open-close", "memcached:shared", "gmake:gcc", "metis:2m"} <= set(known)
    assert not any(text.startswith("stress") for text in known)
    assert variants(["micro:stat", "exim"]) == ["exim:split", "exim:single", "micro:stat"]
    with pytest.raises(Failure, match="'stress' is no workload that is measured"):
        variants(["stress"])


def test_every_default_can_be_doubled() -> None:
    made = list(pairs(variants([]), ["linux-6.1"]))
    assert len(made) == len(variants([]))
    for pair in made:
        first, second = point(pair.default), point(pair.twice)
        work = workload.load(first.workload).work
        assert int(second.parameters[work]) == 2 * int(first.parameters[work])
        assert first.cores == second.cores <= 2
        assert {key: value for key, value in first.parameters.items() if key != work}.items() <= second.parameters.items()


def change(default: float, twice: float) -> Change:
    return Change("micro:stat on linux-6.1", "calls", default, twice, 1.0)


def test_verdicts() -> None:
    assert judge([change(99, 100), change(100, 98.5)], []).passed
    cold = judge([change(100, 100), change(83, 100)], [])
    assert not cold.passed and "+17.0 % (micro:stat on linux-6.1)" in cold.line
    assert not judge([change(100, 90)], []).passed  # slower is as wrong
    assert not judge([], []).passed
    failed = judge([change(100, 100)], ["exim on linux-6.1: it failed"])
    assert not failed.passed and "exim on linux-6.1: it failed" in failed.line


def checked(monkeypatch: pytest.MonkeyPatch, startup: int) -> Check:
    """`verify warm-ups` where an iteration takes 1,000 cycles and the region's begin ``startup`` more."""

    def execute(wanted: Point, folder: Path) -> Measured:
        folder.mkdir(parents=True)
        units = int(wanted.parameters["iterations"])
        result = {"units": units, "unit": "calls", "per_core": [units], "cycles_per_core": [startup + 1000 * units]}
        return Measured(wanted, folder, ConsoleResult((result | {"event": "result"},)))

    monkeypatch.setattr(warm_ups, "execute", execute)
    monkeypatch.setattr(warm_ups, "prepare_host", lambda: None)
    monkeypatch.setattr(runner, "prepare", lambda wanted: None)
    return warm_ups.run(argparse.Namespace(workload="micro:stat,micro:open-close", kernel="linux-6.1"))


def test_a_region_that_begins_cold_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    warm = checked(monkeypatch, startup=0)
    assert warm.passed and warm.judged == 2
    assert not checked(monkeypatch, startup=10_000).passed


def test_a_run_that_fails_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(wanted: Point, folder: Path) -> Measured:
        raise bad_input("the guest did not end.", "Look.")

    checked(monkeypatch, startup=0)
    monkeypatch.setattr(warm_ups, "execute", fails)
    ended = warm_ups.run(argparse.Namespace(workload="micro:stat", kernel="linux-6.1"))
    assert not ended.passed and "the guest did not end" in ended.line

# SPDX-License-Identifier: BSD-3-Clause
"""verify core-model: which points it runs, and what it says of the cycles that come out. Without an engine."""

import argparse
from collections.abc import Mapping
from pathlib import Path

import pytest

from common.terminal import console
from harness.checks.verify import core_model
from harness.spec.point import Point

CYCLES: Mapping[str, Mapping[str, float]] = {
    "micro:stat": {"gem5 o3": 1000, "fast in-order": 1700, "fast interval": 900},
    "micro:lseek": {"gem5 o3": 1000, "fast in-order": 1100, "fast interval": 1190},
}


def arguments(*works: str) -> argparse.Namespace:
    return argparse.Namespace(cores=(1,), set=["l2_kib=1024"], work=list(works))


def measured(monkeypatch: pytest.MonkeyPatch, cycles: Mapping[str, Mapping[str, float]]) -> None:
    """In the place of engines: cycles of workloads by side."""

    def of(wanted: Point, folder: Path) -> float:
        return cycles[f"{wanted.workload}:{wanted.variant}"][folder.name]

    monkeypatch.setattr(core_model, "busy_cycles", of)
    monkeypatch.setattr(core_model, "prepare_host", lambda: None)
    monkeypatch.setattr(core_model, "skipped", lambda name: None)


def test_each_region_has_a_point_on_each_side() -> None:
    points = core_model.planned(arguments("micro:stat"))
    assert [(one.engine, one.machine.core) for one in points] == [("gem5", "o3"), ("fast", "in-order"), ("fast", "interval")]
    assert {one.machine.l2_kib for one in points} == {1024}
    assert len(core_model.WORK) >= 10


def test_applications_are_run_on_one_core_only() -> None:
    points = core_model.planned(argparse.Namespace(cores=(1, 4), set=[], work=[]))
    of_cores = {count: {point.workload for point in points if point.cores == count} for count in (1, 4)}
    assert of_cores == {1: {"micro", "exim", "memcached", "postgresql"}, 4: {"micro"}}


def test_holds_where_every_region_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, CYCLES)
    check = core_model.run(arguments(*CYCLES))
    assert check.passed
    assert check.judged == 2
    assert "largest deviation 19.0 % (micro:lseek, 1 core), mean 14.5 %, of in-order cores 40.0 %" in check.figure


def test_one_region_that_is_far_is_enough_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    measured(monkeypatch, {**CYCLES, "micro:lseek": {"gem5 o3": 1000, "fast in-order": 1000, "fast interval": 799}})
    assert not core_model.run(arguments(*CYCLES)).passed


def test_the_table_says_which_way_it_is_off(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(core_model.table([core_model.Region("micro:stat", 1, CYCLES["micro:stat"])]))
    said = "".join(capsys.readouterr())
    assert "+70.0 %" in said
    assert "-10.0 %" in said

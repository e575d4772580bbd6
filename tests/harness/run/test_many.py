# SPDX-License-Identifier: BSD-3-Clause
"""Trials until a mean is known: a loop over all points at once, with an end."""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fake_runs import point as small_point

from common.outcome import Outcome
from harness.cli import lab, options
from harness.cli.main import main
from harness.run import many
from harness.run.executors.base import Executor, Finished
from harness.run.executors.inline import InlineExecutor
from harness.spec.point import Point, resolve

ONE, OTHER = small_point(1), small_point(2)


Rate = Callable[[Point], float | None]
Batches = list[list[tuple[int, int]]]


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Callable[[Rate], Batches]:
    """Make points run with a throughput that a function says, None for a failure; returns (cores, trial) of each batch."""

    def install(rate: Rate) -> Batches:
        seen: Batches = []

        def run(points: Sequence[Point], root: Path, *, executor: Callable[[], Executor], reuse: str) -> list[Finished]:
            seen.append([(point.cores, point.trial) for point in points])
            return [finish(point, root / point.id) for point in points]

        def finish(point: Point, folder: Path) -> Finished:
            found = rate(point)
            if found is None:
                return Finished(point, Outcome.GUEST_PANIC)
            folder.mkdir()
            (folder / "point.toml").write_text('engine = "fast"')
            (folder / "provenance.json").write_text("{}")
            (folder / "metrics.json").write_text(json.dumps({"units_per_second_core": found}))
            return Finished(point, Outcome.OK, folder=folder)

        monkeypatch.setattr(many, "run_points", run)
        return seen

    return install


def first(*points: Point) -> list[Point]:
    return [replace(point, trial=trial) for point in points for trial in (1, 2, 3)]


def until_known(points: Sequence[Point], root: Path, width: float = 0.05) -> list[Finished]:
    return many.run_until_known(points, root, executor=InlineExecutor, reuse="same", width=width)


def test_what_is_known_after_three_trials_gets_no_more(batches: Callable[[Rate], Batches], tmp_path: Path) -> None:
    seen = batches(lambda point: 100.0 + point.trial)
    assert len(until_known(first(ONE, OTHER), tmp_path)) == 6
    assert seen == [[(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]]


def test_only_what_is_not_known_gets_another(batches: Callable[[Rate], Batches], tmp_path: Path) -> None:
    # 90, 110, 100, then 100 for ever: half the interval is 24.8 %, 13.0 %, 8.8 %, 6.6 %, 5.3 %, 4.5 % of the mean.
    rates = {1: 90.0, 2: 110.0}
    seen = batches(lambda point: rates.get(point.trial, 100.0) if point.cores == 2 else 7.0)
    ended = until_known(first(ONE, OTHER), tmp_path)
    assert seen[1:] == [[(2, trial)] for trial in (4, 5, 6, 7, 8)]
    assert len(ended) == 11


def test_it_ends_where_a_mean_does_not_become_known(batches: Callable[[Rate], Batches], tmp_path: Path) -> None:
    seen = batches(lambda point: 1.0 if point.trial % 2 else 9.0)
    assert len(until_known(first(ONE), tmp_path)) == many.MOST_TRIALS
    assert seen[-1] == [(1, many.MOST_TRIALS)]


def test_a_point_that_fails_gets_no_more_trials(batches: Callable[[Rate], Batches], tmp_path: Path) -> None:
    seen = batches(lambda point: None if point.trial == 2 else float(point.trial))
    ended = until_known(first(ONE), tmp_path)
    assert len(seen) == 1
    assert [one.outcome for one in ended] == [Outcome.OK, Outcome.GUEST_PANIC, Outcome.OK]


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    lab.configure(parser)
    return parser.parse_args(arguments)


def test_options() -> None:
    auto = parse("--trials", "auto", "--width", "2.5%")
    assert (options.trials(auto), options.width(auto)) == (["1", "2", "3"], 0.025)
    assert options.width(parse("--trials", "auto")) == 0.05
    plain = parse("--trials", "4", "--width", "1%")
    assert (options.trials(plain), options.width(plain)) == (["1", "2", "3", "4"], None)


@pytest.mark.parametrize(
    "arguments", [["--trials", "0"], ["--trials", "some"], ["--width", "5"], ["--width", "0%"], ["--width", "x%"]]
)
def test_nonsense_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(*arguments)
    assert arguments[1] in capsys.readouterr().err


def test_trials_are_said_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "parts", lambda wanted, extra_config: [])
    monkeypatch.setenv("COLUMNS", "160")
    text = "workload=micro:stat * cores=1 * trial=1+2"
    assert main(["sweep", "--dry-run", "--trials", "2", text]) == Outcome.BAD_INPUT.exit_status
    assert main(["sweep", "--dry-run", "--trials", "auto", "workload=micro:stat * cores=1"]) == 0
    shown = capsys.readouterr().out
    points = [line.split("  ")[0] for line in shown.splitlines() if line.startswith(" micro:")]
    assert [title.rpartition(", ")[2] for title in points] == ["fast", "trial 2", "trial 3"]
    assert f"up to {many.MOST_TRIALS}, may follow" in shown


def test_points_of_one_disk_need_it_once() -> None:
    texts = ("postgresql:rows=5000", "postgresql:rows=6000", "postgresql:size=paper", "postgresql:size=paper,locks=16")
    wanted = [resolve({"workload": text, "cores": "1"}) for text in texts]
    disks = [part for part in many.parts(wanted) if part.kind == "images"]
    assert [part.name for part in disks] == ["disk of postgresql", "disk of postgresql with rows=10000000, files=0"]
    assert disks[0].stem != disks[1].stem

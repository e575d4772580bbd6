# SPDX-License-Identifier: BSD-3-Clause
"""What `verify applications` selects, and when a run's cost falls short."""

import argparse
import shutil
from pathlib import Path

import pytest

from common.outcome import Failure, Outcome
from harness.checks.verify import applications, gem5_applications, wrong_result
from harness.checks.verify.measuring import point
from harness.run import runner
from harness.run.runner import Ran
from harness.spec.point import Point


def test_words_are_applications_kernels_or_small() -> None:
    names, kernels, small = applications.select(["small", "metis", "psearchy"])
    assert (names, kernels, small) == (["psearchy", "metis"], ["linux-6.1"], True)  # in the paper's order
    names, kernels, small = applications.select(["linux-6.1"])
    assert len(names) == 7 and kernels == ["linux-6.1"] and not small


@pytest.mark.parametrize(("word", "part"), [("mikro", "no application and no kernel"), ("linux-9.9", "linux-9.9")])
def test_other_words_are_refused(word: str, part: str) -> None:
    with pytest.raises(Failure, match=part):
        applications.select([word])


def test_a_run_falls_short_by_result_time_or_memory() -> None:
    def cost(said: str = "", cpu: float = 10.0, peak: int = 10**9) -> applications.Cost:
        return applications.Cost("metis", "linux-6.1", said, cpu, 20.0, peak)

    assert cost().shortcomings == []
    assert cost(said="mosbench: wrong-result: x").shortcomings == ["metis on linux-6.1: mosbench: wrong-result: x"]
    assert len(cost(cpu=301.0, peak=9 * 10**9).shortcomings) == 2
    line = applications.figure([cost(), cost(cpu=33.0), cost(said="x")], ["linux-6.1"])
    assert line.startswith("applications: 2 of 3 right on linux-6.1; seconds: metis 33; at most 1.0 GB")


@pytest.mark.parametrize(("words", "load"), [(["--engine", "gem5"], "loopback"), ([], "card")])
def test_points_are_those_of_the_engine(words: list[str], load: str) -> None:
    parser = argparse.ArgumentParser()
    applications.configure(parser)
    (found,) = applications.planned(parser.parse_args([*words, "--cores", "8", "memcached", "linux-6.1"]))
    assert (found.engine, found.cores, found.parameters["load"]) == (words[-1] if words else "fast", 8, load)


def test_windows_are_of_gem5s_points() -> None:
    parser = argparse.ArgumentParser()
    applications.configure(parser)
    (found,) = applications.planned(parser.parse_args(["--engine", "gem5", "--windows", "6", "exim", "linux-6.1"]))
    assert (found.machine.windows, found.machine.node_mib) == (6, 256)


def test_the_fast_engine_has_no_windows() -> None:
    parser = argparse.ArgumentParser()
    applications.configure(parser)
    with pytest.raises(Failure, match="--windows is for gem5"):
        applications.planned(parser.parse_args(["--windows", "6", "exim", "linux-6.1"]))


def test_on_gem5_each_application_is_judged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run_point(wanted: Point, root: Path) -> Ran:
        raise Failure(Outcome.WRONG_RESULT, f"{wanted.workload} counted wrongly.", "Look.")

    monkeypatch.setattr(runner, "run_point", run_point)
    ended = gem5_applications.run([(name, point(f"engine=gem5 * cores=8 * workload={name}")) for name in ("metis", "gmake")])
    assert not ended.passed and ended.judged == 2
    assert ended.figure == "applications: 0 of 2 right on gem5; wanted: all"
    assert "metis on 8 cores of linux-6.1:stock: wrong-result: metis counted wrongly. Look." in capsys.readouterr().out


@pytest.mark.parametrize("outcome", [Outcome.BAD_INPUT, Outcome.INTERRUPTED])
def test_on_gem5_what_the_host_ends_is_no_result(monkeypatch: pytest.MonkeyPatch, outcome: Outcome) -> None:
    def run_point(wanted: Point, root: Path) -> Ran:
        raise Failure(outcome, "It ended.", "Begin again.")

    monkeypatch.setattr(runner, "run_point", run_point)
    with pytest.raises(Failure, match="It ended"):
        gem5_applications.run([("metis", point("engine=gem5 * workload=metis"))])


def test_a_complete_run_is_kept_unless_there_is_one(tmp_path: Path) -> None:
    wanted = point("cores=48 * workload=metis")
    for text in ("first", "second"):
        (tmp_path / "new" / wanted.id).mkdir(parents=True)
        (tmp_path / "new" / wanted.id / "outcome.json").write_text(text)
        applications.move(wanted, tmp_path / "new", tmp_path / "runs")
        assert (tmp_path / "runs" / wanted.id / "outcome.json").read_text() == "first"
        shutil.rmtree(tmp_path / "new")


def test_every_application_has_a_fault_to_provoke() -> None:
    cases = list(wrong_result.cases(applications.applications()))
    assert sum(fault == "none" for _, fault, _ in cases) == 7
    assert len(cases) >= 14

# SPDX-License-Identifier: BSD-3-Clause
"""What `verify applications` selects, and when a run's cost falls short."""

import argparse
import shutil
from pathlib import Path

import pytest

from common.outcome import Failure
from harness.checks.verify import applications, wrong_result
from harness.checks.verify.measuring import point


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


def test_on_gem5_right_results_are_enough() -> None:
    cost = applications.Cost("metis", "linux-6.1", "", 4000.0, 5000.0, 9 * 10**9, limited=False)
    assert cost.shortcomings == []
    assert applications.figure([cost], ["linux-6.1"]).endswith("wanted: all right")


@pytest.mark.parametrize(("words", "load"), [(["--engine", "gem5"], "loopback"), ([], "card")])
def test_points_are_those_of_the_engine(words: list[str], load: str) -> None:
    parser = argparse.ArgumentParser()
    applications.configure(parser)
    (found,) = applications.planned(parser.parse_args([*words, "--cores", "8", "memcached", "linux-6.1"]))
    assert (found.engine, found.cores, found.parameters["load"]) == (words[-1] if words else "fast", 8, load)


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

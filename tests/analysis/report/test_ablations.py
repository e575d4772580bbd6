# SPDX-License-Identifier: BSD-3-Clause
"""What kernel fixes bring: one after another, each alone, all but one."""

import copy
import re
from io import StringIO
from itertools import combinations
from pathlib import Path

import pytest
from rich.console import Console

from analysis.report import page
from analysis.report.ablations import ALONE, BUT_ONE, IN_ORDER, ablations, chain_labels
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.tables import ablation_table, show


@pytest.fixture(scope="module")
def loaded(compared: list[Path]) -> list[Run]:
    return load_runs(compared)


def kernels(loaded: list[Run], *sets: str) -> list[Run]:
    """Runs of the microbenchmark with these fixes, a letter each; each fix is worth what `WORTH` says, and `abcd` is pk."""
    (stock,) = (run for run in loaded if run.application == "micro" and not run.fixes)
    made = []
    for fixes in sets:
        run = copy.copy(stock)
        run.point = {**stock.point, "fixes": list(fixes), "fix_set": "pk" if fixes == "abcd" else "+".join(fixes) or "stock"}
        run.metrics = {**stock.metrics, "units_per_second_core": 10.0 + sum(WORTH[fix] for fix in fixes)}
        run.trials = (run,)
        made.append(run)
    return made


WORTH = {"a": 1.0, "b": 10.0, "c": 0.0, "d": 5.0}


def test_one_after_another(loaded: list[Run]) -> None:
    (one,) = ablations(loaded)
    assert one.scheme is IN_ORDER
    assert [run.per_core for run in one.runs] == [10, 20, 25, 50]
    assert one.labels == ("stock", "+ b", "+ c", "+ a (pk)")


def test_a_set_that_does_not_contain_the_one_before(loaded: list[Run]) -> None:
    (one,) = ablations(loaded)
    assert chain_labels([one.runs[0], one.runs[2], one.runs[1]]) == ["stock", "+ b, c", "b"]


def test_steps_in_a_table(loaded: list[Run]) -> None:
    (one,) = ablations(loaded)
    steps = [row[:3] for row in ablation_table(one, 160).rows_of_figures()]
    assert steps == [["10", "", ""], ["20", "2 x", "2 x"], ["25", "+25.0 %", "2.5 x"], ["50", "2 x", "5 x"]]
    out = StringIO()
    show(one.runs, Console(file=out, width=200), steps=True)
    labels = re.search("One fix after another.*", out.getvalue(), re.DOTALL)
    assert labels and re.findall(r"^(stock|\+ .*)$", labels[0], re.MULTILINE) == ["stock", "+ b", "+ c", "+ a (pk)"]


def test_trials(loaded: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = ablations(loaded)
    worse = Run(one.runs[1].folder)
    worse.metrics["units_per_second_core"] = 5.0
    monkeypatch.setattr(one.runs[1], "trials", (one.runs[1], worse))
    row = ablation_table(one, 160).rows_of_figures()[1]
    assert row[:-1] == ["12.5", "5 to\n20 (2)", "", "+25.0 %", "+25.0 %"]
    page.write(one.runs, tmp_path / "report.html")
    assert "the mean of up to 2 trials, whose range is the dark line across its end" in (tmp_path / "report.html").read_text()


def test_two_kernels_are_none(loaded: list[Run]) -> None:
    assert ablations([run for run in loaded if run.application == "exim"]) == []


def test_each_fix_alone(loaded: list[Run]) -> None:
    (one,) = ablations(kernels(loaded, "", "a", "b", "c", "abcd"))
    assert one.scheme is ALONE
    assert one.labels == ("stock", "b", "a", "c", "all (pk)")  # the largest first
    assert one.headings == ("against stock",)
    assert [row[:2] for row in ablation_table(one, 160).rows_of_figures()] == [
        ["10", ""],
        ["20", "2 x"],
        ["11", "+10.0 %"],
        ["10", "+0.0 %"],
        ["26", "2.6 x"],
    ]


def test_all_fixes_but_one(loaded: list[Run]) -> None:
    (one,) = ablations(kernels(loaded, "", "abc", "abd", "acd", "abcd"))
    assert one.scheme is BUT_ONE
    assert one.labels == ("all (pk)", "without b", "without d", "without c", "stock")  # what is missed most first
    assert one.headings == ("against all",)
    assert [row[1] for row in ablation_table(one, 160).rows_of_figures()] == ["", "-38.5 %", "-19.2 %", "+0.0 %", "0.38 x"]


def test_all_three_schemes(loaded: list[Run]) -> None:
    """Sets that belong to two schemes are in both: the first fix alone, and all but the last."""
    every = ["", "a", "b", "c", "d", "ab", "abc", "abd", "acd", "bcd", "abcd"]
    in_order, alone, but_one = ablations(kernels(loaded, *every))
    assert in_order.labels == ("stock", "+ a", "+ b", "+ c", "+ d (pk)")
    assert len(alone.runs) == 6 and len(but_one.runs) == 6


def test_no_chain_of_what_other_schemes_ran(loaded: list[Run]) -> None:
    sets = ["", *"abcd", *("".join(three) for three in combinations("abcd", 3)), "abcd"]
    assert [one.scheme for one in ablations(kernels(loaded, *sets))] == [ALONE, BUT_ONE]


def test_each_scheme_in_the_report(loaded: list[Run], tmp_path: Path) -> None:
    page.write(kernels(loaded, "", "a", "b", "ab", "abc", "abd", "abcd"), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert all(scheme.title in text and scheme.explanation[:40] in text for scheme in (IN_ORDER, ALONE, BUT_ONE))

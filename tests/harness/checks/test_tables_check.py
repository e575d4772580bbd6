# SPDX-License-Identifier: BSD-3-Clause
"""verify tables can fail: a key that is left out of a series, a figure that is not the files', a heading without a word."""

import argparse
import json
from pathlib import Path

import pytest

from analysis.report.series import load_runs
from analysis.report.words import Word, load_words
from harness.checks.registry import Check
from harness.checks.verify import tables
from harness.checks.verify.measuring import point
from harness.checks.verify.warm_ups import Change
from harness.spec import point as points
from harness.spec.machine_schema import schema

RATES = (100.0, 110.0, 126.0)


@pytest.fixture
def trials(tmp_path: Path) -> list[Path]:
    """Three trials of a point, without tables."""
    made = []
    for number, rate in enumerate(RATES, 1):
        folder = tmp_path / f"trial-{number}"
        folder.mkdir()
        points.write(point(f"machine=small-2x2 * workload=micro:open-close * cores=2 * trial={number}"), folder / "point.toml")
        (folder / "metrics.json").write_text(json.dumps({"units_per_second_core": rate, "unit": "opens", "units": 10}))
        engine = {"name": "fast", "note": "", "cycles": "a model's"}
        (folder / "provenance.json").write_text(json.dumps({"digests": {"kernel": "k"}, "engine": engine}))
        made.append(folder)
    return made


def copied(trials: list[Path], folder: Path) -> dict[str, Path]:
    return dict(tables.copies(trials[0], points.read(trials[0] / "point.toml"), folder / "copies"))


def test_every_key_makes_a_series(trials: list[Path], tmp_path: Path) -> None:
    made = copied(trials, tmp_path)
    assert {"kernel", "fixes", "order", "engine", "cores", "parameters.warmup", "machine.hop_cycles"} <= made.keys()
    assert {key.removeprefix("machine.") for key in made if key.startswith("machine.")} == set(schema().keys)
    assert tables.merged(trials, made) == []


@pytest.mark.parametrize("key", ["order", "engine"])
def test_a_key_that_is_left_out_is_found(key: str, trials: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = copied(trials, tmp_path)
    monkeypatch.setattr("analysis.report.runs._DERIVED", ("id", "fix_set", "core_list", "machine_changes", "trial", key))
    assert any(sentence.startswith(f"{key}: ") for sentence in tables.merged(trials, made))


def test_a_key_without_another_value_is_no_success(trials: list[Path]) -> None:
    text = (trials[0] / "point.toml").read_text()
    for key in ("weather", "machine.weather", "trial"):
        with pytest.raises(ValueError, match=key.rpartition(".")[2]):
            tables.changed(text, key)


def test_trials_that_are_not_shown_as_they_are(trials: list[Path]) -> None:
    (run,) = load_runs(trials)
    assert tables.untrue(run, trials) == []
    (trials[1] / "metrics.json").write_text(json.dumps({"units_per_second_core": 90.0}))
    assert [sentence.split()[1] for sentence in tables.untrue(run, trials)] == ["mean", "range", "interval"]


def test_words() -> None:
    known = load_words().values()
    assert tables.unexplained({"opens/s/core", "over linux-6.1 stock", "idle", "cores"}, known, {"opens"}) == []
    assert tables.unexplained({"weather"}, known, set()) == ["'weather': explained 0 times"]
    twice = [*known, Word("again", "cores", "cores", "What it says.")]
    assert tables.unexplained({"cores"}, twice, set()) == ["'cores': explained 2 times"]


def test_figures_of_a_cell() -> None:
    assert tables.figures("283 k to\n25.3 M (3)") == [283_000, 25.3e6, 3]
    assert tables.figures("\N{PLUS-MINUS SIGN} 1,234.5") == [1234.5]
    assert tables.figures("\N{EN DASH}") == []


def test_nothing_judged_is_no_success() -> None:
    assert not Check(True, "tables", 0).passed


def test_a_cold_default_is_wrong() -> None:
    assert tables.cold(Change("micro:stat on linux-6.1", "calls", 99.0, 100.0, 1.0)) == []
    assert tables.cold(Change("micro:stat on linux-6.1", "calls", 83.0, 100.0, 1.0)) == [
        "micro:stat on linux-6.1: +17.0 % with twice the work"
    ]
    assert [one.cores for one in tables.planned(argparse.Namespace())] == [2, 2, 2, 4, 1, 1]

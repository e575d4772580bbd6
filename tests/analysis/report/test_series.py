# SPDX-License-Identifier: BSD-3-Clause
"""Runs that differ in anything but the trial are told apart; trials are one row."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analysis.report.ablations import ablations
from analysis.report.comparisons import kept
from analysis.report.runs import Run
from analysis.report.series import by_number, by_series, by_workload, load_runs
from analysis.report.tables import overview_table
from analysis.report.throughput import scaling
from harness.spec import point as points

SETTINGS = {"machine": "small-2x2", "workload": "micro:open-close", "cores": "2"}
POINT = points.resolve(SETTINGS)

# Another value of a key of the point that has no table. A kernel, a variant and a workload may be ones that do not exist.
OTHERS = {
    "engine": 'engine = "third"',
    "kernel": 'kernel = "linux-0.1"',
    "fixes": 'fixes = ["page"]',
    "workload": 'workload = "macro"',
    "variant": 'variant = "stat"',
    "cores": "cores = 3",
    "order": 'order = "rr"',
    "trial": "trial = 2",
}


def lines_of(point: points.Point, folder: Path) -> list[str]:
    points.write(point, folder / "point.toml")
    return (folder / "point.toml").read_text().splitlines()


Make = Callable[..., Path]


@pytest.fixture
def make(runs: list[Path], tmp_path: Path) -> Make:
    """A run's folder with a point, a rate and builds of one's own; tables are those of a toy run."""
    count = 0

    def run(lines: list[str], rate: float = 10.0, builds: Mapping[str, str] | None = None) -> Path:
        nonlocal count
        count += 1
        folder = tmp_path / f"run-{count}"
        folder.mkdir()
        for path in runs[0].glob("*.parquet"):
            (folder / path.name).symlink_to(path)
        metrics = json.loads((runs[0] / "metrics.json").read_text())
        (folder / "metrics.json").write_text(json.dumps(metrics | {"units_per_second_core": rate}))
        provenance = json.loads((runs[0] / "provenance.json").read_text())
        provenance["digests"] |= builds or {}
        (folder / "provenance.json").write_text(json.dumps(provenance))
        (folder / "point.toml").write_text("\n".join(lines) + "\n")
        return folder

    return run


def rows(runs: list[Run]) -> int:
    return len(overview_table(runs, 160).rows_of_figures())


def series(runs: list[Run]) -> set[tuple[str, str]]:
    return {(run.workload, run.series) for run in runs}


def changed(lines: list[str], key: str) -> list[str]:
    """The lines of a point.toml with another value of one key; a key of a table is TABLE.KEY."""
    table, _, name = key.rpartition(".")
    here, out = "", []
    for line in lines:
        if line.startswith("["):
            here = line.strip("[]")
        if here == table and line.startswith(f"{name} = "):
            line = f'{name} = "{json.loads(line.partition(" = ")[2])}1"' if table else OTHERS[name]
        out.append(line)
    assert out != lines, key
    return out


KEYS = [
    *(key for key in OTHERS if key != "trial"),
    *(f"parameters.{name}" for name in POINT.parameters),
    *(f"machine.{name}" for name in POINT.machine.values()),
]


def test_every_key_of_a_point_is_looked_at(tmp_path: Path) -> None:
    data = tomllib.loads("\n".join(lines_of(POINT, tmp_path)))
    plain = {key for key, value in data.items() if not isinstance(value, dict)} - {"id", "fix_set", "core_list"}
    assert plain == set(OTHERS)
    tables = {f"{key}.{name}" for key, value in data.items() if isinstance(value, dict) for name in value}
    assert plain | tables == {*KEYS, "trial"}


@pytest.mark.parametrize("key", KEYS)
def test_runs_that_differ_in_one_key_are_two_rows_and_two_series(key: str, make: Make, tmp_path: Path) -> None:
    lines = lines_of(POINT, tmp_path)
    loaded = load_runs([make(lines, 10.0), make(changed(lines, key), 20.0)])
    assert rows(loaded) == 2
    assert [len(run.trials) for run in loaded] == [1, 1]
    assert len(series(loaded)) == (1 if key == "cores" else 2)
    assert ablations(loaded) == []


def test_only_trials_are_one_row(make: Make, tmp_path: Path) -> None:
    lines = lines_of(POINT, tmp_path)
    (run,) = load_runs([make(lines, 10.0), make(changed(lines, "trial"), 20.0)])
    assert rows([run]) == 1
    assert [trial.trial for trial in run.trials] == [1, 2]


def test_a_copy_of_a_run_is_no_trial(make: Make, tmp_path: Path) -> None:
    lines = lines_of(POINT, tmp_path)
    (run,) = load_runs([make(lines), make(lines)])
    assert run.trials == (run,)


def test_other_builds_are_another_series(make: Make, tmp_path: Path) -> None:
    lines = lines_of(POINT, tmp_path)
    one, other = load_runs([make(lines), make(lines, builds={"engine": "0123456789"})])
    assert one.series.endswith("fast engine, engine build eeeeeeee") or one.series.endswith("fast engine, engine build 01234567")
    assert len({one.series, other.series}) == 2


def test_builds_that_changed_between_points_leave_one_curve(make: Make, tmp_path: Path) -> None:
    lines = lines_of(POINT, tmp_path)
    loaded = load_runs([make(lines), make(changed(lines, "cores"), builds={"image": "0123456789"})])
    assert len(series(loaded)) == 1


def test_what_is_not_as_the_named_machine_is_in_the_label(make: Make, tmp_path: Path) -> None:
    other = points.resolve({**SETTINGS, "set.hop_cycles": "64", "set.count_hits": "1"})
    one, two = load_runs([make(lines_of(other, tmp_path)), make(lines_of(POINT, tmp_path))])
    assert {one.series, two.series} == {
        "linux-6.1 stock, small-2x2, fast engine",
        "linux-6.1 stock, small-2x2 with count_hits=1, hop_cycles=64, fast engine",
    }
    assert points.read(one.folder / "point.toml") in (POINT, other)


def test_an_edited_machine_that_kept_its_name(make: Make, tmp_path: Path) -> None:
    lines = lines_of(POINT, tmp_path)
    loaded = load_runs([make(lines), make(changed(lines, "machine.l2_kib"))])
    assert sorted(run.series.rpartition(", ")[2] for run in loaded) == ["l2_kib=512", "l2_kib=5121"]


def test_parameters_in_which_a_workload_differs_are_in_its_labels_and_sort_by_number(make: Make, tmp_path: Path) -> None:
    made = [
        make(lines_of(points.resolve({**SETTINGS, "cores": cores, "param.iterations": iterations}), tmp_path), rate)
        for iterations, cores, rate in (("1000", "2", 1.0), ("200", "2", 3.0), ("200", "1", 4.0), ("1000", "1", 2.0))
    ]
    loaded = load_runs(made)
    assert [(run.series.rpartition(", ")[2], run.cores) for run in loaded] == [
        ("iterations=200", 1),
        ("iterations=200", 2),
        ("iterations=1000", 1),
        ("iterations=1000", 2),
    ]
    assert [entry.ratio for entry in kept(loaded)] == [3 / 4, 1 / 2]
    drawn = [figure.draw() for figure in scaling(loaded, "f").figures]
    assert [svg.count("iterations=200") for svg in drawn] == [1, 3]  # a curve of throughput; user, system and idle time
    assert [row[2] for row in overview_table(loaded, 160).rows_of_figures()] == ["1.00", "0.75", "1.00", "0.50"]


def test_many_fixes_of_the_same_number_are_two_series(make: Make, tmp_path: Path) -> None:
    sets = [["a", "b", "c", "d"], ["a", "b", "c", "e"]]
    rest = [line for line in lines_of(POINT, tmp_path) if not line.startswith("fix")]
    loaded = load_runs([make([f"fixes = {json.dumps(fixes)}", *rest]) for fixes in sets])
    assert [run.series for run in loaded] == [
        f"linux-6.1 + 4 fixes, small-2x2, fast engine, fixes={'+'.join(fixes)}" for fixes in sets
    ]


def test_numbers_sort_as_numbers() -> None:
    assert sorted(["l2=64, x", "l2=512", "l2=64", "a"], key=by_number) == ["a", "l2=64", "l2=64, x", "l2=512"]


def test_series_of_a_workload(runs: list[Path]) -> None:
    (group,) = by_series(by_workload(load_runs(runs[:3]))["micro:open-close"]).values()
    assert [run.cores for run in group] == [1, 12, 48]

# SPDX-License-Identifier: BSD-3-Clause
"""Where a unit's cycles go: the parts sum up to the whole, and what an engine cannot tell apart is said to be so."""

import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from records_file import write_parquet
from rich.console import Console
from toy import CYCLES

from analysis.report import figures
from analysis.report.cycle_stacks import PARTS, REST, sections, stack, stacks, table
from analysis.report.page import write
from analysis.report.runs import Run
from analysis.report.series import load_runs
from analysis.report.words import UNKNOWN

Make = Callable[..., Run]


@pytest.fixture
def make(runs: list[Path], tmp_path: Path) -> Make:
    """The run of 48 cores with another table of cores: two of them."""

    def made(unknown: tuple[str, ...] = (), **columns: list[int]) -> Run:
        folder = tmp_path / "made"
        shutil.copytree(runs[2], folder, dirs_exist_ok=True)
        write_parquet(folder, "cores", {"core": [0, 1], **columns}, unknown=unknown)
        return Run(folder)

    return made


def test_parts_of_a_unit_sum_up_to_the_cycles_of_all_cores(runs: list[Path]) -> None:
    found = stack(Run(runs[2]))
    assert found is not None
    assert list(found.parts) == list(PARTS.values())
    assert found.parts["cores of other sockets"] == 48 * 1000 * CYCLES["other_socket"] / 1000  # 1000 units
    assert found.whole == pytest.approx(48 * 1_000_000 / 1000)


def test_an_engine_that_does_not_know_all_parts_has_a_rest(make: Make) -> None:
    unknown = ("instruction_cycles", "l1_cycles", "pause_cycles", "l3_cycles", "card_cycles")
    counted = {"cycles": [1000, 1000], "dram_local_cycles": [100, 50], "idle_cycles": [0, 350]}
    found = stack(make(unknown, **counted))
    assert found is not None
    assert next(iter(found.parts)) == REST
    assert found.parts[REST] == pytest.approx(1.5)
    assert found.parts["L3"] is None
    assert found.parts["idle"] == pytest.approx(0.35)
    assert found.whole == pytest.approx(2.0)
    # Waits that overlap may be more than there were cycles: then the rest is not known, and never below 0.
    overlapping = stack(make(unknown, **(counted | {"dram_local_cycles": [1100, 1000]})))
    assert overlapping is not None
    assert overlapping.parts[REST] is None


def test_a_run_without_cycles_or_work_has_no_stack(make: Make) -> None:
    assert stack(make(cycles=[0, 0])) is None
    idle = make(cycles=[10, 10], idle_cycles=[10, 10])
    assert stack(idle) is not None
    idle.metrics["units"] = 0
    assert stack(idle) is None
    assert sections([idle], "a") == []


def test_trials_are_a_mean(make: Make) -> None:
    one = make(cycles=[100, 100], idle_cycles=[100, 100])
    shutil.copytree(one.folder, one.folder.with_name("other"))
    other = Run(one.folder.with_name("other"))
    write_parquet(
        other.folder, "cores", {"core": [0, 1], "cycles": [300, 300], "idle_cycles": [200, 200], "l2_cycles": [100, 100]}
    )
    one.trials = (one, other)
    found = stack(one)
    assert found is not None
    assert [found.parts["idle"], found.parts["L2"], found.whole] == pytest.approx([0.3, 0.1, 0.4])


def test_a_figure_and_a_table_for_each_series(runs: list[Path], tmp_path: Path) -> None:
    loaded = load_runs(runs[:3])
    (section,) = sections(loaded, "open")
    (figure,) = section.figures
    assert section.tables == (figure.values,)
    svg = figure.draw()
    assert all(part in svg for part in PARTS.values())
    values = figure.values.values()
    assert [row[1] for row in values] == [1, 12, 48]
    for row in values:
        parts = [part for part in row[2:-1] if isinstance(part, float)]
        assert sum(parts) == pytest.approx(row[-1])
    write(loaded, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.count("Where a unit&#39;s cycles go") >= 2
    assert "core cycles per open" in text


def test_every_part_has_a_look_of_its_own() -> None:
    looks = list(zip(figures.FILLS, figures.HATCHES, strict=True))
    assert len(set(looks)) == len(looks) >= len(PARTS)


def test_the_terminals_table_fits_80_columns(runs: list[Path]) -> None:
    (group,) = stacks(load_runs(runs[:3])).values()
    several = [group[0], group[1], group[2], group[2], group[2], group[2], group[2], group[2]]
    for shown in (group, several):
        out = StringIO()
        Console(file=out, width=80).print(table(shown))
        text = out.getvalue()
        assert all(len(line) <= 80 for line in text.splitlines())
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
    out = StringIO()
    Console(file=out, width=80).print(table(group))
    (row,) = [line for line in out.getvalue().splitlines() if "cores of other sockets" in line]
    assert "16.3k" in row
    assert "34.0 %" in row
    assert "idle" not in out.getvalue()  # nobody was
    assert UNKNOWN not in out.getvalue()

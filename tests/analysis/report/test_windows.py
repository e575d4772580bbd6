# SPDX-License-Identifier: BSD-3-Clause
"""What a run says of each unit of work in the windows in which it was measured."""

import json
import shutil
from pathlib import Path

import pytest

from analysis.attribute.records import MESSAGE_KINDS, WINDOWS
from analysis.report import windows
from analysis.report.runs import Run

COUNTS = (
    "waited_cycles",
    "transfers_same_socket",
    "transfers_other_socket",
    "l3_hits",
    "dram_local",
    "dram_remote",
    "upgrades",
    "invalidations",
    "writebacks",
)


def window(instructions: int, cycles: int, **counts: int) -> dict[str, object]:
    messages = [0] * len(MESSAGE_KINDS)
    messages[MESSAGE_KINDS.index("broadcast probe")] = 3 * instructions
    return {
        "program_instructions": instructions,
        "cycles": cycles,
        **dict.fromkeys(COUNTS, 0),
        **counts,
        "messages": messages,
    }


@pytest.fixture
def run(runs: list[Path], tmp_path: Path) -> Run:
    folder = tmp_path / "run"
    shutil.copytree(runs[0], folder)
    (folder / "engine").mkdir(exist_ok=True)
    made = [
        window(100, 240, transfers_other_socket=50),
        window(100, 240, transfers_other_socket=60),
        window(200, 240, transfers_other_socket=110),
    ]
    (folder / "engine" / WINDOWS).write_text(json.dumps({"program_instructions": 4000, "windows": made}))
    metrics = json.loads((folder / "metrics.json").read_text()) | {"units": 40.0, "windows": 3}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    return Run(folder)


def test_rates_are_for_a_unit_of_work(run: Run) -> None:
    found = windows.rates(run)
    assert found["core cycles"].mean == pytest.approx(3 * 240 * run.cores / 40)
    moved = found["transfers between sockets"]
    assert (moved.mean, moved.low, moved.high) == (5.5, 5.0, 6.0)
    assert moved.half_width is not None and moved.half_width > 0
    assert found["broadcast probes"].mean == 30.0
    assert found["broadcast probes"].half_width == 0


def test_the_table_says_how_sure_each_is(run: Run) -> None:
    table = windows.table(run)
    assert table is not None and table.title == "For a unit of work, in 3 windows"
    assert table.row_count == len(windows.rates(run))


def test_a_run_of_the_whole_region_has_none(runs: list[Path]) -> None:
    assert windows.table(Run(runs[0])) is None
    assert windows.sections(Run(runs[0]), "a") == []


def test_the_page_has_the_same(run: Run) -> None:
    (section,) = windows.sections(run, "a")
    assert section.title == "What a unit of work costs, in 3 windows"
    (table,) = section.tables
    assert [row[0] for row in table.rows] == list(windows.rates(run))

# SPDX-License-Identifier: BSD-3-Clause
"""PAUSE takes the machine's `pause_cycles` beyond another instruction, on both engines and on each kind of core."""

from pathlib import Path

import pytest
from host_run import compile_program

from common.json_files import read_json
from harness.build import own_program
from harness.build.own_program import OwnProgram
from harness.checks.verify.measuring import point
from harness.run import runner

BEYOND = {"in-order": 2, "interval": 6, "o3": 20}
"""Cycles more, at most: of the instruction and the loop; on cores that work ahead also of a new block, and of a pipeline that is
filled anew."""


@pytest.mark.parametrize("cycles", [40, 90])
@pytest.mark.parametrize(
    ("engine", "core"),
    [
        pytest.param("fast", "in-order", marks=pytest.mark.guest),
        pytest.param("fast", "interval", marks=pytest.mark.guest),
        pytest.param("gem5", "in-order", marks=pytest.mark.gem5),
        pytest.param("gem5", "o3", marks=pytest.mark.gem5),
    ],
)
def test_pause(engine: str, core: str, cycles: int, tmp_path: Path) -> None:
    program = compile_program(Path(__file__).with_name("pause.c"), tmp_path / "program")
    bounds = (str(cycles), str(cycles + BEYOND[core]))
    folder = own_program.folder(OwnProgram(str(program), bounds, region="whole"))
    machine = f"machine=small-2x2 * set.node_mib=256 * set.core={core} * set.pause_cycles={cycles} * cores=1"
    ran = runner.run_point(point(f'engine={engine} * {machine} * workload="{folder}"'), tmp_path / "runs")
    assert read_json(ran.folder / "metrics.json")["units"] >= 1

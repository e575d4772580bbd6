# SPDX-License-Identifier: BSD-3-Clause
"""The paper's kernel, from the source that the settings name: it builds, boots, runs and is understood by the analysis."""

from pathlib import Path

import pytest

import harness.checks.verify
from analysis.report.runs import Run
from harness.checks import registry
from harness.checks.verify.measuring import point
from harness.cli.kernel import difference
from harness.run import runner
from harness.spec import kernel as kernels

pytestmark = pytest.mark.linux_2_6_35


def test_the_stock_kernel_to_the_report(tmp_path: Path) -> None:
    ran = Run(
        runner.run_point(point("workload=micro:open-close * kernel=linux-2.6.35 * machine=small-2x2"), tmp_path / "runs").folder
    )
    assert (ran.attributed or 0) > 0.95
    labels = {line.label.removeprefix("struct ") for line in ran.hot_lines(20)}
    # What two opens of one file share in this kernel: a global lock, a list of the super block, reference counts.
    assert {"files_lock", "super_block.s_files", "dentry.d_count", "vfsmount.mnt_count"} <= labels


@pytest.mark.parametrize("cores", [7, 8])
def test_cores_of_two_sockets_that_are_called_one_by_one(tmp_path: Path, cores: int) -> None:
    # Up to eight cores this kernel names cores by bits, across the gap that six cores in a socket leave in the identifiers.
    ran = Run(
        runner.run_point(
            point(f"workload=micro:stat:iterations=11,warmup=3 * kernel=linux-2.6.35 * cores={cores}"), tmp_path
        ).folder
    )
    assert ran.cores == cores and ran.metrics["units"] == 11 * cores


def test_every_fix_applies(capsys: pytest.CaptureFixture[str]) -> None:
    ended = registry.find(harness.checks.verify)["fixes-apply"].run(["--source", "linux-2.6.35", "--no-objects"])
    assert ended.passed, capsys.readouterr().out


def test_a_fix_as_a_patch() -> None:
    names = [name for name, piece in kernels.load_recipe("linux-2.6.35").fixes.items() if piece.number is not None]
    assert "+config MOSBENCH_" in difference("linux-2.6.35", (names[0],), False)

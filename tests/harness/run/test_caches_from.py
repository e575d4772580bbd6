# SPDX-License-Identifier: BSD-3-Clause
"""Caches fill from where a job warms up on, or from its start: then what it prepares is in them."""

from pathlib import Path

import pytest

from harness.checks.verify.measuring import execute, point
from harness.run import runner

LINES = 4096
"""Of a buffer that the second level holds."""
POINT = f"machine=small-2x2 * cores=1 * workload=micro:pointer-chase:bytes={64 * LINES},iterations={LINES},warmup=1"


def memory_reads(caches_from: str, folder: Path) -> int:
    """Of the region, in which each line of a buffer that the job has written before is read once."""
    wanted = point(f"{POINT} * set.caches_from={caches_from}")
    runner.prepare(wanted)
    return execute(wanted, folder / caches_from).total("dram_local", "dram_remote")


@pytest.mark.guest
def test_what_the_job_prepares_is_in_the_caches(tmp_path: Path) -> None:
    assert memory_reads("mark", tmp_path) > 0.9 * LINES
    assert memory_reads("job", tmp_path) < 0.05 * LINES

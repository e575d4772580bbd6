# SPDX-License-Identifier: BSD-3-Clause
"""Loads whose addresses come from loads take as long in a core that works ahead as in one that does not, TLB misses or not."""

from pathlib import Path

import pytest

from harness.checks.verify.measuring import execute, point
from harness.run import runner

# 8 MiB are four times the pages that the TLB has entries.
CHASE = "workload=micro:pointer-chase:bytes=8388608,pages=small,iterations=20003,warmup=5003"
MACHINE = "machine=small-2x2 * cores=1"


@pytest.mark.guest
@pytest.mark.parametrize("visit", ["lines", "pages"])
def test_a_chain_of_loads(visit: str, tmp_path: Path) -> None:
    waited = {}
    for core in ("in-order", "interval"):
        chosen = point(f"{CHASE},visit={visit} * {MACHINE} * set.core={core}")
        runner.prepare(chosen)
        waited[core] = float(execute(chosen, tmp_path / core).result["cycles_per_load"])
    assert waited["interval"] == pytest.approx(waited["in-order"], rel=0.1)
    assert waited["in-order"] > 20

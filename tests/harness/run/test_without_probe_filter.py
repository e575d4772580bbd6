# SPDX-License-Identifier: BSD-3-Clause
"""A machine without a probe filter, as before HT Assist: a guest's misses ask everybody, and wait for it."""

from pathlib import Path

import pytest

from analysis.attribute.records import MESSAGE_KINDS
from harness.checks.verify.measuring import Measured, execute, point
from harness.run import runner

POINT = "workload=micro:open-close:iterations=23,warmup=11 * machine=small-2x2 * cores=4"


def messages(ran: Measured, kind: str) -> int:
    table = ran.records.tables["matrix"]
    return int(table["messages"][table["kind"] == MESSAGE_KINDS.index(kind)].sum())


@pytest.mark.guest
def test_more_broadcasts_and_longer_waits(tmp_path: Path) -> None:
    filtered, without = (point(f"{POINT}{more}") for more in ("", " * set.probe_filter_kib=0"))
    runner.prepare(filtered)
    before, after = execute(filtered, tmp_path / "filtered"), execute(without, tmp_path / "without")
    assert messages(after, "broadcast probe") > 2 * messages(before, "broadcast probe") > 0
    assert messages(before, "directed probe") > 0 == messages(after, "directed probe")
    assert messages(after, "back-invalidation") == 0
    assert after.total("cycles") > 1.1 * before.total("cycles")

# SPDX-License-Identifier: BSD-3-Clause
"""A machine without a probe filter, as before HT Assist: a guest's misses ask everybody, and wait for it."""

from pathlib import Path

import pytest

from analysis.attribute.records import MESSAGE_KINDS
from harness.checks.verify.measuring import Measured, execute, point
from harness.run import runner

MACHINE = "machine=small-2x2 * cores=4"
SHARED = "micro:open-close:iterations=23,warmup=11"
PRIVATE = "micro:stream:iterations=3,warmup=1"
"""Nobody waits for another core's turn at a line, so that waits are for memory and for answers to probes."""


def with_and_without(work: str, folder: Path) -> tuple[Measured, Measured]:
    """The region on the machine as it is, and without its probe filter."""
    filtered, without = (point(f"workload={work} * {MACHINE}{more}") for more in ("", " * set.probe_filter_kib=0"))
    runner.prepare(filtered)
    return execute(filtered, folder / "filtered"), execute(without, folder / "without")


def messages(ran: Measured, kind: str) -> int:
    table = ran.records.tables["matrix"]
    return int(table["messages"][table["kind"] == MESSAGE_KINDS.index(kind)].sum())


@pytest.mark.guest
def test_more_broadcasts(tmp_path: Path) -> None:
    before, after = with_and_without(SHARED, tmp_path)
    assert messages(after, "broadcast probe") > 2 * messages(before, "broadcast probe") > 0
    assert messages(before, "directed probe") > 0 == messages(after, "directed probe")
    assert messages(after, "back-invalidation") == 0


@pytest.mark.guest
def test_longer_waits(tmp_path: Path) -> None:
    before, after = with_and_without(PRIVATE, tmp_path)
    assert after.total("cycles") > 1.3 * before.total("cycles") > 0

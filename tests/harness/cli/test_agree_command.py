# SPDX-License-Identifier: BSD-3-Clause
"""What `agree` runs on each engine."""

from harness.cli.agree import side
from harness.spec.point import resolve


def test_windows_are_gem5s_and_the_fast_engine_measures_the_region() -> None:
    point = resolve({"engine": "gem5", "workload": "micro:stat", "cores": "8", "set.windows": "20"})
    assert side(point, "gem5") == point
    whole = side(point, "fast")
    assert (whole.engine, whole.machine.windows, whole.machine.caches_from) == ("fast", 0, "job")
    assert whole.parameters == point.parameters


def test_without_windows_both_run_the_same() -> None:
    point = resolve({"engine": "gem5", "workload": "micro:stat", "cores": "8"})
    assert side(point, "fast").machine == point.machine

# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of two engines' runs."""

import pytest

from harness.agree import Agreement, Side, together

pytestmark = pytest.mark.unit


def side(engine: str, units: float, cycles: float, by_field: dict[str, float]) -> Side:
    return Side(engine, units, cycles, sum(by_field.values()), 3.0, by_field)


def test_runs_together_are_weighed_by_their_work() -> None:
    both = together([side("gem5", 100, 10.0, {"a": 30.0, "b": 1.0}), side("gem5", 300, 50.0, {"b": 69.0, "a": 20.0})])
    assert (both.engine, both.units, both.transfers, both.invalidations) == ("gem5", 400, 120.0, 6.0)
    assert both.cycles_per_unit == pytest.approx(40.0)
    assert both.transfers_per_unit == pytest.approx(0.3)
    assert list(both.by_field) == ["b", "a"]


def test_a_line_that_one_engine_does_not_see_is_no_common_one() -> None:
    agreement = Agreement(side("fast", 100, 1.0, {"a": 90.0, "b": 10.0}), side("gem5", 100, 1.0, {"a": 80.0}))
    assert agreement.deviation == pytest.approx(0.2)
    assert (agreement.telling, agreement.common) == (["a", "b"], 1)

# SPDX-License-Identifier: BSD-3-Clause
"""Where windows are: one in each part of the region, the same for the same trial."""

from board.window_plan import Plan


def plan(count: int, seed: str = "1") -> Plan:
    return Plan(count, cycles=1000, lead=500, instructions=1_000_000, seed=seed)


def test_each_part_of_the_region_has_one_anywhere_in_it() -> None:
    places = plan(20).places()
    assert [place // 50_000 for place in places] == list(range(20))
    assert len({place % 50_000 for place in places}) == 20


def test_the_seed_says_where() -> None:
    assert plan(5).places() == plan(5).places() != plan(5, "2").places()


def test_a_count_alone_has_none() -> None:
    assert plan(0).places() == []

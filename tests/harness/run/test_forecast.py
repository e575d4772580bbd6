# SPDX-License-Identifier: BSD-3-Clause
"""What a point would take, from its run or from one of another size; and what all points of the claims take."""

from pathlib import Path

import pytest

from harness.checks.bench import claims as bench_claims
from harness.checks.bench.claims import Group
from harness.run import claim_points, known_costs
from harness.run.catalogue import Row
from harness.run.forecast import Forecast, forecast, growth, most_memory
from harness.run.known_costs import Known
from harness.spec import point as points
from harness.spec.point import Point

KERNEL = "linux-2.6.35:stock"


def point(workload: str, cores: int = 48) -> Point:
    return points.resolve({"workload": workload, "cores": str(cores), "kernel": KERNEL})


def row(of: Point, seconds: float, peak: int = 10**9, *, state: str = "ok", engine: str = "fast") -> Row:
    """Of a run that waited a second and left a megabyte."""
    return Row(
        of.id,
        state,
        "",
        point=of.id,
        workload=of.workload_text,
        parameters=",".join(f"{key}={value}" for key, value in sorted(of.parameters.items())),
        engine=engine,
        cores=of.cores,
        seconds=seconds + 1,
        bytes=10**6,
        processor_seconds=seconds,
        peak_bytes=peak,
    )


@pytest.fixture(autouse=True)
def no_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_costs, "read", lambda: Known([], {}))


def test_its_own_run_counts_first() -> None:
    wanted = point("metis")
    rows = [row(wanted, 70.0, 2 * 10**9), row(point("metis", 1), 50.0)]
    assert forecast(wanted, rows) == Forecast("run", 70.0, 2 * 10**9, 10**6)


def test_work_of_all_cores_does_not_grow_with_them() -> None:
    def growth_from(wanted: Point, other: Point) -> float | None:
        return growth(wanted, row(other, 1.0), wanted.workload_definition.grows_with)

    assert growth_from(point("metis"), point("metis", 1)) == 1
    assert growth_from(point("metis:text_kib=65536"), point("metis", 1)) == 2
    assert growth_from(point("memcached:requests=2000"), point("memcached", 12)) == 8


def test_an_estimate_is_from_the_nearest_size_and_never_less() -> None:
    small, large = row(point("metis:text_kib=8192"), 20.0), row(point("metis:text_kib=65536"), 100.0)
    twice = Forecast("estimate", 200.0, 2 * 10**9, 2 * 10**6, resized=True)
    assert forecast(point("metis:text_kib=131072"), [small, large]) == twice
    assert forecast(point("metis:text_kib=32768"), [large]) == Forecast("estimate", 100.0, 10**9, 10**6, resized=True)


def test_of_one_size_the_run_most_like_the_point_counts() -> None:
    large, own, small = (
        row(point(f"postgresql:{of}"), 900.0 - n) for n, of in enumerate(("rows=10000000", "locks=own", "locks=16"))
    )
    assert forecast(point("postgresql"), [large, own, small]).processor_seconds == own.processor_seconds
    assert forecast(point("postgresql"), [large, small]).processor_seconds == small.processor_seconds
    assert forecast(point("postgresql:locks=16,rows=10000000"), [large, own, small]).processor_seconds == 900
    assert forecast(point("metis", 1), [row(point("metis"), 90.0), row(point("metis", 6), 80.0)]).processor_seconds == 80


def test_another_variant_will_do_and_another_workload_will_not() -> None:
    rows = [row(point("psearchy:processes"), 30.0), row(point("metis"), 10.0)]
    assert forecast(point("psearchy:threads"), rows).processor_seconds == 30
    assert forecast(point("gmake"), rows) == Forecast("unknown")


def test_a_workload_that_ran_only_elsewhere_is_estimated_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_costs, "read", lambda: Known([row(point("gmake"), 40.0), row(point("metis"), 90.0)], {}))
    there = Forecast("estimate", 40.0, 10**9, 10**6, elsewhere=True)
    assert forecast(point("gmake"), [row(point("metis"), 10.0)]) == there
    assert forecast(point("metis"), [row(point("metis:text_kib=65536"), 10.0)]).processor_seconds == 10


def test_what_another_host_took_is_scaled_by_what_both_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [point("metis"), point("metis", 1), point("exim")]
    there = [row(one, 20.0) for one in both]
    monkeypatch.setattr(known_costs, "read", lambda: Known([*there, row(point("gmake"), 40.0)], {}))
    here = [row(both[0], 30.0), row(both[0], 50.0), row(both[1], 36.0), row(both[2], 400.0), row(point("apache"), 1.0)]
    assert known_costs.pace(here) == 2, "of 2, 1.8 and 20 the median"
    wanted = Forecast("estimate", 80.0, 10**9, 10**6, elsewhere=True)
    assert forecast(point("gmake"), here, known_costs.pace(here)) == wanted
    assert forecast(both[0], here, 2.0).processor_seconds == 50, "its own run is of this host"
    assert known_costs.pace([row(point("apache"), 1.0), row(both[0], 9.0, state="timeout")]) is None


def test_failed_runs_and_those_that_do_not_say_tell_nothing() -> None:
    wanted = point("metis")
    assert forecast(wanted, [row(wanted, 70.0, state="timeout"), row(wanted, 0.0)]) == Forecast("unknown")
    assert forecast(wanted, [row(wanted, 70.0, engine="gem5")]) == Forecast("unknown")


def test_memory_has_a_bound() -> None:
    wanted = point("metis:size=paper")
    assert forecast(wanted, [row(point("metis"), 70.0, 5 * 10**9)]).peak_bytes == int(most_memory(wanted))
    assert most_memory(wanted) == 1.5 * 8 * (2 << 30) + (1 << 30)


def test_points_of_each_size() -> None:
    quick, default, paper = (claim_points.all_of(size) for size in claim_points.SIZES)
    assert 0 < len(quick) < len(default)
    assert {point.cores for point in quick} == {1, 48}
    assert any(point.parameters.get("rows") == "10000000" for point in paper)
    assert not any(point.parameters.get("rows") == "10000000" for point in default)


def test_hours_and_memory_are_judged() -> None:
    def judged(size: str, *forecasts: Forecast) -> tuple[bool, str]:
        check = bench_claims.judge(size, [Group("one", forecasts)])
        return check.passed, check.line

    half = Forecast("run", 3600.0, 10**9)
    passed, line = judged("quick", half)
    assert passed and "0.50 hours on 2 processors (<= 0.5), at most 1.0 GB a point (<= 24)" in line
    assert not judged("quick", half, Forecast("estimate", 100.0, 0))[0]
    assert judged("paper", half, Forecast("estimate", 1e6, 0))[0]
    assert not judged("paper", Forecast("run", 1.0, 25 * 10**9))[0]
    passed, line = judged("quick", half, Forecast("unknown"))
    assert not passed and "1 points are unknown" in line
    assert not judged("quick", Forecast("unknown"))[0]


def test_without_runs_nothing_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.cli import main

    assert main.main(["bench", "claims", "--output", str(tmp_path)]) == 1
    assert "nothing was judged" in capsys.readouterr().out

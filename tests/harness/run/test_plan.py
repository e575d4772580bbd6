# SPDX-License-Identifier: BSD-3-Clause
"""What points would take is what earlier ones took, and nothing is built to find out."""

from dataclasses import replace
from pathlib import Path

import pytest
from fake_runs import builds, point

from analysis.attribute.run_tables import OfMemory
from common import cache
from harness.cli.dry_run import titles, total
from harness.run import catalogue, known_costs, many, plan, runner
from harness.run.catalogue import Row
from harness.run.forecast import Forecast
from harness.run.known_costs import Known
from harness.run.plan import Cost, Plan


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runner, "prepare", lambda _: builds("ok"))
    monkeypatch.setattr("analysis.attribute.run_tables.write_run_tables", lambda folder, *more: OfMemory({}, []))
    monkeypatch.setattr("harness.run.catalogue.note", lambda folder: None)
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(known_costs, "read", lambda: Known([], {}))
    monkeypatch.setattr(
        many,
        "parts",
        lambda wanted, extra_config: [
            many.Part("packages", lambda: None),
            many.Part("a thing", lambda: cache.cached("things", "thing", {}, make)),
        ],
    )


def make(folder: Path) -> None:
    (folder / "content").write_bytes(b"x" * 1000)


@pytest.mark.usefixtures("fakes")
def test_builds_and_points(tmp_path: Path) -> None:
    one, two = point(1), point(2)
    before = plan.plan([one, two], tmp_path / "runs", "same")
    assert before.builds == [("a thing", Cost(None, None))]
    assert [wanted for wanted, _ in before.points] == [one, two]
    assert not (tmp_path / "cache").exists(), "looking builds nothing"
    assert before.unknown == 3
    assert "is unknown" in total(before, 2)

    cache.cached("things", "thing", {"older": 1}, make)
    runner.run_point(one, tmp_path / "runs")
    after = plan.plan([one, two], tmp_path / "runs", "same")
    ((_, build),) = after.builds
    assert build.seconds is not None and build.size and 1000 < build.size < 1100
    assert after.there == [one]
    assert [(wanted, guess.source) for wanted, guess in after.points] == [(two, "estimate")]
    assert "unknown" not in total(after, 2)
    assert plan.plan([one], tmp_path / "runs", "none").there == []

    cache.cached("things", "thing", {}, make)
    assert total(plan.plan([one], tmp_path / "runs", "same"), 2) == "Nothing is to be built or run."


@pytest.mark.usefixtures("fakes")
def test_what_another_host_took_counts_where_this_one_knows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = point(1)
    parameters = ",".join(f"{key}={value}" for key, value in sorted(one.parameters.items()))
    there = Known(
        [row(30, 10**9, parameters, one.workload_text)], {("things", "a thing"): (1.0, 1), ("things", "thing"): (60.0, 7)}
    )
    monkeypatch.setattr(known_costs, "read", lambda: there)
    found = plan.plan([one], tmp_path / "runs", "same")
    assert found.builds == [("a thing", Cost(60.0, 7, elsewhere=True))]
    assert found.points == [(one, Forecast("estimate", 29, 2 * 10**9, 10**9, elsewhere=True))]
    assert total(found, 1) == (
        "In all about 1.5 minutes and 1.000 GB on disk. The largest point takes 2.0 GB of memory. "
        "For 2 of 2 that is what another host took."
    )

    runner.run_point(one, tmp_path / "runs")
    ran = catalogue.rows(tmp_path / "runs")
    took = known_costs.pace(ran)
    found = plan.plan([one, point(2)], tmp_path / "runs", "none")
    assert took and found.builds == [("a thing", Cost(60.0 * took, 7, elsewhere=True))]
    times = f"times {took:.2f}, this host's processor time over the other's for runs that both made."
    assert f"For 1 of 3 that is what another host took, {times}" in total(found, 1)

    cache.cached("things", "thing", {"older": 1}, make)
    ((_, build),) = plan.plan([one], tmp_path / "runs", "same").builds
    assert not build.elsewhere, "this host knows"


@pytest.mark.usefixtures("fakes")
def test_a_build_of_several_takes_what_all_of_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def piece() -> None:
        cache.cached("pieces", "piece", {}, make)

    monkeypatch.setattr(many, "parts", lambda wanted, extra_config: [many.Part("first", lambda: None), many.Part("disk", piece)])
    (found,) = plan.plan([point(1)], tmp_path, "same").builds
    assert found == ("disk", Cost(None, None))
    whole = many.Part("disk", piece, "thing", "things")
    monkeypatch.setattr(many, "parts", lambda wanted, extra_config: [many.Part("first", lambda: None), whole])
    monkeypatch.setattr(known_costs, "read", lambda: Known([], {("things", "thing"): (60.0, 7), ("pieces", "piece"): (5.0, 1)}))
    assert plan.plan([point(1)], tmp_path, "same").builds == [("disk", Cost(60.0, 7, elsewhere=True))]


@pytest.mark.usefixtures("fakes")
def test_where_the_hosts_packages_are_missing_the_other_builds_still_have_a_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        cache.refuse_to_make("host", "packages")

    others = [many.Part("disk", missing, "thing", "things"), many.Part("engine", missing)]
    monkeypatch.setattr(many, "parts", lambda wanted, extra_config: [many.Part("packages", missing), *others])
    monkeypatch.setattr(known_costs, "read", lambda: Known([], {("things", "thing"): (60.0, 7)}))
    unknown = Cost(None, None)
    found = plan.plan([point(1)], tmp_path, "same").builds
    assert found == [("packages", unknown), ("disk", Cost(60.0, 7, elsewhere=True)), ("engine", unknown)]


@pytest.mark.usefixtures("fakes")
def test_a_run_of_other_builds_is_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.run_point(point(1), tmp_path)
    monkeypatch.setattr(runner, "prepare", lambda _: builds("ok", kernel_digest="kernel-2"))
    assert [len(plan.plan([point(1)], tmp_path, reuse).there) for reuse in ("same", "any", "none")] == [0, 1, 0]

    def missing(_: object) -> None:
        cache.refuse_to_make("kernels", "linux")

    monkeypatch.setattr(runner, "prepare", missing)
    assert [len(plan.plan([point(1)], tmp_path, reuse).there) for reuse in ("same", "any", "none")] == [0, 1, 0]


def row(seconds: float, size: int, parameters: str, workload: str) -> Row:
    return Row(
        "a",
        "ok",
        "k",
        workload=workload,
        engine="fast",
        parameters=parameters,
        cores=1,
        seconds=seconds,
        processor_seconds=seconds - 1,
        bytes=size,
        peak_bytes=2 * size,
    )


def test_points_run_beside_each_other() -> None:
    wanted = point(1)
    one = Forecast("estimate", processor_seconds=120, resized=True)
    found = Plan([("a", Cost(60, 10**9)), ("b", Cost(None, None))], [(wanted, one), (wanted, one)], [])
    assert found.minutes(2) == 3
    assert total(found, 2) == (
        "In all about 3.0 minutes and 1.000 GB on disk, 2 points at a time; 1 of 4 builds and points are unknown and not in "
        "that. 2 points are estimated from runs of another size, rather too much."
    )


def test_titles_tell_points_apart() -> None:
    one, longer, other = point(1), point(1, {"param.iterations": "7"}), point(1, {"set.l2_kib": "1024"})
    assert titles([one]) == [one.title] and ", 1 core, " in one.title
    default = one.parameters["iterations"]
    assert titles([one, longer]) == [f"{one.title}, iterations={default}", f"{one.title}, iterations=7"]
    assert titles([one, other]) == [one.title, f"{one.title}, l2_kib=1024"]
    assert titles([one, one]) == [one.title, one.title]
    assert titles([replace(one, order="rr")]) == [f"{one.title}, order=rr"]

# SPDX-License-Identifier: BSD-3-Clause
"""`run.py claims`: lists, names every point it needs once, judges and says what is new. Nothing is run."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.report import claims as data
from analysis.report.claims import Judged
from harness.cli import claims, main
from harness.run import claim_points, many
from harness.run.forecast import Forecast
from harness.spec import kernel as kernels
from harness.spec.point import Point


def test_each_claim_has_points_that_there_can_be() -> None:
    wanted = claim_points.points_of((one for claim in data.load() for one in claim.selections), kernels.paper_source())
    assert {point.cores for point in wanted.values()} >= {1, 16, 48}
    assert {point.order for point in wanted.values()} == {"seq", "rr"}
    assert any(point.machine.nic_limits == 0 for point in wanted.values())
    assert {point.source for point in wanted.values()} == {kernels.paper_source()}


def test_without_anything_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["claims"]) == 0
    listed = capsys.readouterr().out
    assert all(claim.name in listed for claim in data.load())


def test_the_list_says_what_a_claim_takes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (claim,) = (one for one in data.load() if one.name == "gmake-speedup-pk")

    def forecasts(point: Point, rows: object, pace: object) -> Forecast:
        return Forecast("estimate", 60.0 * point.cores, point.cores * 10**8) if point.workload == "gmake" else Forecast("unknown")

    monkeypatch.setattr(claims, "forecast", forecasts)
    assert main.main(["claims"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (gmake,) = (line for line in lines if line.split()[:1] == [claim.name])
    assert gmake.split()[-3:] == ["2", "49", "4.8"]  # one and 48 cores
    (metis,) = (line for line in lines if line.split()[:1] == ["metis-small-pages"])
    assert metis.split()[-3:] == ["2", "unknown", "unknown"]


def test_dry_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(many, "complete", lambda points, root, reuse: ([], list(points)))
    assert main.main(["claims", "gmake-speedup-*", "--dry-run", "--output", str(tmp_path)]) == 0
    assert "Points: 4, 0 of them there already" in capsys.readouterr().out  # of both claims, each once
    assert not list(tmp_path.iterdir())


def test_on_another_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planned: list[Point] = []

    def complete(points: Sequence[Point], root: Path, reuse: bool) -> tuple[list[Point], list[Point]]:
        planned.extend(points)
        return [], list(points)

    monkeypatch.setattr(many, "complete", complete)
    words = ["claims", "gmake-speedup-*", "--dry-run", "--output", str(tmp_path)]
    assert main.main([*words, "--set", "core=in-order"]) == 0
    assert {point.machine.core for point in planned} == {"in-order"}
    planned.clear()
    assert main.main(words) == 0
    assert {point.machine.core for point in planned} == {"interval"}
    assert main.main(["claims", "figure-9", "--set", "core=interval", "--dry-run"]) == 2
    assert "--set is for claims" in capsys.readouterr().err


def test_at_the_papers_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planned: list[Point] = []

    def complete(points: Sequence[Point], root: Path, reuse: bool) -> tuple[list[Point], list[Point]]:
        planned.extend(points)
        return [], list(points)

    monkeypatch.setattr(many, "complete", complete)
    names = ["memcached-stock-left", "exim-stock-left", "gmake-speedup-pk", "postgresql-lseek", "figure-11"]
    assert main.main(["claims", *names, "--size", "paper", "--dry-run", "--output", str(tmp_path)]) == 0
    of = {point.workload: point.parameters for point in planned}
    assert of["memcached"]["requests"] == "4000"
    assert of["exim"]["all_clients"] == "96"
    assert of["metis"]["text_kib"] == "262144"
    assert {point.cores for point in planned if point.workload == "metis"} == {1, 8, 24, 48}  # `paper_cores` of the figure
    assert of["postgresql"]["files"] == "6"  # `paper` of the claim
    planned.clear()
    names = ["postgresql-[klmnprs]*", "figure-7"]  # all but postgresql-write-peak
    assert main.main(["claims", *names, "--size", "paper", "--dry-run", "--output", str(tmp_path)]) == 0
    assert {point.parameters["files"] for point in planned} == {"6"}
    assert of["gmake-linux"]["objects"] == "180"  # another workload at that size
    assert "gmake" not in of


def test_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["claims", "no-such"]) == 2
    assert "There is no claim 'no-such'" in capsys.readouterr().err


def test_the_summary_says_what_is_new() -> None:
    first, second = data.choose(data.load(), ["exim-stock-left", "exim-one-core"])
    text = claims.summary([Judged(first, None), Judged(second, 1.0 if not second.differs else 2.0)])
    assert "1 was not run" in text
    assert f"{first.name} was not run" in text
    assert claims.table([Judged(second, 1.0)]).row_count == 1


def test_a_claim_that_differs_for_another_reason_is_new() -> None:
    (claim,) = data.choose(data.load(), ["memcached-local-buffers"])
    (reason,) = claim.because
    known, new = (Judged(claim, 2.3, (Judged(reason, share),)) for share in (0.87, 0.3))
    assert "Otherwise" not in claims.summary([known])
    assert f"differs for another reason (not so: {reason.says})" in claims.summary([new])
    assert claims.reasons([known, Judged(claim, 1.3, (Judged(reason, 0.87),))]).row_count == 1

# SPDX-License-Identifier: BSD-3-Clause
"""Claims: what the file may say, what runs show of it. The runs are made up."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow
import pytest

from analysis.report import claims
from analysis.report.claims import Claim, Selection
from analysis.report.cycle_stacks import PARTS, Stack
from analysis.report.paper import the_sixteen
from analysis.report.runs import Run
from common.outcome import Failure

_GOOD = """
[[claim]]
name = "falls"
section = "5.2"
says = "It falls"
quantity = "per-core"
workload = "exim"
kernel = "stock"
of = { cores = 48 }
over = { cores = 1 }
at_most = 0.35
"""


def one(folder: Path, text: str = _GOOD) -> Claim:
    path = folder / "claims.toml"
    path.write_text(text, encoding="utf-8")
    (claim,) = claims.load(path)
    return claim


def run(per_core: float, cores: int, parts: Mapping[str, float] | None = None, **more: Any) -> Run:
    """As much of a run as claims look at."""
    made = SimpleNamespace(
        throughput=SimpleNamespace(mean=per_core),
        cores=cores,
        part=lambda name: (parts or {}).get(name),
        metrics={"seconds": 0.5},
        point={"machine": {"sockets": "2", "dram_gbytes_per_second": "0.512", "line_bytes": "64"}},
        folder=Path("run"),
        profile=lambda count: [("lookup_mnt", "fs/namespace.c", 0.3), ("lookup_mnt_pk", "", 0.1), ("idle", "", 0.6)],
        bottlenecks=lambda: [
            SimpleNamespace(bottleneck=SimpleNamespace(id="mount-table-lock"), cycles_share=0.4),
            SimpleNamespace(bottleneck=SimpleNamespace(id="dcache-lists"), cycles_share=0.2),
        ],
        fields=lambda: [SimpleNamespace(title="inode.i_mutex", cycles_share=0.1), SimpleNamespace(title="x", cycles_share=0.7)],
    )
    made.__dict__.update(more)
    return cast(Run, made)


def test_every_claim_of_the_project_is_read_and_has_a_point() -> None:
    found = claims.load()
    assert len(found) > 50
    assert {claim.name.partition("-")[0] for claim in found} >= {"exim", "memcached", "apache", "postgresql", "gmake", "metis"}
    assert sum(claim.quick for claim in found) > 30
    assert all(claim.measured and claim.bound for claim in found)


def test_a_ratio(tmp_path: Path) -> None:
    claim = one(tmp_path)
    stock = Selection("exim", "stock", (48,))
    assert claim.of == stock
    assert stock.points("source") == [{"workload": "exim", "kernel": "source:stock", "order": "seq", "cores": "48"}]
    runs = {(stock, 48): run(80.0, 48), (Selection("exim", "stock", (1,)), 1): run(250.0, 1)}
    judged = claims.judge(claim, runs)
    assert (judged.value, judged.verdict, judged.news) == (0.32, "holds", False)
    assert claims.judge(claim, {(stock, 48): run(80.0, 48)}).verdict == "not run"
    runs[stock, 48] = run(100.0, 48)
    assert claims.judge(claim, runs).verdict == "differs"
    assert claims.judge(claim, runs).news
    assert claim.bound == "at most 0.35"
    assert claim.measured == "units of work per second and core: exim, stock on 48 cores, over stock on 1 core"


def test_nothing_over_nothing_meets_no_bound(tmp_path: Path) -> None:
    claim = one(tmp_path, _GOOD.replace("at_most", "at_least"))
    stock = Selection("exim", "stock", (1,))
    judged = claims.judge(claim, {(claim.of, 48): run(0.0, 48), (stock, 1): run(0.0, 1)})
    assert (judged.measured, judged.verdict) == ("0 over 0", "differs")
    assert claims.judge(claim, {(claim.of, 48): run(1.0, 48), (stock, 1): run(0.0, 1)}).verdict == "holds"


def test_a_mean_of_trials(tmp_path: Path) -> None:
    claim = one(tmp_path, f"{_GOOD}trials = 2\n")
    assert [selection.trial for selection in claim.selections] == [1, 2, 1, 2]
    assert [point.get("trial") for selection in claim.selections for point in selection.points("source")] == [None, "2"] * 2
    rates = zip(claim.selections, (60, 80, 200, 300), strict=True)
    runs = {(selection, selection.cores[0]): run(rate, selection.cores[0]) for selection, rate in rates}
    assert claims.judge(claim, runs).value == 70 / 250
    assert "mean of 2 trials" in claim.measured
    del runs[claim.selections[1], 48]
    assert claims.judge(claim, runs).verdict == "not run"


def test_what_is_known_to_differ_is_no_news_until_it_holds(tmp_path: Path) -> None:
    claim = one(tmp_path, f'{_GOOD}differs = "measured: 0.8"\n')
    base = {(Selection("exim", "stock", (1,)), 1): run(100.0, 1)}
    differs = claims.judge(claim, base | {(claim.of, 48): run(80.0, 48)})
    holds = claims.judge(claim, base | {(claim.of, 48): run(30.0, 48)})
    assert (differs.verdict, differs.news, holds.verdict, holds.news) == ("differs", False, "holds", True)
    barely = claims.judge(claim, base | {(claim.of, 48): run(34.0, 48)})
    assert (barely.verdict, barely.news) == ("holds", False), "0.34 is below 0.35, but not by a tenth"
    text = claims.chapter([differs, holds])
    assert text.lead == ("Of 2 claims 1 holds, 1 differs, 0 were not run.",)
    assert [list(row) for table in text.sections[1].tables for row in table.values()] == [
        [claim.name, "measured: 0.8", None, None, None, None]
    ]
    assert len(claims.chapter([holds]).sections) == 1


_BECAUSE = """
differs = "Cores are idle"
because = [
    { says = "idle", quantity = "idle", at_least = 0.1 },
    { says = "over one core", quantity = "idle", over = { cores = 1 }, at_least = 2 },
    { says = "on another kernel", quantity = "idle", of = { kernel = "pk" }, at_most = 0.3 },
]
"""


def test_the_reasons_of_a_claim_that_differs_are_measured_too(tmp_path: Path) -> None:
    claim = one(tmp_path, _GOOD + _BECAUSE)
    alone, pk = Selection("exim", "stock", (1,)), Selection("exim", "pk", (48,))
    assert set(claim.selections) == {claim.of, alone, pk}
    runs = {
        (claim.of, 48): run(80.0, 48, {"idle": 0.4}),
        (alone, 1): run(100.0, 1, {"idle": 0.1}),
        (pk, 48): run(90.0, 48, {"idle": 0.2}),
    }
    judged = claims.judge(claim, runs)
    assert (judged.verdict, judged.news, judged.failed) == ("differs", False, ())
    assert judged.why.removeprefix("Cores are idle. Measured: ").split("; ") == [
        "idle: 40.0% (at least 10.0%)",
        "over one core: 4.00 (at least 2.00)",
        "on another kernel: 20.0% (at most 30.0%)",
    ]
    (table,) = claims.chapter([judged]).sections[1].tables
    assert [row[2:] for row in table.values()] == [
        ["idle", "40.0%", 0.4, "at least 10.0%"],
        ["over one core", "4.00", 4.0, "at least 2.00"],
        ["on another kernel", "20.0%", 0.2, "at most 30.0%"],
    ]
    assert [[text for _, _, text in row][:2] for row in table.cells()] == [[claim.name, "Cores are idle"], ["", ""], ["", ""]]
    runs[pk, 48] = run(90.0, 48, {"idle": 0.4})
    judged = claims.judge(claim, runs)
    assert judged.news
    assert [reason.claim.says for reason in judged.failed] == ["on another kernel"]
    del runs[pk, 48]
    assert "on another kernel: not run" in claims.judge(claim, runs).why
    runs[claim.of, 48] = run(30.0, 48, {"idle": 0.0})  # holds: then no reason is asked for
    assert claims.judge(claim, runs).why == ""
    assert claims.judge(claim, runs).failed == ()


def test_a_claim_about_other_runs_has_reasons_about_them(tmp_path: Path) -> None:
    claim = one(tmp_path, _GOOD + _BECAUSE).changed(lambda runs: runs.on({"core": "in-order"}))
    assert all(selection.settings == (("core", "in-order"),) for selection in claim.selections)


def test_every_claim_of_the_project_that_differs_has_a_reason_that_is_measured() -> None:
    assert [claim.name for claim in claims.load() if claim.differs and not claim.because] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('because = [{ says = "x", quantity = "idle", at_least = 1 }]', "no `differs`"),
        ('differs = "x"\nbecause = [{ says = "x", quick = true, quantity = "idle", at_least = 1 }]', "a reason with quick"),
        ('differs = "x"\nbecause = [{ quantity = "idle", at_least = 1 }]', "has no says"),
        ('differs = "x"\nbecause = [{ says = "x", quantity = "idle" }]', "no bound"),
    ],
)
def test_a_wrong_reason(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(Failure, match=why):
        one(tmp_path, f"{_GOOD}{text}\n")


@pytest.mark.parametrize(
    ("quantity", "more", "wanted"),
    [
        ("total", "", 4800.0),
        ("idle", "", 0.2),
        ("kernel-share", "", 0.75),
        ("system-per-unit", "", 6000.0),
        ("system-seconds", "", 14.4),
        ("cycles", 'lines = ["mount-table-lock", "inode.i_*"]', 0.5),
        ("samples", 'functions = ["lookup_mnt"]', 0.3),
    ],
)
def test_quantities(tmp_path: Path, quantity: str, more: str, wanted: float) -> None:
    text = _GOOD.replace("per-core", quantity).replace("over = { cores = 1 }", more)
    claim = one(tmp_path, text)
    parts = {"idle": 0.2, "system": 0.6, "user": 0.2}
    assert claims.judge(claim, {(claim.of, 48): run(100.0, 48, parts)}).value == pytest.approx(wanted)


def test_the_share_of_memory_in_what_cores_wait_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = one(tmp_path, _GOOD.replace("per-core", "memory-share").replace("over = { cores = 1 }", ""))
    runs = {(claim.of, 48): run(100.0, 48)}
    parts: dict[str, float | None] = dict.fromkeys(PARTS.values(), 10.0)
    monkeypatch.setattr(claims, "stack", lambda run: Stack(run, parts))
    assert claims.judge(claim, runs).value == pytest.approx(1 / 3)
    parts["cores of the socket"] = None
    with pytest.raises(Failure, match="does not tell all that cores wait for"):
        claims.judge(claim, runs)


def test_what_memory_moves_of_what_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = one(tmp_path, _GOOD.replace("per-core", "memory-bandwidth").replace("over = { cores = 1 }", ""))
    runs = {(claim.of, 48): run(100.0, 48)}
    lines = {"dram_local": [600_000, 400_000], "dram_remote": [500_000, 0], "writebacks": [0, 500_000]}
    monkeypatch.setattr(claims, "read_table", lambda folder, name, columns, counted: pyarrow.table(lines).select(counted))
    assert claims.judge(claim, runs).value == pytest.approx(0.25)


def test_each_cell_of_figure_1_is_a_claim() -> None:
    found = {claim.name: claim for claim in claims.load() if "-meets-" in claim.name}
    assert len(found) == sum(len(bottleneck.applications) for bottleneck in the_sixteen())
    cell = found["postgresql-meets-lseek-mutex"]
    assert (cell.lines, cell.of.kernel, cell.of.cores, cell.at_least) == (("lseek-mutex",), "stock", (48,), 0.01)
    assert cell.says.startswith("PostgreSQL meets bottleneck 14 on the stock kernel")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("cores = 48", "cores = 48\nspeed = 1"), "has speed, which means nothing there"),
        (("[figure-1.cells]", "[figure-1.cells.exim-meets-nothing]"), "has exim-meets-nothing, which is no cell"),
        (("[figure-1.cells]", "[figure-1.cells.exim-meets-page-fields]\ncores = 2"), "has cores of exim-meets-page-fields"),
        (("cores = 48", "cores = 0"), "has runs without a number of cores"),
    ],
)
def test_a_table_of_figure_1_that_is_none(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    good = "[figure-1]\ncores = 48\n[figure-1.cells]\n"
    path = tmp_path / "claims.toml"
    path.write_text(good, encoding="utf-8")
    assert len(claims.load(path)) > 20
    assert change[0] in good
    path.write_text(good.replace(*change), encoding="utf-8")
    with pytest.raises(Failure) as caught:
        claims.load(path)
    assert words in caught.value.what


def test_a_cell_of_figure_1_with_a_run_and_lines_of_its_own() -> None:
    found = {claim.name: claim for claim in claims.load()}
    assert found["apache-meets-accept-queue"].of.workload == "apache:one-instance"
    assert found["memcached-meets-dma-buffers"].lines == ("dma-buffers", "kmem_cache_node.*")
    masked = found["apache-meets-mount-table-lock"]
    assert (masked.of.kernel, masked.quick) == ("pk-mount-cache", False)
    assert masked.says.startswith("Apache meets bottleneck 7 where all others are fixed")
    zeroing = found["metis-meets-super-page-zeroing"]
    assert (zeroing.quantity, zeroing.functions, zeroing.lines) == ("samples", ("*clear_page*",), ())


def test_a_peak(tmp_path: Path) -> None:
    claim = one(tmp_path, _GOOD.replace("per-core", "peak").replace("over = { cores = 1 }", "").replace("48", "[12, 28, 48]"))
    runs = {(claim.of, 12): run(100, 12), (claim.of, 28): run(90, 28), (claim.of, 48): run(20, 48)}
    assert claims.judge(claim, runs).value == 28
    assert claim.said(28.0) == "28"


def test_a_quantity_that_an_engine_does_not_know(tmp_path: Path) -> None:
    claim = one(tmp_path, _GOOD.replace("per-core", "idle").replace("over = { cores = 1 }", ""))
    with pytest.raises(Failure, match="does not count idle time"):
        claims.judge(claim, {(claim.of, 48): run(1.0, 48)})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("at_most = 0.35", ""), "has neither at_least nor at_most"),
        (('quantity = "per-core"', 'quantity = "speed"'), "is of the quantity 'speed', which is none of per-core"),
        (('section = "5.2"', 'chapter = "5.2"'), "has chapter, which means nothing there"),
        (("of = { cores = 48 }", ""), "has no of"),
        (("of = { cores = 48 }", "of = {}"), "has no of"),
        (("of = { cores = 48 }", "of = { cores = 0 }"), "has runs without a number of cores"),
        (('kernel = "stock"', ""), "has runs without a kernel"),
        (("of = { cores = 48 }", "of = { cores = [1, 48] }"), "needs one number of cores for the quantity per-core"),
        (('quantity = "per-core"', 'quantity = "cycles"'), "needs `lines` for cycles"),
    ],
)
def test_a_claim_that_is_none(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    assert change[0] in _GOOD
    with pytest.raises(Failure, match="the claim falls") as caught:
        one(tmp_path, _GOOD.replace(*change))
    assert words in caught.value.what


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="two claims are called falls"):
        one(tmp_path, _GOOD + _GOOD)
    with pytest.raises(Failure, match="cannot be read"):
        one(tmp_path, "[[claim")
    with pytest.raises(Failure, match=r"There is no claim 'nothing-\*'"):
        claims.choose(claims.load(), ["nothing-*"])
    assert {claim.name for claim in claims.choose(claims.load(), ["lseek-fix", "gmake-speedup-*"])} == {
        "lseek-fix",
        "gmake-speedup-stock",
        "gmake-speedup-pk",
    }

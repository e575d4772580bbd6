# SPDX-License-Identifier: BSD-3-Clause
"""Claims: what the file may say, what runs show of it. The runs are made up."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.report import claims
from analysis.report.claims import Claim, Selection
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


def test_what_is_known_to_differ_is_no_news_until_it_holds(tmp_path: Path) -> None:
    claim = one(tmp_path, f'{_GOOD}differs = "measured: 0.8"\n')
    base = {(Selection("exim", "stock", (1,)), 1): run(100.0, 1)}
    differs = claims.judge(claim, base | {(claim.of, 48): run(80.0, 48)})
    holds = claims.judge(claim, base | {(claim.of, 48): run(30.0, 48)})
    assert (differs.verdict, differs.news, holds.verdict, holds.news) == ("differs", False, "holds", True)
    text = claims.chapter([differs, holds])
    assert text.lead == ("Of 2 claims: 1 holds, 1 differs, 0 not run.",)


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

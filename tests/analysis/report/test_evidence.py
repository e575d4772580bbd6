# SPDX-License-Identifier: BSD-3-Clause
"""Figures behind reasons: what they measure in a run, when they hold, and what is refused."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from records_file import write_parquet

from analysis.report import paper
from analysis.report.evidence import QUANTITIES, Figure, measure_again, read_figures
from analysis.report.paper import load_paper
from analysis.report.runs import Run
from common.outcome import Failure

FIGURE = {"quantity": "cycles", "cores": 48, "expected": 0.6, "tolerance": 0.1}


def made(folder: Path, **metrics: object) -> Run:
    """A run of 10 units in 20 ms: 60 % of the waiting is for a dentry's count, 30 % for a page's, 10 % for its flags."""
    folder.mkdir()
    (folder / "point.toml").write_text('cores = 48\ntrial = 1\nworkload = "exim"\nkernel = "linux-6.1"\n')
    (folder / "metrics.json").write_text(
        json.dumps({"units": 10, "seconds": 0.02, "idle": 0.25, "instructions": 5000, "abandoned_walks": {}, **metrics})
    )
    (folder / "provenance.json").write_text("{}")
    paddr, cycles, moved = [64, 128, 128], [60, 30, 10], [3, 5, 2]
    write_parquet(folder, "lines", {"paddr": [64, 128], "cycles": [60, 40], "transfers_other_socket": [3, 7]})
    write_parquet(folder, "memory-types", {"paddr": [64, 128]})
    write_parquet(folder, "samples", {"core": [0], "function": ["dput"], "count": [1]})
    write_parquet(folder, "matrix", {"home": [0], "kind": ["read"], "messages": [1]})
    write_parquet(folder, "callers", {"caller": []})
    write_parquet(folder, "site-callers", {"paddr": []})
    site: dict[str, list[Any]] = {
        "paddr": paddr,
        "pc": [1, 2, 3],
        "kernel": [1, 1, 1],
        "cycles": cycles,
        "transfers_same_socket": [1, 0, 0],
        "transfers_other_socket": moved,
        "field": ["dentry.d_count", "page._count", "page.flags"],
        "function": ["dput", "put_page", "unlock_page"],
    }
    write_parquet(folder, "sites", site)
    return Run(folder)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path / "run")


def test_every_quantity_is_measured(run: Run) -> None:
    def got(quantity: str, *of: str, fields: tuple[str, ...] = ()) -> float:
        return Figure(quantity, 48, 0, 0, of, fields).measure(run)

    assert got("cycles", "dentry-reference-count") == pytest.approx(0.6)
    assert got("cycles", "dentry-reference-count", "page-fields") == pytest.approx(1)
    assert got("cycles", fields=("page._co*",)) == pytest.approx(0.3)
    assert got("transfers", "dentry-reference-count") == pytest.approx(0.4)  # of both kinds, a unit
    assert got("transfers", fields=("page.*",)) == pytest.approx(0.7)
    assert got("cycles", "dma-buffers") == 0
    assert got("idle") == 0.25
    assert got("instructions") == 500
    assert got("milliseconds") == pytest.approx(20)


@pytest.mark.parametrize(("quantity", "what"), [("idle", "idle cycles"), ("instructions", "instructions")])
def test_a_run_whose_engine_does_not_know_it_is_refused(tmp_path: Path, quantity: str, what: str) -> None:
    with pytest.raises(Failure, match=f"its engine does not count {what}"):
        Figure(quantity, 48, 0.2, 0.1).measure(made(tmp_path / "run", **{quantity: None}))


def test_a_figure_holds_within_its_tolerance_only(run: Run) -> None:
    def holds(expected: float, cores: int = 48) -> bool:
        (one,) = measure_again([Figure("cycles", cores, expected, 0.1, ("dentry-reference-count",))], {48: run})
        return one.holds

    assert holds(0.6) and holds(0.55) and holds(0.65)
    assert not holds(0.4) and not holds(0.8)  # on either side
    assert not holds(0.6, cores=12)  # no run of it


def test_a_figure_says_what_it_is(run: Run) -> None:
    said = [
        one.said for one in measure_again([Figure("cycles", cores, 0.5, 0.02, ("page-fields",)) for cores in (12, 48)], {48: run})
    ]
    assert said == [
        "cycles of page-fields on 12 cores: not measured (expected 50.00% +- 2.00%)",
        "cycles of page-fields on 48 cores: 40.00% (expected 50.00% +- 2.00%)",
    ]


def test_a_figure_of_lines_that_names_none_is_of_the_cell() -> None:
    assert read_figures(Path("x.toml"), {"figures": [FIGURE]}, "page-fields")[0].of == ("page-fields",)
    assert read_figures(Path("x.toml"), {"figures": [{**FIGURE, "of": ["sockets"]}]}, "page-fields")[0].of == ("sockets",)
    assert read_figures(Path("x.toml"), {"figures": [{**FIGURE, "fields": ["page.*"]}]}, "page-fields")[0].of == ()


@pytest.mark.parametrize("reason", [{}, {"figures": []}, {"figures": "none"}])
def test_a_reason_without_figures_is_refused(reason: Mapping[str, Any]) -> None:
    with pytest.raises(Failure, match=r"x.toml: the reason for exim and bottleneck 7 has no figures"):
        read_figures(Path("x.toml"), {"application": "exim", "bottleneck": 7, **reason}, "mount-table-lock")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"unit": "%"}, "has unit, which means nothing there"),
        ({"quantity": "speed"}, "quantity 'speed', which is none of cycles"),
        ({"quantity": None}, "quantity None"),
        ({"cores": 1.5}, "has no whole number cores"),
        ({"cores": "48"}, "has no whole number cores"),
        ({"expected": None}, "has no number expected"),
        ({"tolerance": True}, "has no number tolerance"),
        ({"tolerance": -1}, "has no number tolerance"),
        ({"of": ["page-field"]}, "is of page-field, which the catalogue does not have"),
        ({"of": ["sockets"], "fields": ["page.*"]}, "may be the same lines"),
        ({"quantity": "idle", "of": ["sockets"]}, "idle is of the whole run"),
        ({"tolerance": 0.6}, "holds for every share"),
    ],
)
def test_what_is_no_figure_is_refused(change: Mapping[str, object], why: str) -> None:
    with pytest.raises(Failure, match=why):
        read_figures(Path("x.toml"), {"figures": [{**FIGURE, **change}]}, "page-fields")


def test_a_figure_that_is_no_table_is_refused() -> None:
    with pytest.raises(Failure, match="is no table"):
        read_figures(Path("x.toml"), {"figures": ["0.6"]}, "page-fields")


# ---- the reasons that there are ----


def test_every_reason_has_figures_on_cores_that_are_run() -> None:
    differences = load_paper().differences
    assert differences
    for one in differences:
        assert one.figures
        assert {figure.cores for figure in one.figures} <= {12, 48}
        assert {figure.quantity for figure in one.figures} <= QUANTITIES.keys()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ('application = "exims"', "exims is no application"),
        ("bottleneck = 17", "17 is no bottleneck"),
        ("figures = []", "no figures"),
    ],
)
def test_a_reason_that_is_never_measured_is_refused(tmp_path: Path, change: str, why: str) -> None:
    """One for a cell that there is not, or one without figures."""
    known = {
        "application": 'application = "exim"',
        "bottleneck": "bottleneck = 7",
        "reason": 'reason = "None."',
        "figures": 'figures = [{ quantity = "idle", cores = 48, expected = 0.1, tolerance = 0.1 }]',
    }
    known[change.split(" ")[0]] = change
    folder = tmp_path / "linux-x"
    folder.mkdir()
    (folder / "paper-differences.toml").write_text("\n".join(["[[difference]]", *known.values(), ""]))
    with pytest.raises(Failure, match=why):
        paper.read_paper(paper.DATA, tmp_path)

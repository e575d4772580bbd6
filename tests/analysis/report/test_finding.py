# SPDX-License-Identifier: BSD-3-Clause
"""The sentences on a workload: one owner, and idle cores are said."""

from pathlib import Path

import pytest

from analysis.report.finding import MOSTLY_IDLE, cause, findings, idleness, shortage
from analysis.report.page import write
from analysis.report.runs import Run
from analysis.report.series import load_runs


def test_scaling_cause_and_nothing_of_busy_cores(runs: list[Path]) -> None:
    loaded = load_runs(runs[:3])
    (said,) = findings(loaded)
    assert said.startswith("With 48 cores each core does 2 % of what it does with 1 core. At 48 cores ")
    assert cause(loaded[-1]) in said
    assert "idle" not in said


def test_each_series_has_a_text_that_names_only_what_tells_it_apart(compared: list[Path]) -> None:
    said = findings([run for run in load_runs(compared) if run.application == "micro"])
    assert [text.partition(":")[0] for text in said] == [
        "On linux-6.1 stock",
        "On linux-6.1 + b",
        "On linux-6.1 + b, c",
        "On linux-6.1 pk",
    ]


def test_runs_that_differ_in_parameters_are_told_apart_by_them(runs: list[Path]) -> None:
    loaded = [Run(runs[2]), Run(runs[2])]
    for run, warmup in zip(loaded, ("5", "11"), strict=True):
        run.distinctions = (f"warmup={warmup}",)
    assert [text.partition(":")[0] for text in findings(loaded)] == ["With warmup=5", "With warmup=11"]


@pytest.mark.parametrize(("idle", "says"), [(MOSTLY_IDLE, False), (MOSTLY_IDLE + 0.001, True), (0.65, True), (None, False)])
def test_idle_cores_are_said_from_a_third_on(idle: float | None, says: bool, runs: list[Path], tmp_path: Path) -> None:
    run = Run(runs[2])
    run.metrics |= {"idle": idle} if idle is not None else dict.fromkeys(("user", "system", "idle"))
    assert bool(idleness(run)) is says
    assert ("cores are idle for" in findings([run])[0]) is says
    write([run], tmp_path / "report.html")
    assert ("cores are idle for" in (tmp_path / "report.html").read_text()) is says


@pytest.mark.parametrize(
    ("to_server", "from_server", "ending"),
    [
        (995, 100, "the network card's link is full, busy to the server for 100 % of it."),
        (100, 960, "the network card's link is full, busy from the server for 96 % of it."),
        (
            900,
            900,
            "the network card takes no more packets, there is too little work for them, of which a larger size has more, or "
            "processes sleep for what others hold.",
        ),
    ],
)
def test_cores_that_wait_for_the_link_are_not_told_to_take_more_work(
    to_server: int, from_server: int, ending: str, runs: list[Path]
) -> None:
    run = Run(runs[2])
    run.metrics["idle"] = 0.9
    run.metrics["load"] = {"ns": 1000, "link_to_server_ns": to_server, "link_from_server_ns": from_server}
    assert idleness(run).endswith(ending)


@pytest.mark.parametrize(
    ("nodes", "begins"), [([], ""), ([2], "Node 2 has no memory left at 48 cores: "), ([2, 5], "Nodes 2, 5 have no memory left")]
)
def test_nodes_without_memory_are_said(nodes: list[int], begins: str, runs: list[Path]) -> None:
    run = Run(runs[2])
    run.metrics["full_nodes"] = nodes
    assert shortage(run)[: len(begins)] == begins and bool(shortage(run)) is bool(nodes)
    assert ("no memory left" in findings([run])[0]) is bool(nodes)


def test_a_line_has_its_home_in_the_node_whose_memory_it_is_in(runs: list[Path]) -> None:
    run = Run(runs[0])
    run.metrics["node_memory"] = {"0": [0x1000, 0x10000000], "1": [0x10000000, 0x20000000]}
    run.point["machine"] = {"interleave": "node", "line_bytes": "64", "sockets": "2"}
    assert [run.home(paddr) for paddr in (0x1000, 0xFFFFFC0, 0x10000000, 0x20000000)] == [0, 0, 1, None]
    run.point["machine"]["interleave"] = "line"
    assert [run.home(paddr) for paddr in (0, 0x40, 0x80)] == [0, 1, 0]

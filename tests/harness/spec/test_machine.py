# SPDX-License-Identifier: BSD-3-Clause
"""Machines: the ones that come with the project, and what a wrong one is told."""

from pathlib import Path

import pytest

from common.outcome import Failure, Outcome
from common.paths import MACHINES
from harness.spec import machine
from harness.spec.machine_schema import schema


def test_paper_machine_has_the_paper_s_latencies() -> None:
    made = machine.load("opteron-8431")
    assert (made.sockets, made.cores, made.clock_ghz) == (8, 48, 2.4)
    assert (made.l1_cycles, made.l2_cycles, made.l3_cycles) == (3, 14, 28)
    latencies = {made.memory_cycles(a, b) for a in range(8) for b in range(8)}
    assert min(latencies) == 122
    assert max(latencies) == 503


def test_hops_are_symmetric_and_the_farthest_socket_is_three_away() -> None:
    hops = machine.load("opteron-8431").hops
    assert all(hops[a][b] == hops[b][a] for a in range(8) for b in range(8))
    assert max(map(max, hops)) == 3
    assert [hops[a][a] for a in range(8)] == [0] * 8


def test_values_have_every_key_sorted_and_read_back() -> None:
    made = machine.load("small-2x2", {"l2_kib": "1024", "clock_ghz": "2.5"})
    values = made.values()
    assert list(values) == sorted(schema().keys)
    assert values["l2_kib"] == "1024"
    assert machine.from_values(values, "values") == made


@pytest.mark.parametrize("engine", ["fast", "gem5"])
def test_the_file_of_an_engine_has_what_it_takes_sorted(engine: str) -> None:
    made = machine.load("opteron-8431", engine=engine)
    lines = [line.partition(" ") for line in made.flat(engine).splitlines()]
    assert [key for key, _, _ in lines] == schema().of_engine(engine)
    every = made.values() | made.resolved()
    assert all(every[key] == value for key, _, value in lines)


def test_resolved_values() -> None:
    made = machine.load("opteron-8431", {"sockets": "2"})
    assert made.resolved() == {
        "l1d_sets": "512",
        "l1i_sets": "512",
        "l2_sets": "512",
        "l3_sets": "2048",
        "l3_line_ways": "40",
        "probe_filter_sets": "65536",
        "hops": "0 1 1 0",
        "memory_cycles": "122 249 249 122",
        "node_distances": "10 16 16 10",
    }


def test_links_of_sockets_that_are_taken_away_go_with_them() -> None:
    assert machine.load("opteron-8431", {"sockets": "1"}).links == ()
    fewer = machine.load("opteron-8431", {"sockets": "4"})
    assert fewer == machine.load("opteron-8431", {"sockets": "4", "links": "0-1 0-2 1-3"})
    assert machine.load("opteron-8431", {"sockets": "8"}) == machine.load("opteron-8431")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (
            {"sockets": "2", "links": "0-1 0-2"},
            r"with --set: links = 0-1 0-2 is out of range\. Allowed is pairs of sockets from 0 to 1",
        ),
        ({"sockets": "2", "links": ""}, "links = nothing is out of range.*connects all 2 sockets"),
        ({"sockets": "9"}, "sockets = 9 is out of range"),
        ({"sockets": "x"}, "sockets = x is out of range"),
    ],
)
def test_links_are_refused_where_they_do_not_fit_the_sockets(overrides: dict[str, str], said: str) -> None:
    with pytest.raises(Failure, match=said):
        machine.load("opteron-8431", overrides)


def test_links_that_are_left_must_connect_the_sockets(tmp_path: Path) -> None:
    path = tmp_path / "star.toml"
    text = (MACHINES / "small-2x2.toml").read_text()
    path.write_text(text.replace("sockets = 2", "sockets = 4").replace('["0-1"]', '["0-3", "1-3", "2-3"]'))
    assert machine.load(str(path)).sockets == 4
    with pytest.raises(Failure, match=r"with --set sockets=2: links = nothing is out of range.*connects all 2 sockets"):
        machine.load(str(path), {"sockets": "2"})


def test_sources_are_comments_defaults_and_overrides() -> None:
    found = machine.sources("opteron-8431", {"l2_kib": "1024", "sockets": "2"})
    assert found["sockets"] == found["l2_kib"] == "--set"
    assert found["line_bytes"] == "default"
    assert found["l1_cycles"] == "paper, 5.1"
    assert found["links"].startswith("--set sockets")
    assert "l1i_ways" not in found


@pytest.mark.parametrize(
    ("engine", "other", "overrides", "key"),
    [
        ("gem5", "fast", {"tlb_entries": "32"}, "tlb_entries = 32"),
        ("gem5", "fast", {"sockets": "6", "interleave": "line"}, "interleave = line"),
        ("fast", "gem5", {"windows": "5"}, "windows = 5"),
        ("fast", "gem5", {"tlb_entries": "96"}, "tlb_entries = 96"),
    ],
)
def test_what_an_engine_cannot_be_is_refused(engine: str, other: str, overrides: dict[str, str], key: str) -> None:
    made = machine.load("opteron-8431", {"core": "in-order", **overrides})
    assert made.flat(other)
    with pytest.raises(Failure, match=f"machine opteron-8431 on engine {engine}: {key} is out of range") as caught:
        made.flat(engine)
    assert caught.value.outcome is Outcome.BAD_INPUT


def test_without_a_probe_filter_the_whole_l3_holds_lines() -> None:
    resolved = machine.load("opteron-8431", {"probe_filter_kib": "0"}).resolved()
    assert (resolved["probe_filter_sets"], resolved["l3_line_ways"]) == ("0", "48")


def test_without_a_probe_filter_a_miss_waits_for_the_last_answer() -> None:
    latency = {kib: machine.load("opteron-8431", {"probe_filter_kib": kib}).miss_cycles for kib in ("0", "1024")}
    assert [latency["1024"](0, home) for home in (0, 1, 7)] == [122, 122 + 127, 503]
    assert latency["0"](0, 0) == 120 + 3 * 127  # socket 7 is three links away
    assert latency["0"](0, 1) == 120 + (127 * (1 + 3 + 3) + 1) // 2  # and from both sockets here
    alone = machine.load("opteron-8431", {"probe_filter_kib": "0", "sockets": "1"})
    assert alone.miss_cycles(0, 0) == 122  # a socket alone answers sooner than its memory


def test_core_orders() -> None:
    made = machine.load("opteron-8431")
    assert made.core_list(7, "seq") == tuple(range(7))
    assert made.core_list(8, "rr") == (0, 6, 12, 18, 24, 30, 36, 42)
    assert made.core_list(9, "rr") == (0, 1, 6, 12, 18, 24, 30, 36, 42)
    assert made.core_list(48, "rr") == made.core_list(48, "seq")


@pytest.mark.parametrize("count", [0, 49])
def test_core_count_outside_the_machine(count: int) -> None:
    with pytest.raises(Failure) as caught:
        machine.load("opteron-8431").core_list(count, "seq")
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert f"cores = {count}" in caught.value.what
    assert "1 to 48" in caught.value.what


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("sockets", "0", "from 1 to 8"),
        ("sockets", "9", "from 1 to 8"),
        ("l1d_ways", "32", "from 1 to 16"),
        ("probe_filter_kib", "-1", "from 0 to"),
        ("l2_kib", "1_024", "whole number"),
        ("name", "opter\u00f6n", "letters a to z"),
        ("count_hits", "2", "from 0 to 1"),
        ("probe_filter_ways", "32", "from 1 to 16"),
        ("node_mib", "65536", "at most 32767"),
        ("atomic_cycles", "2", "at least l1_cycles = 3"),
        ("sockets", "x", "whole number"),
        ("clock_ghz", "99", "from 0.1 to 10"),
        ("clock_ghz", "nan", "from 0.1 to 10"),
        ("interleave", "page", "node, line"),
        ("links", "0-1", "connects all 8 sockets"),
        ("links", "1-0", "lower number first"),
        ("links", "0-9", "0 to 7"),
        ("l2_kib", "700", "power of two"),
        ("l1d_kib", "512", "at most 1024"),
        ("probe_filter_kib", "6144", "below l3_kib = 6144"),
        ("probe_filter_kib", "1000", "multiple of 128"),
        ("l3_cycles", "10", "l2_cycles = 14"),
        ("cores_per_socket", "9", "at most 8"),
        ("line_bytes", "128", "from 64 to 64"),
    ],
)
def test_value_out_of_range_names_file_key_value_and_range(key: str, value: str, allowed: str) -> None:
    with pytest.raises(Failure) as caught:
        machine.load("opteron-8431", {key: value})
    assert caught.value.outcome is Outcome.BAD_INPUT
    assert f"opteron-8431.toml with --set: {key} = {value} " in caught.value.what
    assert allowed in caught.value.cure


def test_a_relation_names_both_keys() -> None:
    with pytest.raises(Failure, match=r"l3_kib = 6144 is out of range.*l3_ways = 47"):
        machine.load("opteron-8431", {"l3_ways": "47"})


def test_unknown_machine_and_key() -> None:
    for name in ("opteron", "schema"):
        with pytest.raises(Failure, match=f"no machine '{name}'"):
            machine.load(name)
    assert machine.names() == ["opteron-8431", "small-2x2"]
    with pytest.raises(Failure, match="l4_kib is not a key"):
        machine.load("opteron-8431", {"l4_kib": "1"})


def test_missing_double_and_unreadable(tmp_path: Path) -> None:
    text = (MACHINES / "small-2x2.toml").read_text()
    for name, changed, said in (
        ("missing", text.replace("l2_ways = 16\n", ""), "key l2_ways is missing"),
        ("double", text.replace("[links]", "[more]\nl2_kib = 512\n[links]"), "key l2_kib is there twice"),
        ("broken", text.replace("sockets = 2", "sockets ="), "is not a TOML file"),
        ("words", text.replace("sockets = 2", 'sockets = "two"'), "sockets = two is out of range"),
        ("truth", text.replace("sockets = 2", "sockets = true"), "sockets = True is out of range"),
    ):
        path = tmp_path / f"{name}.toml"
        path.write_text(changed)
        with pytest.raises(Failure, match=said) as caught:
            machine.load(str(path))
        assert str(path) in caught.value.what


def test_only_gem5_has_the_out_of_order_processor() -> None:
    ahead = machine.load("opteron-8431", {"core": "o3"})
    assert "core o3\n" in ahead.flat("gem5")
    with pytest.raises(Failure) as caught:
        ahead.flat("fast")
    assert "core = o3 is out of range" in caught.value.what
    assert "in-order or interval" in caught.value.cure
    with pytest.raises(Failure, match="core = interval"):
        machine.load("opteron-8431", {"core": "interval"}).flat("gem5")


def test_windows_are_for_processors_that_execute_in_order() -> None:
    with pytest.raises(Failure, match="windows = 5 is out of range"):
        machine.load("opteron-8431", {"core": "o3", "windows": "5"}, "gem5").flat("gem5")


def test_a_machine_written_before_there_was_a_late_key_has_its_default() -> None:
    made = machine.load("opteron-8431")
    before = {key: value for key, value in made.values().items() if not key.startswith("window_c") and key != "windows"}
    assert machine.from_values(before, "point.toml") == made
    assert "windows" not in made.identity()
    assert machine.load("opteron-8431", {"windows": "5"}, "gem5").identity()["windows"] == "5"


def test_the_core_that_an_engine_has_by_default() -> None:
    assert [machine.load("opteron-8431", engine=engine).core for engine in ("fast", "gem5")] == ["interval", "in-order"]

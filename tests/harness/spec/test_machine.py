# SPDX-License-Identifier: BSD-3-Clause
"""Machines: the ones that come with the project, and what a wrong one is told."""

from pathlib import Path

import pytest

from common.outcome import Failure, Outcome
from common.paths import MACHINES
from harness.spec import machine


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


def test_flat_has_every_key_sorted_and_reads_back() -> None:
    made = machine.load("small-2x2", {"l2_kib": "1024", "clock_ghz": "2.5"})
    pairs = dict(line.split(" ", 1) for line in made.flat().splitlines())
    assert list(pairs) == sorted(machine.RANGES)
    assert pairs["l2_kib"] == "1024"
    assert machine.from_values(pairs, "flat") == made


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
        ("probe_filter_kib", "0", "from 1 to"),
        ("probe_filter_ways", "32", "from 1 to 16"),
        ("node_mib", "65536", "at most 32768"),
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
    with pytest.raises(Failure, match="no machine 'opteron'"):
        machine.load("opteron")
    with pytest.raises(Failure, match="l4_kib is not a key"):
        machine.load("opteron-8431", {"l4_kib": "1"})


def test_missing_double_and_unreadable(tmp_path: Path) -> None:
    text = (MACHINES / "small-2x2.toml").read_text()
    for name, changed, said in (
        ("missing", text.replace("l2_ways = 16\n", ""), "key l2_ways is missing"),
        ("double", text.replace("[disk]", "[more]\nl2_kib = 512\n[disk]"), "key l2_kib is there twice"),
        ("broken", text.replace("sockets = 2", "sockets ="), "is not a TOML file"),
        ("words", text.replace("sockets = 2", 'sockets = "two"'), "sockets = two is out of range"),
        ("truth", text.replace("sockets = 2", "sockets = true"), "sockets = True is out of range"),
    ):
        path = tmp_path / f"{name}.toml"
        path.write_text(changed)
        with pytest.raises(Failure, match=said) as caught:
            machine.load(str(path))
        assert str(path) in caught.value.what

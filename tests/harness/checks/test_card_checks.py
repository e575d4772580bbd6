# SPDX-License-Identifier: BSD-3-Clause
"""The checks of the network card: what they want, and that neither passes blind."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.outcome import Failure
from common.paths import REPOSITORY
from harness.checks.bench import card as bench_card
from harness.checks.verify import card, card_engines, card_fuzz, card_peer
from harness.checks.verify.card_engines import Did

MICROSOFT = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")
TRIPS = 200


def test_the_hash_is_that_of_its_specification() -> None:
    text = bytes([66, 9, 149, 187, 161, 142, 100, 80]) + (2794).to_bytes(2, "big") + (1766).to_bytes(2, "big")
    assert card.toeplitz(MICROSOFT, text) == 0x51CCC178
    assert card.toeplitz(MICROSOFT, text[:8]) == 0x323E8FC2


def registers() -> dict[str, Any]:
    key = [int.from_bytes(MICROSOFT[n : n + 4], "little") for n in range(0, 40, 4)]
    return {"mrqc": 1 | 1 << 17 | 1 << 22, "rss_key": key, "reta": [0x01000100] * 32}


def test_without_the_hash_all_comes_to_the_first_queue() -> None:
    result = registers()
    assert {card.queue_of(result, 0x0A000101 + n, 20000, 11211 + n) for n in range(16)} == {0, 1}
    result["mrqc"] = 0
    assert {card.queue_of(result, 0x0A000101 + n, 20000, 11211 + n) for n in range(16)} == {0}


def stays(before: tuple[int, int], after: tuple[int, int]) -> list[dict[str, Any]]:
    """Packets to queue 0 and 1 while the client is on core 1, and on core 0."""
    return [
        {"client": 1, "server": 0, "received": list(before)},
        {"client": 0, "server": 1, "received": list(after)},
    ]


OFFLOADS = ("tso", "gso", "gro", "scatter", "send-checksums", "receive-checksums")


def stream(state: int, again: int = 1) -> dict[str, Any]:
    return dict.fromkeys(OFFLOADS, state) | {"bytes": 8 << 20, "retransmitted": again, "errors": 0}


def good() -> tuple[dict[str, Any], dict[str, Any]]:
    """A run on two cores as it should be: what the guest said, and what the model counted."""
    result = registers() | {
        "per_core": [23, 23],
        "control_port": 40000,
        "vectors": 2,
        "load": {"sent": 46, "right": 46},
        "round_trips": TRIPS,
        "stays": stays((TRIPS, TRIPS), (TRIPS, TRIPS + 1)),
        "streams": [stream(1), stream(0, again=0)],
    }
    datagrams = [0, 0]
    for source, source_port, port, count in [
        (0x0A000101, 20000, 11211, 23),
        (0x0A000102, 20000, 11212, 23),
        (0x0A0000FE, 9, 40000, 1),
    ]:
        datagrams[card.queue_of(result, source, source_port, port)] += count
    result["datagrams"] = datagrams
    queues = [700, 300]
    model: dict[str, Any]
    result["statistics"] = {"rx_pkts_nic": 1000, "tx_pkts_nic": 900, "fdir_match": 800}
    result |= {"rx_queues": [700, 300], "tx_queues": [400, 500]}
    model = {"most_queues": 2, "received_frames": 1000, "sent_frames": 900, "dropped_fifo": 0, "director_matches": 800}
    model |= {"segmented_packets": 5, "wire_lost": 2}
    model |= {"received_of_queue": queues + [0] * 62, "sent_of_queue": [400, 500] + [0] * 62}
    return result, model


def test_a_run_as_it_should_be_passes() -> None:
    found = card.judge(*good(), 2)
    assert [one for one in found if not one.right] == []
    assert len(found) == 17


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        (("model", "most_queues"), 1, "queue pairs"),
        (("result", "vectors"), 1, "vectors of queues"),
        (("result", "load", "right"), 45, "replies"),
        (("result", "statistics", "rx_pkts_nic"), 999, "rx_pkts_nic"),
        (("result", "tx_queues"), [400, 499], "tx_queue"),
        (("model", "received_of_queue"), [699, 300], "rx_queue"),
        (("model", "director_matches"), 799, "fdir_match"),
        (("result", "datagrams"), [0, 0], "datagrams"),
        (("result", "stays"), stays((2 * TRIPS, 0), (TRIPS, TRIPS)), "before"),
        (("result", "stays"), stays((TRIPS, TRIPS), (TRIPS + 20, TRIPS - 20)), "after"),
        (("result", "statistics", "rx_csum_offload_errors"), 1, "rx_csum_offload_errors"),
        (("result", "streams"), [stream(1) | {"tso": 0}, stream(0)], "streams with offloads"),
        (("result", "streams"), [stream(1), stream(0) | {"gro": 1}], "streams without"),
        (("result", "streams"), [stream(1) | {"errors": 1}, stream(0)], "streams with offloads"),
        (("result", "streams"), [stream(1, again=0), stream(0, again=0)], "sent again"),
        (("model", "wire_lost"), 0, "packets lost"),
        (("model", "segmented_packets"), 0, "cut up"),
    ],
)
def test_what_is_wrong_is_named(place: tuple[str, ...], value: object, what: str) -> None:
    result, model = good()
    changed: dict[str, Any] = {"result": copy.deepcopy(result), "model": model}
    inner = changed
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    wrong = [one.what for one in card.judge(changed["result"], changed["model"], 2) if not one.right]
    assert len(wrong) == 1 and what in wrong[0]


@pytest.mark.parametrize("gone", ["vectors", "load", "statistics", "rx_queues", "datagrams", "stays", "rss_key", "streams"])
def test_a_run_that_does_not_say_what_is_judged_fails(gone: str) -> None:
    result, model = good()
    del result[gone]
    with pytest.raises(Failure, match=gone):
        card.judge(result, model, 2)


def test_a_driver_that_counted_nothing_and_a_card_that_said_nothing_fail(tmp_path: Path) -> None:
    result, model = good()
    result["statistics"] |= {"rx_pkts_nic": 0}
    with pytest.raises(Failure, match="packets"):
        card.judge(result, model | {"received_frames": 0}, 2)
    with pytest.raises(Failure, match="not said"):
        card_engines.counted(tmp_path)
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "card.json").write_text(json.dumps(model))
    assert card_engines.counted(tmp_path) == model


def test_a_run_with_another_guest() -> None:
    result, model = good()
    right = card_peer.judge(result, {"units": 16 << 20}, model)
    assert [one for one in right if not one.right] == []
    wrong = [one.what for one in card_peer.judge(result, {"units": 8 << 20}, model) if not one.right]
    assert wrong == ["bytes that the other guest exchanged"]
    with pytest.raises(Failure, match="units"):
        card_peer.judge(result, {}, model)


@pytest.mark.parametrize("source", ["linux-2.6.35", "linux-6.1"])
def test_the_other_guest_has_a_driver_of_its_card(source: str) -> None:
    assert "CONFIG_E1000=y" in (REPOSITORY / "kernels" / source / "config").read_text().splitlines()


DID = Did(sent=50, right=50, packets=100, counted=120, reads=4.0, writes=6.0)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"writes": 7.4}, ""),
        ({"writes": 7.6}, "16.0 % between 10.00 and 11.60 lines a packet"),
        ({"right": 49}, "gem5: 49 right replies to 50 requests"),
        ({"sent": 0, "right": 0}, "gem5: 0 right replies to 0 requests"),
        ({"counted": 99}, "gem5: the card has counted 99 packets, and 100 were in the region"),
    ],
)
def test_engines_whose_cards_differ(changed: dict[str, float], said: str) -> None:
    problems = card_engines.judge(DID, replace(DID, **changed))  # type: ignore[arg-type]
    assert problems == ([said] if said else [])


def test_engines_whose_cards_did_nothing_do_not_agree() -> None:
    nothing = replace(DID, reads=0.0, writes=0.0)
    assert card_engines.judge(nothing, nothing) == ["fast: the card touched no line", "gem5: the card touched no line"]


SAID = "fuzz: 20000 operations, 900 frames received, 800 sent, 70 accesses outside of memory\n"
PASSED = "[  PASSED  ] 1 test.\n"


def test_fuzz_that_ran_and_passed() -> None:
    assert card_fuzz.judge(0, SAID + PASSED, 20000).passed


@pytest.mark.parametrize(
    ("status", "output", "wanted"),
    [
        (0, "[  PASSED  ] 0 tests.\n", 20000),
        (0, PASSED, 20000),
        (0, SAID, 20000),
        (1, SAID + PASSED, 20000),
        (0, SAID + PASSED, 20001),
        (0, SAID.replace("70 accesses", "0 accesses") + PASSED, 20000),
    ],
)
def test_fuzz_that_did_not_happen_has_not_passed(status: int, output: str, wanted: int) -> None:
    assert not card_fuzz.judge(status, output, wanted).passed


def test_a_datagram_costs_what_the_region_took() -> None:
    card_cost, loopback = bench_card.Cost(6.0, 600.0), bench_card.Cost(5.0, 400.0)
    assert card_cost.mips == 100
    assert bench_card.judge(card_cost, loopback).passed
    assert not bench_card.judge(bench_card.Cost(7.0, 600.0), loopback).passed
    assert not bench_card.judge(card_cost, bench_card.Cost(3.0, 400.0)).passed
    assert not bench_card.judge(bench_card.Cost(0.0, 0.0), bench_card.Cost(0.0, 0.0)).passed

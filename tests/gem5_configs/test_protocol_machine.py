# SPDX-License-Identifier: BSD-3-Clause
"""What MOESI_htassist takes from a machine file."""

from dataclasses import replace
from pathlib import Path

import pytest
from board import machine_values
from board.errors import BoardError
from board.machine_values import Machine
from board.protocol_machine import protocol_latencies, sizes

from harness.spec import machine as harness_machine


def load(tmp_path: Path, **overrides: str) -> Machine:
    path = tmp_path / "machine.conf"
    path.write_text(harness_machine.load("opteron-8431", overrides, "gem5").flat("gem5"))
    return machine_values.read(path)


def test_the_filter_has_its_share_of_the_l3(tmp_path: Path) -> None:
    found = sizes(load(tmp_path))
    assert (found.l3 >> 20, found.l3_ways) == (5, 40)
    assert (found.l3 >> 6) // found.l3_ways == 2048
    assert (found.filter_entries, found.filter_ways) == (256 << 10, 4)
    assert (found.l1d >> 10, found.l1i >> 10, found.l2 >> 10) == (64, 64, 512)
    found = sizes(load(tmp_path, l1i_kib="32", l1i_ways="4"))
    assert (found.l1d >> 10, found.l1d_ways, found.l1i >> 10, found.l1i_ways) == (64, 2, 32, 4)


@pytest.mark.parametrize(
    ("filter_kib", "l2_kib", "sentence"),
    [
        (0, 512, "needs a probe filter"),
        (6144, 512, "leaves nothing of an L3"),
        (1024, 384, "the L2 of 6144 lines in 16 ways has 384"),
    ],
)
def test_a_machine_that_the_protocol_cannot_have_is_told(tmp_path: Path, filter_kib: int, l2_kib: int, sentence: str) -> None:
    with pytest.raises(BoardError, match=sentence):
        made = load(tmp_path)
        filter_sets = made.probe_filter_sets if filter_kib else 0
        sizes(replace(made, probe_filter_sets=filter_sets, probe_filter_kib=filter_kib, l2_kib=l2_kib))


def test_round_trips_are_shared_out(tmp_path: Path) -> None:
    made = load(tmp_path)
    found = protocol_latencies(made)
    assert found.l1 + found.l2 + 2 == made.l2_cycles
    assert found.l1 + found.to_core + found.l3 + 7 == made.l3_cycles
    assert found.l1 + found.to_core + found.memory + 16 == made.dram_local_cycles
    assert found.link_out + found.link_back + 2 == made.hop_cycles
    assert found.read_busy == 74
    assert found.decision + found.transfer < made.transfer_cycles - made.l2_cycles
    assert found.decision + 10 == made.transfer_cycles // 2
    slower = protocol_latencies(load(tmp_path, transfer_cycles="140", dram_local_cycles="150"))
    assert slower.decision + slower.transfer == found.decision + found.transfer + 20
    assert slower.memory == found.memory + 28


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"transfer_cycles": "30"}, "transfer"),
        ({"l1_cycles": "1"}, "an L1 hit after the fetch"),
        ({"atomic_cycles": "3"}, "a locked hit beyond another"),
    ],
)
def test_a_machine_that_is_too_fast_is_told(tmp_path: Path, keys: dict[str, str], what: str) -> None:
    with pytest.raises(BoardError, match=f"MOESI_htassist cannot be as fast as machine opteron-8431 asks: {what} would be"):
        protocol_latencies(load(tmp_path, **keys))

# SPDX-License-Identifier: BSD-3-Clause
"""`verify protocol`: what a search and gem5's testers say, and what fails the check. No gem5 is run."""

from collections import Counter

import pytest

from harness.checks.verify import protocol

_STATISTICS = """
system.cpu0.numReads                             4000                       # number of read accesses completed (Count)
system.cpu0.numWrites                            2000                       # number of write accesses completed (Count)
system.ruby.L1Cache_Controller.I.Load    |          70     50.00%     50.00% |          70     50.00%    100.00% (Unspecified)
system.ruby.L1Cache_Controller.I.Load::total          140                       # (Unspecified)
system.ruby.L3Cache_Controller.N.GETS::total          120                       # (Unspecified)
"""
_LOG = "info: Entering event queue @ 0.\nmemory system.ruby: maximum number of loads reached at tick 812\n"
_NAMED = ("memory", 2, 2, 1)


def ran(status: int = 0, log: str = _LOG, statistics: str = _STATISTICS) -> protocol.Tested:
    return protocol.tested_of(_NAMED, status, log, statistics, wanted=99)


def test_a_search_that_saw_everything() -> None:
    one = protocol.searched_of("1 2", 0, "pair L3Cache N GETS\nworlds 73087 steps 9 depth 7 complete\n")
    assert (one.worlds, one.fault, one.pairs) == (73087, "", frozenset([("L3Cache", "N", "GETS")]))


@pytest.mark.parametrize(
    ("status", "output", "fault"),
    [
        (1, "worlds 12 steps 20 depth 3 complete\nfault: two owners\n  step\n", "two owners"),
        (3, "worlds 500 steps 9 depth 7 not complete\n", "the search was not complete (status 3)"),
        (-9, "", "the search was not complete (status -9)"),
        (0, "", "the search was not complete (status 0)"),
    ],
)
def test_a_search_that_did_not(status: int, output: str, fault: str) -> None:
    assert protocol.searched_of("1 2", status, output).fault == fault


def test_a_tester_that_ended_well() -> None:
    one = ran()
    assert (one.accesses, one.fault) == (6000, "")
    assert one.met == {("L1Cache", "I", "Load"): 140, ("L3Cache", "N", "GETS"): 120}
    without = "\n".join(line for line in _STATISTICS.splitlines() if "cpu0" not in line)
    assert ran(statistics=without).accesses == 99  # RubyTester counts nothing, and ends when all checks are done


@pytest.mark.parametrize(
    "one",
    [
        ran(status=-6, log="panic: Invalid transition\n"),
        ran(status=0, log="nothing\n"),
        ran(statistics=""),
        ran(status=1, log="panic: Possible Deadlock detected. Aborting!\n paddr: [0x1240, line 0x1240]\n"),
    ],
)
def test_a_tester_that_did_not(one: protocol.Tested) -> None:
    assert one.fault and one.accesses == 0
    assert not protocol.judge([], [one], None, "").passed


def test_judgement() -> None:
    searched = [protocol.Searched("1 2", 73087, "")]
    written = {("L1Cache", "I", "Load"), ("L3Cache", "N", "GETS"), ("DMA", "READY", "Read")}
    check = protocol.judge(searched, [ran()], written, "")
    assert check.passed
    assert "73,087 worlds of 1 machines searched, 6,000 accesses by 1 random testers met 2 of 3 transitions" in check.figure
    assert not protocol.judge([protocol.Searched("1 2", 5, "two owners")], [], None, "").passed
    assert not protocol.judge([], [], None, "").passed  # an empty list is no success
    left_out = protocol.judge(searched, [], None, "The gem5 of the settings was built for MOESI_hammer, not MOESI_htassist.")
    assert left_out.passed and "testers left out (The gem5 of the settings was built for MOESI_hammer" in left_out.figure
    assert Counter() == protocol.tested_of(_NAMED, 0, _LOG, "", 1).met


def test_pairs_that_nothing_met_fail_a_whole_run() -> None:
    pair = ("DMA", "READY", "Read")
    written = {("L1Cache", "I", "Load"), ("L3Cache", "N", "GETS"), pair}
    unseen, seen = protocol.Searched("1 2", 5, ""), protocol.Searched("1 2", 5, "", frozenset([pair]))
    assert protocol.judge([seen], [ran()], written, "", whole=True).passed
    assert protocol.judge([unseen], [ran()], written, "").passed
    ended = protocol.judge([unseen], [ran()], written, "", whole=True)
    assert not ended.passed and "DMA READY Read was met by no tester and no search" in ended.figure


def test_a_seeded_fault_that_is_not_found_fails() -> None:
    assert protocol.judge([], [ran()], None, "", {"unlocked": "The counter of line 0x40: ..."}).passed
    ended = protocol.judge([], [ran()], None, "", {"unlocked": ""})
    assert not ended.passed and "the seeded fault unlocked was not found" in ended.figure


def test_a_pair_that_is_said_to_be_out_of_reach() -> None:
    (pair, *_) = protocol.OUT_OF_REACH
    written = {("L1Cache", "I", "Load"), ("L3Cache", "N", "GETS"), pair}
    assert protocol.judge([protocol.Searched("1 2", 5, "")], [ran()], written, "", whole=True).passed
    ended = protocol.judge([protocol.Searched("1 2", 5, "", frozenset([pair]))], [ran()], written, "")
    assert not ended.passed and "was met, and nothing should come to it" in ended.figure

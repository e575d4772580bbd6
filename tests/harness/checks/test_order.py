# SPDX-License-Identifier: BSD-3-Clause
"""The command that creates CPUs in the opposite order."""

import pytest

from harness.checks.verify.measuring import point
from harness.checks.verify.order import Figures, created_backwards, judge

WANTED = point("machine=small-2x2 * workload=micro:stat * cores=4")


def test_the_same_cpus_in_the_opposite_order() -> None:
    command = ["qemu", "-smp", "cpus=4,maxcpus=4,sockets=2", "-cpu", "phenom", "-m", "1G"]
    out = [str(word) for word in created_backwards(command, WANTED)]
    assert out[:7] == ["qemu", "-smp", "cpus=1,maxcpus=4,sockets=2", "-cpu", "phenom", "-m", "1G"]
    assert out[7::2] == ["-device"] * 3
    assert [word.removeprefix("phenom-x86_64-cpu,") for word in out[8::2]] == [
        "socket-id=1,core-id=1,thread-id=0",
        "socket-id=1,core-id=0,thread-id=0",
        "socket-id=0,core-id=1,thread-id=0",
    ]


def test_a_command_with_plugged_cpus_is_refused() -> None:
    with pytest.raises(ValueError, match="cpus=1"):
        created_backwards(["qemu", "-smp", "cpus=1,maxcpus=4", "-cpu", "phenom"], WANTED)


def figures(*cycles: int, transfers: int = 100) -> Figures:
    return Figures((transfers,) * len(cycles), cycles)


PLAIN, TIES = figures(970, 1000, 1030), figures(975, 1000, 1025)


def test_half_the_quantum_that_changes_less_than_the_regions_differ_by_chance_is_no_fault() -> None:
    verdict = judge(PLAIN, figures(970), TIES, figures(1000, 1030, 1060))
    assert verdict.held
    assert verdict.quantum.share == pytest.approx(0.03)


def test_half_the_quantum_that_changes_more_is_found() -> None:
    assert not judge(PLAIN, figures(970), TIES, figures(840, 870, 900)).held


def test_regions_that_tell_nothing_do_not_pass() -> None:
    assert not judge(figures(700, 1000, 1300), figures(700), figures(700, 1000, 1300), figures(700, 1000, 1300)).held


def test_another_order_of_creation_is_compared_with_as_many_regions() -> None:
    assert judge(PLAIN, figures(970), TIES, PLAIN).created == 0
    other = judge(PLAIN, figures(970, transfers=103), TIES, PLAIN)
    assert other.created == pytest.approx(0.03)
    assert not other.held


def test_a_row_is_sums_and_their_deviation_from_as_many_regions() -> None:
    assert figures(1940).row("first", PLAIN) == ("first", "100", "0.000 %", "1,940", "100.000 %")

# SPDX-License-Identifier: BSD-3-Clause
"""The command that creates CPUs in the opposite order."""

import pytest

from harness.checks.verify.measuring import point
from harness.checks.verify.order import created_backwards

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

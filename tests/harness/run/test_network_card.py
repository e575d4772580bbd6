# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine's network card: only for points whose clients are behind one."""

from pathlib import Path

import pytest

from common.outcome import Failure
from common.paths import REPOSITORY
from harness.run.engines.fast import card_device
from harness.spec import machine
from harness.spec import point as points
from harness.spec.machine_schema import schema


def test_the_devices_settings_are_the_points(tmp_path: Path) -> None:
    point = points.resolve({"workload": "micro:card-udp-echo:steering=spread", "cores": "2", "set.nic_fifo_kib": "64"})
    flag, device = card_device(tmp_path / "a,b.so", point, tmp_path)
    assert flag == "-device"
    name, *values = str(device).replace(",,", "\0").split(",")
    assert name == "mosbench-card"
    assert dict(value.split("=", 1) for value in values) == {
        "library": f"{tmp_path}/a\0b.so",
        "settings": f"{tmp_path}/card.conf",
        "metrics": f"{tmp_path}/card.json",
    }
    settings = dict(line.split(" ", 1) for line in (tmp_path / "card.conf").read_text().splitlines())
    assert set(settings) == {"nic_steering", *(key for key in schema().keys if key.startswith("nic_"))}
    assert settings["nic_steering"] == "spread"
    assert settings["nic_fifo_kib"] == "64"
    assert settings["nic_receive_mpps_many_queues"] == "2.8"


def test_a_point_says_whether_its_clients_are_behind_a_card() -> None:
    assert points.resolve({"workload": "micro:card-udp-echo"}).parameters["load"] == "card"
    assert "load" not in points.resolve({"workload": "micro:udp-send"}).parameters


def test_a_steering_that_there_is_not_is_refused() -> None:
    with pytest.raises(Failure, match="steering"):
        points.resolve({"workload": "micro:card-udp-echo:steering=left"})


def test_more_cores_than_the_card_has_queues_are_refused() -> None:
    few = {"workload": "micro:card-udp-echo", "set.nic_queues": "2"}
    assert points.resolve({**few, "cores": "2"}).cores == 2
    with pytest.raises(Failure, match=r"on 3 cores needs as many queues .* nic_queues = 2"):
        points.resolve({**few, "cores": "3"})
    assert points.resolve({"workload": "micro:udp-send", "set.nic_queues": "2", "cores": "3"}).cores == 3


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("nic_queues", "65", "1 to 64"),
        ("nic_limits", "2", "0 to 1"),
        ("nic_fifo_kib", "513", "16 to 512"),
        ("nic_receive_mpps_many_queues", "6", "at most nic_receive_mpps_1_queue = 5"),
        ("nic_transmit_mpps_1_queue", "1", "at most nic_transmit_mpps_1_queue = 1"),
    ],
)
def test_a_card_that_cannot_be_is_refused(key: str, value: str, said: str) -> None:
    with pytest.raises(Failure, match=key) as refused:
        machine.load("opteron-8431", {key: value})
    assert said in f"{refused.value} {refused.value.cure}"


def test_a_workload_may_say_how_many_packets_are_lost() -> None:
    guest = REPOSITORY / "harness" / "checks" / "verify" / "card-guest"
    point = points.resolve({"workload": f"{guest}:flows:loss_per_million=7", "cores": "1"})
    assert "nic_loss_per_million 7\n" in point.card_settings
    assert "nic_loss_per_million" not in points.resolve({"workload": "micro:card-udp-echo"}).card_settings

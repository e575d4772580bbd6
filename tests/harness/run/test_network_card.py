# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine's network card: only for points whose clients are behind one."""

from pathlib import Path

import pytest

from common.outcome import Failure
from harness.run.engines.fast import card_device
from harness.spec import point as points


def test_the_devices_settings_are_the_points(tmp_path: Path) -> None:
    point = points.resolve({"workload": "micro:card-udp-echo:steering=spread", "cores": "2"})
    flag, device = card_device(tmp_path / "a,b.so", point, tmp_path)
    assert flag == "-device"
    name, *values = str(device).replace(",,", "\0").split(",")
    assert name == "mosbench-card"
    assert dict(value.split("=", 1) for value in values) == {
        "library": f"{tmp_path}/a\0b.so",
        "settings": f"{tmp_path}/card.conf",
        "metrics": f"{tmp_path}/card.json",
    }
    assert (tmp_path / "card.conf").read_text() == "nic_steering spread\n"


def test_a_point_says_whether_its_clients_are_behind_a_card() -> None:
    assert points.resolve({"workload": "micro:card-udp-echo"}).parameters["load"] == "card"
    assert "load" not in points.resolve({"workload": "micro:udp-send"}).parameters


def test_a_steering_that_there_is_not_is_refused() -> None:
    with pytest.raises(Failure, match="steering"):
        points.resolve({"workload": "micro:card-udp-echo:steering=left"})

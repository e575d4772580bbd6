# SPDX-License-Identifier: BSD-3-Clause
"""Defaults that depend on the engine: what is said of them, and what `agree` takes."""

from pathlib import Path

import pytest
from poor_engine import gem5_without_card

from common.outcome import Failure
from harness.cli import which
from harness.cli.conclude import unlike
from harness.spec import point as points
from harness.spec import sweep


def said(text: str) -> list[str]:
    return unlike([points.resolve(one) for one in sweep.parse(text).settings])


def test_engines_with_other_defaults_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    gem5_without_card(monkeypatch)
    parameter, core = said("workload=memcached+micro:stat * engine=fast+gem5 * cores=1+2")
    assert parameter == (
        "memcached:per-core has load=card with linux-6.1 on engine fast and load=loopback with linux-6.1 on engine gem5: "
        "give load to compare the same work."
    )
    assert core == (
        "opteron-8431 has set.core=interval with engine fast and set.core=in-order with engine gem5: give set.core to "
        "compare the same work."
    )


@pytest.mark.parametrize(
    "text",
    [
        "workload=memcached * engine=fast+gem5 * cores=1+2 * set.core=in-order",
        "workload=memcached:load=loopback * engine=fast+gem5 * cores=1 * set.core=in-order",
        "workload=memcached:load=loopback+memcached:load=card * engine=fast * cores=1",
    ],
)
def test_nothing_is_said_of_the_same_default_or_of_what_was_asked_for(text: str) -> None:
    assert said(text) == []


def test_a_point_for_both_engines_has_what_both_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gem5_without_card(monkeypatch)
    text = "workload=memcached * cores=2 * set.core=in-order"
    assert which.read(text).parameters["load"] == "card"
    both = which.read(text, engine="gem5")
    assert (both.engine, both.parameters["load"]) == ("gem5", "loopback")
    file = tmp_path / "point.toml"
    points.write(which.read(text), file)
    assert which.read(str(file)) == which.read(text)
    with pytest.raises(Failure, match="which engine gem5 does not have"):
        which.read(str(file), engine="gem5")

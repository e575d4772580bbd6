# SPDX-License-Identifier: BSD-3-Clause
"""Exim, Apache and PostgreSQL in the real guest at their smallest size: right work is reported as right."""

from pathlib import Path

import pytest

from harness.checks.verify.measuring import execute, point
from harness.spec import workload

pytestmark = pytest.mark.guest

CORES = 2


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("exim", "split"),
        ("exim", "single"),
        ("apache", "one-instance"),
        ("apache", "instance-per-core"),
        ("postgresql", "read-only"),
        ("postgresql", "read-write"),
    ],
)
def test_every_variant_does_its_work(tmp_path: Path, name: str, variant: str) -> None:
    load = {"load": "loopback"} if "load" in workload.load(name).variants[variant].parameters else {}
    text = workload.smallest(name, variant, **load)
    done = execute(point(f"machine=small-2x2 * workload={text} * cores={CORES}"), tmp_path / "run")
    result = done.result
    assert result["checked"] is True, result["detail"]
    assert result["cores"] == list(range(CORES))
    assert sum(result["per_core"]) == result["units"] > 0
    assert min(result["cycles_per_core"]) > 0
    assert result["dropped"] == result["late"] == 0, result["detail"]


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("micro", "card-tcp-rr"),
        ("micro", "card-accept"),
        ("micro", "card-tcp-stream"),
        ("micro", "card-udp-stream"),
        ("micro", "card-chat"),
        ("memcached", "per-core"),
        ("memcached", "shared"),
        ("apache", "one-instance"),
        ("apache", "instance-per-core"),
        ("postgresql", "read-only"),
        ("postgresql", "read-write"),
    ],
)
def test_clients_behind_the_card_get_right_replies(tmp_path: Path, name: str, variant: str) -> None:
    text = workload.smallest(name, variant, load="card")
    result = execute(
        point(f"machine=small-2x2 * kernel=linux-6.1:stock * workload={text} * cores={CORES}"), tmp_path / "run"
    ).result
    assert result["checked"] is True, result["detail"]
    load = result["load"]
    assert load["sent"] == load["right"] > 0
    assert load["wrong"] == load["dropped"] == load["late"] == load["resets"] == 0
    assert 0 < load["p50_ns"] <= load["p99_ns"]
    assert 0 < load["link_to_server_ns"] < load["ns"]
    assert 0 < load["link_from_server_ns"] < load["ns"]


def test_a_table_made_with_the_disk_has_the_rows_that_are_asked_for(tmp_path: Path) -> None:
    text = workload.smallest("postgresql", "read-write", load="loopback", table="disk", files="1")
    result = execute(point(f"machine=small-2x2 * workload={text} * cores={CORES}"), tmp_path / "run").result
    assert result["checked"] is True, result["detail"]
    assert "1000 of 1000 rows are right" in result["detail"]

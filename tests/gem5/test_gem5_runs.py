# SPDX-License-Identifier: BSD-3-Clause
"""A real gem5: a small guest boots once, runs a job whose traffic is known, and ends badly when it is made to."""

from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from analysis.report import agreement
from common.json_files import read_json
from common.outcome import Failure, Outcome
from harness.checks.verify.measuring import execute, point
from harness.run import run_directory, runner
from harness.run.engines.gem5 import Gem5Engine
from harness.run.engines.gem5_binary import find
from harness.spec.point import Point

pytestmark = pytest.mark.gem5

HAND_OFFS = 2 * 211


def small(benchmark: str) -> Point:
    return point(f'engine=gem5 * machine=small-2x2 * set.node_mib=256 * cores=4 * workload="micro:{benchmark}"')


def test_the_gem5_of_the_settings_will_do() -> None:
    assert find().version.startswith("24.0")


def test_a_line_that_two_sockets_hand_over(tmp_path: Path) -> None:
    folder = runner.run_point(small("ping-pong:iterations=211,warmup=23,a=0,b=2"), tmp_path).folder
    assert run_directory.fault(folder) is None
    metrics = read_json(folder / "metrics.json")
    assert (metrics["engine"], metrics["units"]) == ("gem5", HAND_OFFS)
    lines = pq.read_table(folder / "lines.parquet").sort_by([("transfers_other_socket", "descending")])
    hot = lines.slice(0, 1).to_pylist()[0]
    assert hot["transfers_other_socket"] == pytest.approx(HAND_OFFS, rel=0.02)
    assert hot["upgrades"] == pytest.approx(HAND_OFFS, rel=0.02)
    assert hot["kernel"] == 0
    assert hot["cores"] == 0b101
    unknown = lines.num_rows if not find().has_l3 else 0  # there may be no L3 to know of
    assert lines["l3_hits"].null_count == unknown
    sites = pq.read_table(folder / "sites.parquet")
    assert set(sites["kernel"].to_pylist()) <= {0, 1}
    assert 0 not in sites["pc"].to_pylist()


def test_windows_of_a_region_cost_what_it_costs(tmp_path: Path) -> None:
    whole = small("stream:bytes=1048576,iterations=64,warmup=32")
    machine = replace(whole.machine, windows=5, window_cycles=20_000, window_lead_cycles=5_000)
    sides = [agreement.read_side(runner.run_point(one, tmp_path).folder) for one in (whole, replace(whole, machine=machine))]
    region, windows = sides
    assert windows.units < region.units / 3
    for side in sides:  # each core's own buffer is in its L3, whose lines the windows' caches got before they began
        assert side.counts["memory reads"] < 0.02 * side.counts["L3 hits"]
    assert windows.counts["L3 hits"] / windows.units == pytest.approx(region.counts["L3 hits"] / region.units, rel=0.05)
    assert windows.cycles_per_unit == pytest.approx(region.cycles_per_unit, rel=0.1)


def test_out_of_order_each_request_at_a_home_is_counted_at_its_line(tmp_path: Path) -> None:
    """A store may wait behind a load of its line, and ask for the right to write by itself: some 60 times here."""
    if not find().has_l3:
        pytest.skip("What is counted here are the requests of MOESI_htassist's sockets.")
    forks = small("fork-exit:iterations=11,warmup=3")
    folder = runner.run_point(replace(forks, machine=replace(forks.machine, core="o3")), tmp_path).folder
    requests = pq.read_table(folder / "matrix.parquet").filter(pc.field("kind").isin(["read", "write", "upgrade"]))
    lines = pq.read_table(folder / "lines.parquet")
    events = ("transfers_same_socket", "transfers_other_socket", "dram_local", "dram_remote", "upgrades")
    counted = sum(pc.sum(lines[column]).as_py() for column in events)
    at_the_edges = 4 * 4
    assert counted == pytest.approx(pc.sum(requests["messages"]).as_py(), abs=at_the_edges)


def test_a_job_ends_whose_tcp_connections_stay_open(tmp_path: Path) -> None:
    if find().no_card:
        pytest.skip(find().no_card)
    chat = small("card-chat:iterations=5,warmup=3,connections=2,members=4")
    load = execute(chat, tmp_path / "run").result["load"]
    assert load["sent"] == load["right"] == 4 * 5


def test_a_load_that_goes_on_after_the_region_lets_caches_be_left(tmp_path: Path) -> None:
    if find().no_card:
        pytest.skip(find().no_card)
    served = point(
        "engine=gem5 * machine=small-2x2 * set.node_mib=512 * cores=2 * "
        'workload="apache:one-instance:load=card,requests=10,warmup=10,connections=4"'
    )
    load = execute(served, tmp_path / "run").result["load"]
    assert load["sent"] == load["right"] == 2 * 10


def test_a_trial_is_disturbed_a_little(tmp_path: Path) -> None:
    first = small("ping-pong:iterations=211,warmup=23,a=0,b=2")
    cycles = []
    for trial in (1, 2):
        ran = execute(replace(first, trial=trial), tmp_path / str(trial))
        cycles.append(max(ran.result["cycles_per_core"]))
    assert cycles[0] < cycles[1] < 1.05 * cycles[0]


def test_a_request_that_waits_too_long_is_a_deadlock(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="made no progress on physical address 0x") as caught:
        execute(small("ping-pong:iterations=211,warmup=23,a=0,b=2"), tmp_path / "run", Gem5Engine(deadlock_cycles=20))
    assert caught.value.outcome is Outcome.PROTOCOL_DEADLOCK


def test_a_job_that_fails_says_so(tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        execute(small("ping-pong:iterations=11,warmup=3,a=0,b=2,fault=wrong-result"), tmp_path / "run")
    assert caught.value.outcome is Outcome.WRONG_RESULT

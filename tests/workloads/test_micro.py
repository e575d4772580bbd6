# SPDX-License-Identifier: BSD-3-Clause
"""Every microbenchmark on this host with one and with two workers: right results, and failures that show as failures."""

import re
import subprocess
from pathlib import Path

import pytest
from host_run import compile_program, host_cores, run_job

from common.paths import REPOSITORY
from harness.spec import workload

SOURCES = REPOSITORY / "workloads" / "micro" / "src" / "micro"
ITERATIONS = 53  # prime, small: a host's kernel does not matter here

# Units of work per iteration and worker where that is not one, and workers where it is not one per core.
UNITS = {
    "udp-send": 20,
    "shared-file-fault": 8,
    "shared-file-read": 8,
    "stream": 65536,
    "stream:kind=copy": 131072,
    "three-takers": 10,
}
# What a host seldom has. Runs of the simulated machine have it.
NOT_ON_HOST = {
    **dict.fromkeys(
        ("card-accept", "card-chat", "card-tcp-rr", "card-tcp-stream", "card-udp-echo", "card-udp-stream"),
        "the host has no such network card",
    ),
    "superpage-fault": "the host has no pages of 2 MiB to spare",
    "superpage-map": "the host has no pages of 2 MiB to spare",
    "packet-send": "others use the host's loopback device, whose frames it counts",
}
SMALL = {
    "pointer-chase": "bytes=65536,pages=small",
    "latencies": "bytes=262144,l3_bytes=131072,l2_bytes=65536,pages=small,iterations=1",
    "stream": "bytes=262144",
}


@pytest.fixture(scope="session")
def micro(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(SOURCES, tmp_path_factory.mktemp("micro") / "micro")


def job_text(variant: str, more: str = "") -> str:
    settings = [f"iterations={ITERATIONS}", "warmup=3", SMALL.get(variant, ""), more]
    merged = dict(setting.split("=") for part in settings for setting in part.split(",") if setting)
    return f"micro:{variant}:" + ",".join(f"{key}={value}" for key, value in merged.items())


def all_jobs() -> list[tuple[str, str]]:
    plain = [(variant, "") for variant in workload.load("micro").variants]
    more = [("false-sharing", "turns=strict"), ("mmap-munmap", "touch=1"), ("stream", "kind=write"), ("stream", "kind=copy")]
    return [*plain, *more, ("udp-send", "route=shared"), ("open-close-own", "path=relative"), ("stat-own", "path=relative")]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("variant", "more"), all_jobs())
def test_variant_does_its_work_and_checks_it(micro: Path, tmp_path: Path, variant: str, more: str, workers: int) -> None:
    if variant in NOT_ON_HOST:
        pytest.skip(NOT_ON_HOST[variant])
    text = job_text(variant, more)
    job = workload.parse(text)
    cores = host_cores(workers)
    if len(cores) < max(workers, job.needs_cores_min):
        pytest.skip("needs more cores than this run has")
    ending = run_job([micro], text, cores, tmp_path)
    assert ending.status == 0, ending.errors
    result = ending.result
    assert result["checked"] is True, result["detail"]
    assert result["unit"] == job.unit
    assert sum(result["per_core"]) == result["units"]
    assert len(result["cycles_per_core"]) == len(result["per_core"]) == len(result["cores"])
    assert set(result["cores"]) <= set(cores)
    assert all(cycles > 0 for cycles in result["cycles_per_core"])
    if variant == "pointer-chase":
        assert result["units"] == 256  # whole turns of the loop
    elif variant == "latencies":
        owned = {"dirty", "clean"} if workers > 1 else set()
        assert {"l1", "l2", "l3", "dram"} | owned == {one["level"] for one in result["latencies"]}
        assert all((one["level"] in ("dirty", "clean")) == ("owner" in one) for one in result["latencies"])
    elif variant == "upgrades":
        assert result["per_core"] == [ITERATIONS, 0]
    else:
        units = UNITS.get(f"{variant}:{more}", UNITS.get(variant, 1)) * ITERATIONS
        assert result["per_core"] == [units] * len(cores)


@pytest.mark.parametrize(
    ("variant", "more", "expected"),
    [
        ("ping-pong", "", {"transfers": 2 * ITERATIONS, "upgrades": 2 * ITERATIONS, "writes": 2 * ITERATIONS}),
        ("upgrades", "", {"transfers": ITERATIONS, "upgrades": ITERATIONS, "reads": 2 * ITERATIONS, "writes": ITERATIONS}),
        ("false-sharing", "turns=strict", {"transfers": 2 * ITERATIONS, "upgrades": 0, "writes": 2 * ITERATIONS}),
        ("shared-atomic", "", {"atomics": 2 * ITERATIONS}),
    ],
)
def test_known_answers_are_reported_with_their_lines(
    micro: Path, tmp_path: Path, variant: str, more: str, expected: dict[str, int]
) -> None:
    cores = host_cores(2)
    if len(cores) < 2:
        pytest.skip("needs two cores")
    result = run_job([micro], job_text(variant, more), cores, tmp_path).result
    assert result["expected"] == expected
    assert all(int(address, 16) % 64 == 0 for address in result["lines"].values()) and result["lines"]


@pytest.mark.parametrize("variant", ["shared-atomic", "open-close"])  # threads, processes
def test_wrong_result_and_failure_show(micro: Path, tmp_path: Path, variant: str) -> None:
    ending = run_job([micro], job_text(variant, "fault=wrong-result"), host_cores(2), tmp_path)
    assert ending.status == 0 and ending.result["checked"] is False
    ending = run_job([micro], job_text(variant, "fault=fail"), host_cores(2), tmp_path)
    assert ending.status == 3 and not ending.events


def test_hang_hangs_in_silence(micro: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run_job([micro], job_text("stat", "fault=hang"), host_cores(2), tmp_path, seconds=2)
    said = (caught.value.stdout or b"").decode().split()
    assert '{"event":"roi","mark":"begin"}' in said[-2:] and not caught.value.stderr  # the last line it says


def test_an_error_in_one_process_ends_the_whole_program(micro: Path, tmp_path: Path) -> None:
    (tmp_path / "own-0").write_text("a file where worker 0 wants a folder")
    ending = run_job([micro], job_text("open-close-own"), host_cores(2), tmp_path)
    assert ending.status == 1 and not ending.events
    assert re.search("micro: a worker ended with wait status", ending.errors)


def test_the_chase_is_loads_and_almost_nothing_else(micro: Path) -> None:
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", micro], capture_output=True, text=True, check=True).stdout
    chase = code[code.index("<chase>:") :]
    chase = chase[: chase.index("\n\n")]
    register = re.search(r"mov +\((%r\w+)\),\1", chase)
    assert register
    assert len(re.findall(rf"mov +\({register[1]}\),{register[1]}", chase)) == 256
    assert len(re.findall(r"\bdec\b", chase)) == 1

# SPDX-License-Identifier: BSD-3-Clause
"""What the checks make of measurements: a wrong measurement must not pass."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.attribute.records import Records
from analysis.report.hot_lines import HotLine, Instruction
from common.outcome import Outcome
from harness.checks.bench import engine as bench_engine
from harness.checks.bench import memory
from harness.checks.bench.guest import Used
from harness.checks.verify import attribution, faults, known_answers, latencies, tap
from harness.checks.verify.measuring import deviation, scratch
from harness.spec import machine

OPTERON = machine.load("opteron-8431")


def test_deviation() -> None:
    assert deviation(98, 100) == deviation(102, 100) == pytest.approx(0.02)
    assert deviation(0, 0) == 0
    assert deviation(1, 0) == float("inf")


def test_scratch_folder_goes_and_stays(capsys: pytest.CaptureFixture[str]) -> None:
    with scratch("test") as gone:
        (gone / "file").touch()
    assert not gone.exists()
    with pytest.raises(RuntimeError), scratch("test") as kept:
        raise RuntimeError
    assert kept.exists() and str(kept) in capsys.readouterr().err
    (kept / "keep").unlink()
    kept.rmdir()


def test_latencies_of_a_result() -> None:
    rows = [
        {"cpu": 0, "node": 0, "level": "l1", "cycles": 3.01},
        {"cpu": 6, "node": 1, "level": "dram", "cycles": 122.0},
        {"cpu": 47, "node": 0, "level": "dram", "cycles": 513.1},
    ]
    first, local, far = latencies.latencies({"latencies": rows}, OPTERON, has_l3=True)
    assert (first.want, first.place) == (3, "L1")
    assert (local.socket, local.want, local.deviation) == (1, 122, 0)
    assert (far.socket, far.want, far.place) == (7, 503, "DRAM of node 0")
    assert far.deviation == pytest.approx(0.02, abs=1e-3)


def test_transfers_of_a_result() -> None:
    row = {"cpu": 0, "owner": 47, "node": 2, "level": "dirty", "cycles": 500.0}
    neighbour = {"cpu": 6, "owner": 11, "node": 1, "level": "clean", "cycles": 120.0}
    far, near = latencies.latencies({"latencies": [row, neighbour]}, OPTERON, has_l3=True)
    assert (near.owner, near.want, near.deviation) == (1, 120, 0)
    hops = OPTERON.hops
    legs = hops[0][2] + hops[2][7] + hops[7][0]
    assert far.want == 120 + (127 * legs + 1) // 2
    assert far.place == "dirty lines of a core of socket 7, at home on 2"
    shown = latencies.transfer_table([far, near], OPTERON)
    assert list(shown.columns[0].cells) == ["0", str(legs)]
    assert list(shown.columns[4].cells) == ["120.0 +0.0%", "missing"]


def test_transfers_that_must_be_measured() -> None:
    wanted = latencies.wanted_places(OPTERON, has_l3=False)
    assert (3, "clean", 5, 5) in wanted and (3, "clean", 3, 3) in wanted and (3, "clean", 4, 5) not in wanted
    assert (0, "l3", None, None) not in wanted
    one_core = replace(OPTERON, cores_per_socket=1)
    assert (3, "dirty", 3, 3) not in latencies.wanted_places(one_core, has_l3=True)


def lines(**columns: list[int]) -> Records:
    types = {"vaddr": np.uint64, "kernel": np.uint8}
    table = {name: np.array(values, types.get(name, np.uint32)) for name, values in columns.items()}
    return Records(Path("records.bin"), "fast", "m", 1, 1, {"lines": table}, {"lines": len(table["vaddr"])})


def test_counted_takes_user_lines_at_the_addresses_only() -> None:
    records = lines(
        vaddr=[0x1000, 0x1048, 0x1080, 0x1000],
        kernel=[0, 0, 0, 1],
        transfers_same_socket=[1, 10, 100, 1000],
        transfers_other_socket=[2, 20, 200, 2000],
    )
    assert known_answers.counted(records, [0x1010], "transfers") == 3
    assert known_answers.counted(records, [0x1000, 0x1040], "transfers") == 33


def test_answers_of_zero_are_judged_against_the_units() -> None:
    assert known_answers.Answer("x", "upgrades", 5, 0, 1000).deviation == 0.005
    assert known_answers.Answer("x", "upgrades", 99, 100, 1000).deviation == pytest.approx(0.01)


def line(label: str, where: str | None) -> HotLine:
    site = Instruction("f", where, {}, 10, 1.0)
    return HotLine(0, label, [], None, "slab", "dentry", 2, 2, {}, 10, 1.0, [site])


def test_the_top_line_must_be_the_lockref_with_its_source() -> None:
    assert attribution.is_lockref(line("dentry.d_lockref.lock_count", None))
    assert attribution.is_lockref(line("struct dentry.d_lockref", None))
    assert not attribution.is_lockref(line("inode.i_readcount", None))
    assert not attribution.is_lockref(line("dentry.d_name", None))
    assert attribution.has_source(line("x", "lib/lockref.c:176"))
    assert not attribution.has_source(line("x", None))


HANG = faults.Fault("hang", lambda ground: faults.Ended(0, "", ""), Outcome.BOOT_HANG)


@pytest.mark.parametrize(
    ("ended", "complaint"),
    [
        (faults.Ended(Outcome.BOOT_HANG.exit_status, "boot-hang", "It hung. Wait longer."), None),
        (faults.Ended(Outcome.BOOT_HANG.exit_status, "boot-hang", "It hung"), "no sentence and cure"),
        (faults.Ended(1, "boot-hang", "It hung. Wait longer."), "exit status"),
        (faults.Ended(0, "none", "Traceback"), "outcome none"),
    ],
)
def test_shortcomings(ended: faults.Ended, complaint: str | None) -> None:
    found = faults.shortcomings(HANG, ended)
    assert found == [] if complaint is None else complaint in found[0]


def test_the_looping_kernel_is_a_boot_image() -> None:
    image = faults.looping_kernel()
    assert image[0x1FE:0x200] == b"\x55\xaa" and image[0x202:0x206] == b"HdrS"
    assert image[0x200:0x202] == b"\xeb\xfe"  # where the real-mode code is entered


def used(region: float, boot: float) -> Used:
    cpu = {"warm": boot, "begin": boot, "end": boot + region}
    return Used({"units": 100}, cpu, cpu_total=boot + region, wall=boot + region, peak_bytes=0)


def results(
    ratio: float, boot: float, mips: float, ahead: float, kind: str = "one contended line"
) -> dict[tuple[str, str], bench_engine.Measured]:
    ours = bench_engine.Measured(used(1, boot), int(mips * 1e6), 1.0)
    in_order = bench_engine.Measured(used(1, boot), int(ahead * mips * 1e6), 1.0)
    theirs = bench_engine.Measured(used(1, 10), int(ratio * mips * 1e6), 1.0)
    return {(kind, "Debian"): theirs, (kind, "engine"): ours, (kind, "in order"): in_order}


@pytest.mark.parametrize(
    ("ratio", "boot", "mips", "ahead", "passes"),
    [(20, 15, 25, 1.2, True), (21, 10, 40, 1, False), (9, 16, 40, 1, False), (9, 10, 24, 1, False), (9, 10, 40, 1.4, False)],
)
def test_every_bound_of_the_bench_counts(ratio: float, boot: float, mips: float, ahead: float, passes: bool) -> None:
    assert bench_engine.judge(["one contended line"], results(ratio, boot, mips, ahead)).passed is passes


def test_the_bench_of_streaming_alone_says_nothing_of_boots() -> None:
    check = bench_engine.judge(["streaming"], results(20, 99, 40, 1.2, "streaming"))
    assert check.passed and "boot" not in check.figure


def test_instructions_of_a_run_that_counts_are_scaled_to_the_work() -> None:
    counted = bench_engine.Measured(used(1, 1), 500, 1.0)  # of 100 units
    timed = bench_engine.Measured(Used({"units": 1000}, {}, 1, 1, 0), 0, 2.0).with_instructions_of(counted)
    assert (timed.instructions, timed.mips) == (5000, 5000 / 2 / 1e6)


class Boots(bench_engine.Bench):
    """Each boot's region takes as many seconds as it is told."""

    def __init__(self, regions: dict[str, list[float]]) -> None:
        self.regions = regions

    def boot(self, way: str, text: str) -> bench_engine.Measured:
        return bench_engine.Measured(used(self.regions[way].pop(0), 1))


def test_the_quickest_of_several_boots_counts() -> None:
    once = {"no engine": [1.0], "no model": [1.0], "Debian, counting": [1.0]}
    bench = Boots({"Debian": [5.0, 3.0, 4.0], "engine": [9.0, 8.0, 7.0], "in order": [9.0, 8.0, 7.0], **once})
    found = bench_engine.quickest(bench, bench_engine.WORK["streaming"], repeats=3)
    assert found["Debian"].used.region == 3.0
    assert found["engine"].used.region == 7.0
    assert not any(bench.regions.values())


def test_memory_allowed() -> None:
    assert memory.allowed(2 << 30) == 4 << 30


def test_cost_of_the_tap_on_a_host_that_changes_its_speed() -> None:
    # Slower by a thousandth with each slice, and at once half as fast: no part of that is the tap's.
    speed = [1 + 0.001 * i + (i >= 200) for i in range(402)]
    free = tap.cost(speed)
    assert free.groups == 100 and free.mean == pytest.approx(0, abs=1e-9) and free.most < 0.001
    dear = tap.cost([one * (1.06 if i % 4 in (1, 2) else 1) for i, one in enumerate(speed)])
    assert dear.mean == pytest.approx(0.06, abs=1e-3)


def test_cost_of_the_tap_is_not_known_from_few_noisy_slices() -> None:
    noisy = [1.0, 1.5, 1.0, 1.0, 1.0, 0.8, 0.8, 1.0, 1.3, 1.0, 1.0, 1.0]
    assert tap.cost(noisy).mean < 0.05 < tap.cost(noisy).most
    with pytest.raises(ValueError, match="too few"):
        tap.cost(noisy[:7])

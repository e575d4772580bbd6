#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for gem5: started as the engine starts it, it says and writes what the file MODE beside it asks for.

Modes are "BOOT FORWARD MEASURE", functions below by name; a region of which windows are measured is counted before.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from records_file import write_records

from harness.run.console import format_line

END_OF_STATISTICS = "---------- End Simulation Statistics   ----------"
RESULT = {
    "event": "result",
    "units": 202,
    "unit": "operations",
    "per_core": [101, 101],
    "cycles_per_core": [240000, 480000],
    "checked": True,
    "detail": "",
}
Arguments = argparse.Namespace
_OF_WINDOWS = ("windows", "windows-at-once", "window-cycles", "lead-cycles", "region-instructions")


def tell(event: str, **fields: object) -> None:
    print("@gem5 " + json.dumps({"event": event, **fields}), flush=True)


def say(given: Arguments, *lines: str) -> None:
    with open(Path(given.outdir) / "system.pc.com_1.device", "a", encoding="utf-8") as handle:
        handle.writelines(line + "\n" for line in lines)


def progress(phase: str, instructions: int) -> None:
    tell("progress", phase=phase, guest_seconds=0.5, instructions=instructions, wall_seconds=2.0)


def end(cause: str, code: int = 0) -> None:
    tell("end", cause=cause, code=code, instructions=1000, guest_seconds=0.5, wall_seconds=2.5, cpu_seconds=1.5)


def boots(given: Arguments, init: bool = True) -> None:
    say(given, "[    0.000000] Linux version 6.1.0")
    if init:
        say(given, format_line({"event": "boot", "kernel": "6.1.0", "cpus": 2, "nodes": 2}))
    progress("boot", 1000)
    Path(given.checkpoint).mkdir()
    (Path(given.checkpoint) / "m5.cpt").write_text("[Globals]\n")
    (Path(given.outdir) / "disks").write_text("\n".join(given.disk))
    empty = Path(given.disk[1]).read_bytes()
    (Path(given.outdir) / "empty").write_text(str(len(empty) if not any(empty) else 0))
    end("checkpoint")


def hangs(given: Arguments) -> None:
    say(given, "[    0.100000] smp: Bringing up secondary CPUs ...")
    progress("boot", 1000)
    end("boot-hang")


def is_silent(given: Arguments) -> None:
    say(given, "[    0.100000] smp: Bringing up secondary CPUs ...")
    time.sleep(600)


def panics(given: Arguments) -> None:
    say(given, "[    0.9] Kernel panic - not syncing: VFS: Unable to mount root fs")
    end("boot-hang")


def boots_without_init(given: Arguments) -> None:
    boots(given, init=False)


def fails_early(given: Arguments) -> None:
    say(given, format_line({"event": "exit", "status": 3}))
    end("m5_exit instruction encountered")


def marks_nothing(given: Arguments) -> None:
    say(given, format_line(RESULT), format_line({"event": "exit", "status": 0}))
    end("m5_exit instruction encountered")


def job(given: Arguments, statistics: str, region: bool = True, cause: str = "m5_exit instruction encountered") -> None:
    assert (Path(given.origin) / "m5.cpt").is_file()
    assert Path(given.job).read_text().startswith("micro:ping-pong")
    say(given, format_line({"event": "start", "workload": "micro", "variant": "ping-pong"}))
    progress("start of the job", 900 if given.caches_from_job else 700)
    if region:
        tell("mark", mark="begin", wall_seconds=2.7)
        progress("region", 2500)
        tell("mark", mark="end", wall_seconds=4.0, cpu_seconds=3.5, instructions=2000, guest_seconds=0.01)
        tell("mark", mark="written", wall_seconds=0.5)
    progress("after", 3000)
    (Path(given.outdir) / "stats.txt").write_text(statistics)
    say(given, format_line(RESULT), format_line({"event": "exit", "status": 0}))
    end(cause)


def runs(given: Arguments) -> None:
    (Path(given.outdir) / "disks").write_text("\n".join(given.disk))
    job(given, f"---------- Begin Simulation Statistics ----------\nsimTicks 10\n\n{END_OF_STATISTICS}\n")


def counts(given: Arguments) -> None:
    say(given, format_line({"event": "start", "workload": "micro", "variant": "ping-pong"}))
    tell("mark", mark="begin", wall_seconds=2.7)
    tell("mark", mark="end", wall_seconds=4.0, cpu_seconds=3.5, instructions=2000, guest_seconds=0.01, program_instructions=1234)
    end("region ended")


def samples(given: Arguments) -> None:
    if given.windows is None:
        counts(given)
        return
    asked = ("windows", "window_cycles", "lead_cycles", "region_instructions")
    (Path(given.outdir) / "asked").write_text(" ".join(getattr(given, name) for name in asked))
    if given.windows == "1":
        job(given, END_OF_STATISTICS, cause="no window")
        return
    runs(given)
    for number in range(1, 12):
        folder = Path(given.output) / "windows" / str(number)
        folder.mkdir(parents=True)
        write_records(folder / "records.bin", {"lines": {"paddr": [64], "vaddr": [number], "upgrades": [1]}}, engine="gem5")


def truncates(given: Arguments) -> None:
    job(given, "---------- Begin Simulation Statistics ----------\nsimTicks 10\nsystem.cpu0.num")


def has_no_region(given: Arguments) -> None:
    job(given, f"{END_OF_STATISTICS}\n", region=False)


def stops(given: Arguments) -> None:
    job(given, f"{END_OF_STATISTICS}\n", cause="simulate() was asked to stop")


def dies(text: str) -> Callable[[Arguments], None]:
    def mode(given: Arguments) -> None:
        progress("region", 500)
        print(text, file=sys.stderr, flush=True)
        sys.exit(134)

    return mode


deadlocks = dies(
    "src/mem/ruby/system/Sequencer.cc:99: panic: Possible Deadlock detected. Aborting!\n"
    "version: 3 request.paddr: 0x1f00c0 m_readRequestTable: 1 current time: 9000 issue_time: 1000 difference: 8000"
)
meets_no_transition = dies(
    "L1Cache_Controller.cc:77: panic: Invalid transition\nsystem.ruby.l1_cntrl1 time: 5 addr: 0x40 event: Ack state: SM"
)
lacks_state = dies("src/sim/serialize.hh:1: fatal: Can't unserialize 'system.cpu7.xc.0:status'")
has_a_fault = dies("src/base/x.cc:1: panic: panic condition !ok occurred: a register that is not there")

runs_out_of_memory = dies("OSError: [Errno 12] Cannot allocate memory\n\nAt:\n  gem5-configs/windows.py(9): begin")
loses_a_window = dies("src/python/x.py:1: fatal: windows.py: window 3 ended with status -9; what it said is above.")
cannot_be_that = dies("BoardError: MOESI_htassist needs a probe filter\n\nAt:\n  gem5-configs/simulate.py(9): main")
has_a_wrong_script = dies("AttributeError: object 'Board' has no attribute 'x'\n\nAt:\n  gem5-configs/simulate.py(9): main")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--listener-mode", choices=["off"])
    parser.add_argument("--outdir")
    parser.add_argument("script")
    parser.add_argument("action")
    for option in ("machine", "cores", "kernel", "command-line", "checkpoint", "job", "output", "trial", *_OF_WINDOWS):
        parser.add_argument(f"--{option}")
    parser.add_argument("--disk", action="append")
    parser.add_argument("--caches-from-job", action="store_true")
    parser.add_argument("--from", dest="origin")
    arguments = parser.parse_args()
    modes = dict(zip(("boot", "measure"), (Path(__file__).parent / "MODE").read_text().split(), strict=True))
    globals()[modes.get(arguments.action, "samples")](arguments)

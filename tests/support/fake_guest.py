# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for an engine's process: `fake_guest.py MODE` writes console.log in its folder as a guest would, well or badly."""

import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness.run.console import format_line

RESULT = {
    "event": "result",
    "units": 2000,
    "unit": "operations",
    "per_core": [1000, 1000],
    "cycles_per_core": [240000, 480000],
    "checked": True,
    "detail": "all there",
}


def say(line: str) -> None:
    with open("console.log", "a", encoding="utf-8") as handle:
        handle.write(line + "\n")


def event(name: str, **rest: Any) -> None:
    say(format_line({"event": name, **rest}))


def boot() -> None:
    Path("guest.pid").write_text(str(os.getpid()))
    say("[    0.000000] Linux version 6.1.0 (mosbench@mosbench)")
    event("boot", kernel="6.1.0", cpus=2, nodes=1)
    event("start", workload="micro", variant="stat")


def end(result: dict[str, Any], status: int = 0) -> None:
    say(format_line(result))
    event("exit", status=status)


def ok() -> None:
    boot()
    end(RESULT)


def without_cycles() -> None:
    boot()
    end({key: value for key, value in RESULT.items() if key != "cycles_per_core"})


def hang() -> None:
    Path("guest.pid").write_text(str(os.getpid()))
    say("[    0.100000] smp: Bringing up secondary CPUs ...")
    time.sleep(600)


def panic() -> None:
    boot()
    say("[    1.000000] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100")
    say("[    1.000000] Call Trace:")


def panic_and_stay() -> None:
    panic()
    time.sleep(600)


def torn() -> None:
    boot()
    line = format_line(RESULT)
    say(line[:40] + "[    2.000000] random: crng init done" + line[40:])
    event("exit", status=0)


def wrong() -> None:
    boot()
    end({**RESULT, "checked": False, "detail": "1999 of 2000 operations"})


def failed() -> None:
    boot()
    say("memcached: cannot bind port")
    event("exit", status=3)


def no_result() -> None:
    boot()
    event("exit", status=0)


def two_results() -> None:
    boot()
    say(format_line(RESULT))
    end(RESULT)


def odd_result() -> None:
    boot()
    end({**RESULT, "cycles_per_core": [1]})


def cut_off() -> None:
    boot()


def slow() -> None:
    boot()
    while True:
        say("still at it")
        time.sleep(0.05)


def linger() -> None:
    ok()
    time.sleep(600)


def crash() -> None:
    boot()
    sys.exit("engine: assertion 'tag == line' failed")


def segv() -> None:
    boot()
    os.kill(os.getpid(), signal.SIGSEGV)


def no_memory() -> None:
    sys.exit("qemu: cannot set up guest memory 'pc.ram': Cannot allocate memory")


def no_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    boot()
    for _ in range(1000):
        say("a long boot log")


def fill_disk() -> None:
    boot()
    while True:
        say("x" * 65536)


MODES: dict[str, Callable[[], None]] = {
    name: value
    for name, value in globals().items()
    if callable(value) and name not in ("say", "event", "boot", "end", "format_line")
}

if __name__ == "__main__":
    MODES[sys.argv[1]]()

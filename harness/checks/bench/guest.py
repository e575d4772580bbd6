# SPDX-License-Identifier: BSD-3-Clause
"""A guest started for measuring: how much CPU time its emulator had used when the guest reported each event, and its memory.

Host CPU seconds rather than wall time, so that other work on the host disturbs little. The emulator's clock is read when an
event appears on the console, which is looked at every few milliseconds: good for regions of half a second and more.
"""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.outcome import Failure, Outcome
from common.progress import last_line, step
from harness.run.console import ConsoleReader, judge

_POLL_SECONDS = 0.003


@dataclass(frozen=True)
class Used:
    """What a guest used. ``cpu`` has the emulator's CPU seconds at each event: start, warm, begin, end, result, exit."""

    result: dict[str, Any]
    cpu: dict[str, float]
    cpu_total: float
    wall: float
    peak_bytes: int
    """Largest resident size of the emulator."""
    instructions: dict[str, int] = field(default_factory=dict)
    """Guest instructions executed when each event came, where they are counted."""

    @property
    def region(self) -> float:
        """CPU seconds between the reports of the marks begin and end."""
        return self.cpu["end"] - self.cpu["begin"]

    @property
    def region_per_unit(self) -> float:
        """CPU seconds for one unit of work."""
        return self.region / float(self.result["units"])

    @property
    def region_instructions(self) -> int:
        """Guest instructions between the reports of the marks begin and end; 0 where they are not counted."""
        return self.instructions.get("end", 0) - self.instructions.get("begin", 0)

    @property
    def boot(self) -> float:
        """CPU seconds from the start of the process to the mark before warming up: all that runs without a model."""
        return self.cpu["warm"]


def measure(title: str, command: Sequence[str | Path], folder: Path, limit: float = 1800.0, counter: Path | None = None) -> Used:
    """Run ``command``, whose guest reports on ``folder/console.log``, to its end.

    ``counter`` is a file of 8 bytes in which the emulator keeps the number of guest instructions executed.

    Raises:
        Failure: timeout after ``limit`` seconds, engine-crash, or what the guest reported. No process is left.
    """
    log = folder / "emulator.log"
    with open(log, "wb") as output, step(title) as current:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        watch = _Watch(process.pid, folder / "console.log", counter)
        began = time.monotonic()
        try:
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                if time.monotonic() - began > limit:
                    raise Failure(Outcome.TIMEOUT, f"{title} was not done after {limit:g} s.", "Look why in the console.")
                watch.look()
                current.note = watch.reader.last_line[:70]
                time.sleep(_POLL_SECONDS)
            process.returncode = os.waitstatus_to_exitcode(ended[1])
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    watch.look()
    if process.returncode:
        raise Failure(
            Outcome.ENGINE_CRASH, f"{title}: the emulator ended with {process.returncode} ({last_line(log)}).", f"See {log}."
        )
    usage = ended[2]
    return Used(
        result=judge(watch.reader, watch.console).result,
        cpu=watch.cpu,
        cpu_total=usage.ru_utime + usage.ru_stime,
        wall=time.monotonic() - began,
        peak_bytes=usage.ru_maxrss << 10,
        instructions=watch.instructions,
    )


@dataclass
class _Watch:
    """Reads a console as it grows and the CPU clock of the process that writes it."""

    pid: int
    console: Path
    counter: Path | None = None
    reader: ConsoleReader = field(default_factory=ConsoleReader)
    cpu: dict[str, float] = field(default_factory=dict)
    instructions: dict[str, int] = field(default_factory=dict)
    _offset: int = 0

    def look(self) -> None:
        """Take what is new; events in it get the clock's value before the look, which is nearer to when they were written."""
        try:
            now = time.clock_gettime(_cpu_clock(self.pid))
        except OSError:
            now = float("nan")  # it has ended: whatever comes now is after the region
        try:
            with open(self.console, "rb") as handle:
                handle.seek(self._offset)
                data = handle.read()
        except FileNotFoundError:
            return
        self._offset += len(data)
        known = len(self.reader.events)
        self.reader.feed(data)
        for event in self.reader.events[known:]:
            name = str(event["mark"]) if event["event"] == "roi" else str(event["event"])
            self.cpu.setdefault(name, now)
            if self.counter:
                self.instructions.setdefault(name, int.from_bytes(self.counter.read_bytes(), "little"))


def _cpu_clock(pid: int) -> int:
    """Number of the clock that counts the CPU time of all threads of a process (clock_getcpuclockid(3) of glibc)."""
    return (~pid << 3) | 2

# SPDX-License-Identifier: BSD-3-Clause
"""Run an engine's process and watch the guest's console until it ends, whatever way that is.

The child is killed when this process is, even by kill -9 (``setpriv --pdeathsig KILL``), and when anything is raised here.
"""

import math
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from common import interrupts
from common.outcome import Failure, Outcome
from common.progress import Step, last_line
from harness.run.console import QUOTE, ConsoleReader, ConsoleResult, judge

_POLL_SECONDS = 0.05
_PANIC_SECONDS = 5.0  # for the rest of the call trace, and for the reboot that ends the process
_DISK_RESERVE = 16 << 20  # bytes; below this the run is stopped, because engines do not report that a write failed


@dataclass(frozen=True)
class Limits:
    """How long a guest may take, in seconds of host time."""

    boot_silence: float = 90.0
    """Without a new byte on the console before the "start" event: a hang."""
    run: float = 3600.0
    """From the start of the process to its end."""
    exit: float = 60.0
    """From the "exit" event to the end of the process (records are written then)."""


NO_LIMITS = Limits(boot_silence=math.inf, run=math.inf, exit=math.inf)
"""Whoever looks at a guest with a debugger takes his time."""

Note = Callable[[ConsoleReader], str]
"""What the running step says, from the console so far."""
Diagnosis = Callable[[str], Failure | None]
"""What an engine died of, if the end of its log says so in words of its own."""


def _console_line(reader: ConsoleReader) -> str:
    return reader.last_line


def _nothing_known(log: str) -> Failure | None:
    return None


def supervise(
    command: Sequence[str | Path],
    folder: Path,
    limits: Limits,
    step: Step,
    *,
    console: Path | None = None,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> ConsoleResult:
    """Run ``command`` in ``folder`` until it ends, and judge what the guest said: `follow`, then `judge`."""
    console = console or folder / "console.log"
    return judge(follow(command, folder, limits, step, console=console, log=log, environment=environment), console)


def follow(
    command: Sequence[str | Path],
    folder: Path,
    limits: Limits,
    step: Step,
    *,
    console: Path,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
    note: Note = _console_line,
    diagnosis: Diagnosis = _nothing_known,
) -> ConsoleReader:
    """Run ``command`` in ``folder`` until it ends; returns what the guest said, which a caller that wants a job done judges.

    ``command`` itself writes the guest's console to ``console``, which need not exist yet; its standard output and error go to
    ``log`` (default ``folder/engine/qemu.log``).

    Raises:
        Failure: boot-hang, timeout, out-of-memory, disk-full, engine-crash, interrupted (ctrl-C) or what ``diagnosis`` says. No
            process is left then.
    """
    log = log or folder / "engine" / "qemu.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    oom_before = _oom_kills()
    reader = ConsoleReader()
    try:
        with interrupts.held() as check, child(command, folder, log, environment) as process:
            _watch(process, reader, console, limits, step, note, check)
    except KeyboardInterrupt:
        raise Failure(
            Outcome.INTERRUPTED, "The run was interrupted.", "Give the same command again: complete runs are kept."
        ) from None
    _check_disk(console.parent)  # what follows from a full disk, a crash or a report cut off, says less
    if process.returncode != 0 and reader.panic is None:
        crash = _crash(process.returncode, reader, log, oom_before)
        # Lack of memory or room is known from outside; of a crash the engine's own words say more.
        raise crash if crash.outcome is not Outcome.ENGINE_CRASH else diagnosis(_tail(log)) or crash
    return reader


@contextmanager
def child(
    command: Sequence[str | Path], folder: Path, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """An emulator's process, in ``folder``, while the body runs; it and everything it started are killed at the end."""
    with open(log, "wb") as output:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # a ctrl-C at the terminal reaches us alone
        )
    try:
        yield process
    finally:
        _end(process)


def _watch(
    process: subprocess.Popen[bytes],
    reader: ConsoleReader,
    console: Path,
    limits: Limits,
    step: Step,
    note: Note,
    check: Callable[[], None],
) -> None:
    """Follow the console until the process has ended or a panic has been printed in full."""
    began = heard = time.monotonic()
    panicked: float | None = None
    exited: float | None = None
    offset = 0
    while True:
        ended = process.poll() is not None  # before reading, so that what was written before the end is read
        data = _new_bytes(console, offset)
        now = time.monotonic()
        if data:
            offset += len(data)
            heard = now
            reader.feed(data)
        step.note = note(reader)[:70]
        if ended:
            return
        if reader.panic is not None:
            panicked = panicked or now
            if now - panicked > _PANIC_SECONDS:
                return
        if reader.find("exit") is not None:
            exited = exited or now
        _check_time(reader, console, limits, now - began, now - heard, now - exited if exited else 0.0)
        _check_disk(console.parent)
        check()
        time.sleep(_POLL_SECONDS)


def _new_bytes(path: Path, offset: int) -> bytes:
    try:
        with open(path, "rb") as handle:
            handle.seek(offset)
            return handle.read()
    except FileNotFoundError:
        return b""


def _check_time(reader: ConsoleReader, console: Path, limits: Limits, total: float, silent: float, exiting: float) -> None:
    said = reader.last_line or "nothing"
    if not reader.started and reader.panic is None and silent > limits.boot_silence:
        raise Failure(
            Outcome.BOOT_HANG,
            f"The guest printed nothing for {limits.boot_silence:g} s while it booted; its last line is '{said}'.",
            f"{console} has the boot log; on a slow or loaded host raise boot_silence_seconds in the settings.",
        )
    if total > limits.run:
        raise Failure(
            Outcome.TIMEOUT,
            f"The guest was not done after {limits.run:g} s; its last line is '{said}'.",
            "Raise run_seconds in the settings, or make the workload smaller.",
        )
    if exiting > limits.exit:
        raise Failure(
            Outcome.TIMEOUT,
            f"The engine did not end within {limits.exit:g} s after the guest was done.",
            f"{console} shows where it was.",
        )


def _check_disk(folder: Path) -> None:
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < _DISK_RESERVE:
        raise disk_full(folder, free)


def disk_full(folder: Path, free: int | None = None) -> Failure:
    """The disk-full failure for the file system of ``folder``, with ``free`` bytes left."""
    left = "is full" if free is None else f"has {free >> 20} MiB left"
    return Failure(
        Outcome.DISK_FULL, f"The file system of {folder} {left}.", "Free some room or give another --output, then repeat."
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the child and everything it started, and wait."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


_NO_MEMORY = re.compile(r"cannot allocate memory|cannot set up guest memory|bad_alloc|out of memory", re.IGNORECASE)
_NO_ROOM = re.compile(r"no space left on device|file too large|file size limit exceeded", re.IGNORECASE)


def _crash(status: int, reader: ConsoleReader, log: Path, oom_before: int) -> Failure:
    """What a process that ended badly died of: its last words decide between lack of memory, of disk, and a crash."""
    tail = _tail(log)
    said = last_line(log)[:QUOTE] or reader.last_line or "nothing"
    if _NO_MEMORY.search(tail) or (status == -signal.SIGKILL and _oom_kills() > oom_before):
        return Failure(
            Outcome.OUT_OF_MEMORY,
            f"The engine ran out of host memory ({said}).",
            "Use fewer --jobs, a smaller node_mib, or a host with more memory.",
        )
    if status == -signal.SIGXFSZ or _NO_ROOM.search(tail):
        return disk_full(log.parent)
    how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
    return Failure(Outcome.ENGINE_CRASH, f"The engine {how}; its last line is '{said}'.", f"{log} has all it printed.")


def _tail(path: Path) -> str:
    with open(path, "rb") as handle:
        handle.seek(0, os.SEEK_END)
        handle.seek(max(0, handle.tell() - 8192))
        return handle.read().decode(errors="replace")


def _oom_kills() -> int:
    """Processes that the host kernel has killed for lack of memory since it booted."""
    try:
        counters = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    except OSError:
        return 0
    return int(counters.get("oom_kill", 0))

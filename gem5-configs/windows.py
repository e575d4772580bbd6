# SPDX-License-Identifier: BSD-3-Clause
"""A region measured in windows: short parts of it, spread over all of it by chance, each after caches were filled.

The region itself goes by on processors without caches, whose accesses are recorded. Where a window begins, gem5 forks: a process
of its own fills the caches, measures and ends, and nothing of it comes back but what it writes. So windows are measured at the
same time, and none depends on those before.
"""

import ctypes
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _m5.core
import m5
from board.board import Board
from board.window_plan import Plan
from m5.objects import Root
from m5.simulate import notifyFork
from m5.util import fatal

STOPPED = "instructions of programs"
"""What gem5 says where a window begins."""
SLICE_ENDED = "simulate() limit reached"
_COUNTS = (
    "l3_hits",
    "transfers_same_socket",
    "transfers_other_socket",
    "dram_local",
    "dram_remote",
    "upgrades",
    "invalidations",
    "writebacks",
    "waited_cycles",
)
"""What the tap's totals are, before messages by kind."""
_MEASURED, _RECORDS, _STATISTICS = "window.json", "records.bin", "stats.txt"
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class Windows:
    """The windows of a region that begins now, on a ``board`` whose processors without caches record.

    Args:
        output: folder of the results; a window has ``windows/NUMBER`` of it, from 1.
        at_once: how many processes may measure at a time.
        enter: make the processors with caches take over, their caches filled; returns with how many accesses.
        idle_share: of the cycles since the statistics were reset, of a processor.
        ended: called with the numbers of windows that have been measured and of all, as each has.
    """

    def __init__(
        self,
        board: Board,
        plan: Plan,
        output: Path,
        at_once: int,
        enter: Callable[[], int],
        idle_share: Callable[[Any, int], float],
        ended: Callable[[int, int], None],
    ) -> None:
        self.board, self.plan, self.output = board, plan, output
        self._at_once, self._enter, self._idle_share, self._ended = at_once, enter, idle_share, ended
        self._began: int = board.history.userInstructions()
        self._executed = 0
        self._places = plan.places()
        self._begun = 0
        self._running = dict[int, int]()  # process -> number
        self._next()

    def begin(self) -> None:
        """Let a process measure the window that begins here, once a processor and the memory have room for one."""
        while self._running and (len(self._running) >= self._at_once or _free_memory() < _used_memory()):
            self._wait()
        self._begun += 1
        folder = self._folder(self._begun)
        folder.mkdir(parents=True)
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            self._be_a_window(folder)
        self._running[process] = self._begun
        self._next()

    def end(self) -> None:
        """The region is over, whether or not each window has begun."""
        self._executed = self.instructions()
        self.board.history.stopAt(0)

    def instructions(self) -> int:
        """What programs have executed since the region began."""
        return int(self.board.history.userInstructions() - self._began)

    def write(self) -> bool:
        """Wait for all windows, and write windows.json and stats.txt; records.bin of each stays in its folder.

        False: the region ended in each of them. A window in which it ends does not count: cores that have done their part wait.
        """
        while self._running:
            self._wait()
        folders = [self._folder(number) for number in range(1, self._begun + 1)]
        measured = [folder for folder in folders if (folder / _MEASURED).exists()]
        said = {
            "program_instructions": self._executed,
            "lead_cycles": self.plan.lead,
            "windows": [json.loads((folder / _MEASURED).read_text()) for folder in measured],
        }
        (self.output / "windows.json").write_text(json.dumps(said, indent=1) + "\n")
        with open(self.output / _STATISTICS, "wb") as all_statistics:
            for folder in measured:
                with open(folder / _STATISTICS, "rb") as statistics:
                    shutil.copyfileobj(statistics, all_statistics)
        for folder in folders:
            for file in folder.iterdir():
                if file.name != _RECORDS:
                    file.unlink()
            if folder not in measured:
                folder.rmdir()
        return bool(measured)

    def _folder(self, number: int) -> Path:
        return self.output / "windows" / str(number)

    def _next(self) -> None:
        """Let the simulation stop where the next window begins."""
        now = self.board.history.userInstructions()
        self.board.history.stopAt(max(self._began + self._places.pop(0), now + 1) if self._places else 0)

    def _wait(self) -> None:
        """Until one of the windows has ended."""
        process, status = os.wait()
        number = self._running.pop(process)
        if status != 0:
            code = os.waitstatus_to_exitcode(status)
            fatal("%s", f"windows.py: window {number} ended with status {code}; what it said is above.")
        self._ended(self._begun - len(self._running), self.plan.count)

    # ---- in a window's own process ----

    def _be_a_window(self, folder: Path) -> None:
        """Measure, and end the process."""
        status = 1
        try:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            _write_elsewhere(Path(m5.options.outdir), folder)
            notifyFork(Root.getInstance())
            self._measure(folder)
            status = 0
        except BaseException:  # the process must not go on as the one that it comes from
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _measure(self, folder: Path) -> None:
        """Write what is measured; nothing where something else ends the window than its length."""
        board, tap, history = self.board, self.board.ruby.tap, self.board.history
        history.stopAt(0)
        begins = self.instructions()
        filled = self._enter()
        if not _simulate(self.plan.lead * board.ticks_per_cycle()):
            return
        m5.stats.reset()
        board.ruby.network.reset_statistics()
        programs, tick = history.userInstructions(), m5.curTick()
        instructions = [cpu.totalInsts() for cpu in board.cpu]
        # Else all windows would look at the same few transfers of each site.
        tap.followFrom(int(tap.chain_period) * (self._begun - 1) // self.plan.count)
        tap.begin()
        if not _simulate(self.plan.cycles * board.ticks_per_cycle()):
            return
        tap.end()
        m5.stats.dump()
        cycles = (m5.curTick() - tick) // board.ticks_per_cycle()
        for core, (cpu, executed) in enumerate(zip(board.cpu, instructions, strict=True)):
            tap.coreTotals(core, cycles, cpu.totalInsts() - executed, round(cycles * self._idle_share(cpu, cycles)))
        problem = tap.write(str(folder / _RECORDS))
        if problem:
            fatal("%s", f"windows.py: {problem}")
        counted = tap.totals()
        measured = {
            "begins": begins,
            "filled": filled,
            "cycles": cycles,
            "program_instructions": history.userInstructions() - programs,
            **dict(zip(_COUNTS, counted, strict=False)),
            "messages": counted[len(_COUNTS) :],
        }
        (folder / _MEASURED).write_text(json.dumps(measured) + "\n")


def _used_memory() -> int:
    """KiB that this process has. One that it forks shares all of it at first, and never writes more than all of it."""
    return _kibibytes("/proc/self/status", "VmRSS:")


def _free_memory() -> int:
    """KiB of the host's memory that a process can get."""
    return _kibibytes("/proc/meminfo", "MemAvailable:")


def _kibibytes(path: str, name: str) -> int:
    return next(int(line.split()[1]) for line in Path(path).read_text().splitlines() if line.startswith(name))


def _simulate(ticks: int) -> bool:
    """Whether nothing has ended it before; what did is printed."""
    event = m5.simulate(ticks)
    if (cause := str(event.getCause())) == SLICE_ENDED:
        return True
    print(f"The window ends with '{cause}' ({event.getCode()}).", flush=True)
    return False


def _write_elsewhere(folder: Path, other: Path) -> None:
    """Let this process write each file that it has open in ``folder`` to a new one of that name in ``other``; not gem5's log."""
    for name in set(os.listdir("/proc/self/fd")) - {"0", "1", "2"}:
        try:
            file = Path(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:  # the folder's own
            continue
        if file.parent == folder.resolve():
            new = os.open(other / file.name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(new, int(name))
            os.close(new)
    m5.options.outdir = str(other)
    _m5.core.setOutputDir(str(other))

# SPDX-License-Identifier: BSD-3-Clause
"""A region measured in windows: short parts of it, spread over all of it by chance, each after caches were filled.

Between windows processors without caches go on, whose accesses are recorded.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import m5
from board.board import Board
from board.window_plan import Plan

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


class Windows:
    """The windows of a region that begins now, on a ``board`` whose processors without caches record.

    Args:
        enter, leave: make the processors with caches take over, and the others again.
        idle_share: of the cycles since the statistics were reset, of a processor.
    """

    def __init__(
        self,
        board: Board,
        plan: Plan,
        enter: Callable[[], int],
        leave: Callable[[], None],
        idle_share: Callable[[Any, int], float],
    ) -> None:
        self.board, self.plan = board, plan
        self._enter, self._leave, self._idle_share = enter, leave, idle_share
        self._began: int = board.history.userInstructions()
        self._places = plan.places()
        self._measured = list[dict[str, Any]]()
        self._per_core = [[0, 0, 0] for _ in board.cpu]  # cycles, instructions, idle cycles
        self._next()

    def measure(self) -> tuple[str, int]:
        """The window that begins here: (cause, code) of what ended it; `SLICE_ENDED` where nothing but its length did."""
        board, tap, history = self.board, self.board.ruby.tap, self.board.history
        begins = history.userInstructions() - self._began
        filled = self._enter()
        event = m5.simulate(self.plan.lead * board.ticks_per_cycle())
        if str(event.getCause()) == SLICE_ENDED:
            m5.stats.reset()
            before = tap.totals() if self._measured else None
            programs, tick = history.userInstructions(), m5.curTick()
            instructions = [cpu.totalInsts() for cpu in board.cpu]
            if self._measured:
                tap.goOn()
            else:
                board.ruby.network.reset_statistics()
                tap.begin()
            event = m5.simulate(self.plan.cycles * board.ticks_per_cycle())
            tap.end()
            m5.stats.dump()
            cycles = (m5.curTick() - tick) // board.ticks_per_cycle()
            for core, cpu, executed in zip(self._per_core, board.cpu, instructions, strict=True):
                core[0] += cycles
                core[1] += cpu.totalInsts() - executed
                core[2] += round(cycles * self._idle_share(cpu, cycles))
            after = tap.totals()
            counted = [now - then for now, then in zip(after, before or [0] * len(after), strict=True)]
            self._measured.append(
                {
                    "begins": begins,
                    "filled": filled,
                    "cycles": cycles,
                    "program_instructions": history.userInstructions() - programs,
                    **dict(zip(_COUNTS, counted, strict=False)),
                    "messages": counted[len(_COUNTS) :],
                }
            )
        self._leave()
        self._next()
        return str(event.getCause()), int(event.getCode())

    def _next(self) -> None:
        """Let the simulation stop where the next window begins; windows that others reached into begin at once."""
        now = self.board.history.userInstructions()
        self.board.history.stopAt(max(self._began + self._places.pop(0), now + 1) if self._places else 0)

    def instructions(self) -> int:
        """What programs have executed since the region began."""
        return int(self.board.history.userInstructions() - self._began)

    def end(self) -> None:
        """The region is over, whether or not each window has begun."""
        self.board.history.stopAt(0)

    def write(self, output: Path) -> None:
        """Write windows.json and records.bin."""
        if not self._measured:
            raise SystemExit("windows.py: the region ended before its first window.")
        tap = self.board.ruby.tap
        for i, (cycles, instructions, idle) in enumerate(self._per_core):
            tap.coreTotals(i, cycles, instructions, idle)
        problem = tap.write(str(output / "records.bin"))
        if problem:
            raise SystemExit(f"windows.py: {problem}")
        said = {"program_instructions": self.instructions(), "lead_cycles": self.plan.lead, "windows": self._measured}
        (output / "windows.json").write_text(json.dumps(said, indent=1) + "\n")

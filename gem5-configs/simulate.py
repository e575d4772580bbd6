# SPDX-License-Identifier: BSD-3-Clause
"""What gem5 executes for the harness: boot a guest up to a checkpoint, and from there run a job and measure it.

    gem5.opt --outdir=FOLDER simulate.py boot --checkpoint NEW_FOLDER ...
    gem5.opt --outdir=FOLDER simulate.py measure --from FOLDER --job FILE --output FOLDER ...
    gem5.opt --outdir=FOLDER simulate.py sample --from FOLDER --job FILE --windows N --output FOLDER ...

`measure` goes without caches up to the job's first mark, where it warms up; with `--caches-from-job` it has them from the start.
`sample` measures not the whole region, but windows of it. With `--windows 0` it only counts what programs execute in the region.

Tells how it goes on standard output, one line "@gem5 {JSON object}" at a time: events progress, mark and end.
"""

import argparse
import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import m5
from board import machine_values as machines
from board.board import Board, boot_board, timing_board
from board.platform import Card
from board.window_plan import Plan
from host_memory import use_huge_pages
from m5.objects import BaseCPU, BaseO3CPU, Root
from m5.params import allEnums
from m5.util import fatal
from windows import SLICE_ENDED, STOPPED, Windows

_TICKS_PER_SECOND = 10**12
_REPORT_SECONDS = 2.0
_MOST_INSTRUCTIONS = 20_000_000
"""Of all processors together in a slice, at most, so that what is told is not old."""
_WATCHED_TICKS = 10**9
"""A slice at whose end something is looked at: always the same, so that what a host does besides changes nothing."""
_START = "start of the job"
_MARKS = {1: "warm", 2: "region"}
"""Marks of the guest and what begins there."""
REGION_ENDED, NO_WINDOW = "region ended", "no window"
CONDITION = "condition"
_WITHOUT_CACHES, _TIMING = (allEnums["MemoryMode"](mode).getValue() for mode in ("atomic_noncaching", "timing"))
_STARTED_INSTRUCTIONS = 20_000
"""By then a processor that starts has told the one that boots, and goes on with its own idle loop."""
_SILENT_GUEST_SECONDS = 60.0
"""A boot takes some seconds of guest time; one that says nothing for longer than this waits for something that never comes."""


def tell(event: str, **fields: Any) -> None:
    print("@gem5 " + json.dumps({"event": event, **fields}), flush=True)


class Simulation:
    """A board that runs, with reports of its progress."""

    def __init__(self, board: Board, phase: str) -> None:
        self.board = board
        self.processors = list(board.cpu)
        self.phase = phase
        self.console = Path(m5.options.outdir) / "system.pc.com_1.device"
        self.began = time.monotonic()
        self.used = time.process_time()
        tell("mark", mark=phase)
        self._step = 10**8
        self._most = max(_MOST_INSTRUCTIONS // len(self.processors), 1) * board.ticks_per_cycle()
        self._reported = self.began
        self._heard = 0  # ticks at which the console last grew
        self._heard_bytes = 0

    def instructions(self) -> int:
        return sum(cpu.totalInsts() for cpu in (*self.board.cpu, *getattr(self.board, "prompt_cpu", ())))

    def all_started(self) -> bool:
        """Whether each processor but the first, which boots, is on its way. One alone has nobody to wait for."""
        others = self.board.cpu[1:]
        return bool(others) and all(cpu.totalInsts() > _STARTED_INSTRUCTIONS for cpu in others)

    def take_over(self, processors: list[BaseCPU]) -> None:
        """Go on with other processors, which get all state of those so far."""
        m5.switchCpus(self.board, list(zip(self.processors, processors, strict=True)), verbose=False)
        self.processors = processors

    def leave_caches(self) -> None:
        """Go on with processors that have no caches, of which nothing can be measured. Memory gets what caches hold."""
        m5.drain()
        if hasattr(self.board.ruby, "warmer"):
            self._stand_still(self.board.ruby.warmer.settle)
        self.board.ruby.snapshot.writeBack()
        self._hand_over(self.board.prompt_cpu, _WITHOUT_CACHES)

    def enter_caches(self) -> None:
        """Go on with processors that have caches."""
        m5.drain()
        self._hand_over(self.board.cpu, _TIMING)
        self.board.ruby.snapshot.readBack()
        self.part_reference()

    def part_reference(self) -> None:
        """From now on a debugger's memory, where there is one, is apart from the guest's. No cache has a newer line."""
        if self.board.ruby.access_backing_store:
            self.board.ruby.phys_mem.part()

    def fill_caches(self) -> int:
        """Enter caches, filled with what those processors did that have none; returns with how many accesses."""
        self.enter_caches()
        return int(self._stand_still(self.board.ruby.warmer.replay))

    def begin_without_caches(self) -> None:
        """Leave caches at once, where a boot was restored."""
        m5.simulate(1)  # a tick: what has not begun cannot be handed over
        self.leave_caches()

    def _stand_still(self, act: Callable[[], Any]) -> Any:
        """Let caches and memory ``act`` while for all else no time passes."""
        warmer = self.board.ruby.warmer
        before = warmer.stoodStill()
        made = act()
        if hasattr(self.board.pc, "network_card"):
            self.board.pc.network_card.standStill(warmer.stoodStill() - before)
        return made

    def _hand_over(self, processors: Sequence[BaseCPU], mode: int) -> None:
        # Not by m5.switchCpus: it would have the protocol flush its caches, by requests that it does not know.
        for cpu in self.processors:
            cpu.switchOut()
        self.board.setMemoryMode(mode)
        for cpu, former in zip(processors, self.processors, strict=True):
            cpu.takeOverFrom(former)
        self.processors = list(processors)

    def report(self) -> None:
        tell(
            "progress",
            phase=self.phase,
            guest_seconds=m5.curTick() / _TICKS_PER_SECOND,
            instructions=self.instructions(),
            wall_seconds=time.monotonic() - self.began,
        )

    def end(self, cause: str, code: int) -> None:
        """The last report, with what stopped the simulation."""
        self.report()
        tell(
            "end",
            cause=cause,
            code=code,
            instructions=self.instructions(),
            guest_seconds=m5.curTick() / _TICKS_PER_SECOND,
            wall_seconds=time.monotonic() - self.began,
            cpu_seconds=time.process_time() - self.used,
        )

    def until_event(self, silence_limit: float | None = None, until: Callable[[], bool] | None = None) -> tuple[str, int]:
        """Run until something other than the end of a slice stops the simulation: (cause, code).

        The cause is "boot-hang" when the console says nothing for ``silence_limit`` seconds of guest time, and `CONDITION` when
        ``until`` holds at the end of a slice.
        """
        while True:
            before = time.monotonic()
            event = m5.simulate(self._step if until is None else _WATCHED_TICKS)
            cause = str(event.getCause())
            if cause != SLICE_ENDED:
                return cause, int(event.getCode())
            now = time.monotonic()
            if now - self._reported >= _REPORT_SECONDS / 2:
                self._reported = now
                self.report()
            if now - before < _REPORT_SECONDS / 2:
                self._step = min(self._step * 2, self._most)
            elif now - before > _REPORT_SECONDS * 2:
                self._step = max(self._step // 2, 10**6)
            if silence_limit is not None and self._silent() > silence_limit:
                return "boot-hang", 0
            if until is not None and until():
                return CONDITION, 0

    def _silent(self) -> float:
        size = self.console.stat().st_size if self.console.exists() else 0
        if size != self._heard_bytes:
            self._heard, self._heard_bytes = m5.curTick(), size
        return float(m5.curTick() - self._heard) / _TICKS_PER_SECOND


def boot(board: Board, arguments: argparse.Namespace) -> None:
    """Boot to the guest's checkpoint operation and write it.

    When the last processor has started, others take over that do not wait for memory. The checkpoint is of the first ones.
    """
    Root(full_system=True, system=board)
    m5.instantiate()
    use_huge_pages()
    simulation = Simulation(board, "boot")
    cause, code = simulation.until_event(_SILENT_GUEST_SECONDS, until=simulation.all_started)
    taken_over = cause == CONDITION
    if taken_over:
        simulation.take_over(board.prompt_cpu)
        cause, code = simulation.until_event(_SILENT_GUEST_SECONDS)
    if cause == "checkpoint":
        if taken_over:
            simulation.take_over(board.cpu)
        m5.checkpoint(arguments.checkpoint)
    simulation.end(cause, code)


def measure(board: Board, arguments: argparse.Namespace) -> None:
    """From the checkpoint of a boot: start the job, warm up, count the region, write records and memory, and go on to its end."""
    Root(full_system=True, system=board)
    m5.instantiate(vars(arguments)["from"])
    use_huge_pages()
    simulation = Simulation(board, _START)
    region: Region | None = None
    cached = arguments.caches_from_job
    if cached:
        simulation.part_reference()
    else:
        simulation.begin_without_caches()
    while True:
        if region is not None and arguments.alternate_ticks:
            cause, code = region.alternate(arguments.alternate_ticks, Path(arguments.output))
        else:
            cause, code = simulation.until_event()
        simulation.report()
        if cause == "workbegin" and code in _MARKS:
            simulation.phase = _MARKS[code]
            if not cached:
                simulation.enter_caches()
                cached = True
            if simulation.phase == "region":
                region = begin_region(board, simulation, arguments)
        elif cause == "workend" and region is not None:
            region.end(Path(arguments.output))
            region = None
            simulation.phase = "after"
            if arguments.only_region:
                cause = REGION_ENDED
                break
            if not arguments.gdb_port:  # a debugger's memory would not get what is done without caches
                simulation.leave_caches()
        else:
            break
    write_card(board, arguments)
    simulation.end(cause, code)


def sample(board: Board, arguments: argparse.Namespace) -> None:
    """From the checkpoint of a boot: the job without caches, and windows of its region with them; or a count, and no more."""
    Root(full_system=True, system=board)
    m5.instantiate(vars(arguments)["from"])
    use_huge_pages()
    simulation = Simulation(board, _START)
    simulation.begin_without_caches()
    region: SampledRegion | None = None
    cause, code = simulation.until_event()
    while True:
        simulation.report()
        if cause == "workbegin" and code in _MARKS:
            simulation.phase = _MARKS[code]
            if simulation.phase == "region":
                use_huge_pages()
                region = SampledRegion(simulation, arguments)
        elif cause == STOPPED and region is not None:
            region.windows.begin()
        elif cause == "workend" and region is not None:
            region.end(Path(arguments.output))
            simulation.phase = "after"
            if not arguments.windows:
                cause = REGION_ENDED
                break
        else:
            break
        cause, code = simulation.until_event()
    if region is not None and arguments.windows:
        if not region.windows.write():
            cause = NO_WINDOW
        write_card(board, arguments)
    simulation.end(cause, code)


def write_card(board: Board, arguments: argparse.Namespace) -> None:
    """card.json, where there is a card: what it and the clients have counted in all of the job."""
    if hasattr(board.pc, "network_card"):
        check(board.pc.network_card.writeMetrics(str(Path(arguments.output) / "card.json")))


class SampledRegion:
    """The region of interest, of which windows are measured, from its beginning on."""

    def __init__(self, simulation: Simulation, arguments: argparse.Namespace) -> None:
        self.simulation = simulation
        self.instructions = simulation.instructions()
        self.wall, self.cpu, self.tick = time.monotonic(), time.process_time(), m5.curTick()
        tell("mark", mark="begin", wall_seconds=self.wall - simulation.began)
        sizes = (arguments.windows, arguments.window_cycles, arguments.lead_cycles, arguments.region_instructions)
        plan = Plan(*sizes, seed=str(arguments.trial))
        place = (Path(arguments.output), arguments.windows_at_once)
        self.windows = Windows(simulation.board, plan, *place, simulation.fill_caches, idle_share, self._window_ended)

    def _window_ended(self, measured: int, count: int) -> None:
        tell("window", measured=measured, of=count, wall_seconds=time.monotonic() - self.wall)

    def end(self, output: Path) -> None:
        self.windows.end()
        wall, used = time.monotonic() - self.wall, time.process_time() - self.cpu
        tell(
            "mark",
            mark="end",
            wall_seconds=wall,
            cpu_seconds=used,
            instructions=self.simulation.instructions() - self.instructions,
            guest_seconds=(m5.curTick() - self.tick) / _TICKS_PER_SECOND,
            program_instructions=self.windows.instructions(),
        )
        if not self.windows.plan.count:
            return
        before = time.monotonic()
        snapshot = self.simulation.board.ruby.snapshot
        snapshot.readBack()  # the caches have been passed by
        check(snapshot.write(str(output / "memory.elf")))
        tell("mark", mark="written", wall_seconds=time.monotonic() - before)


def begin_region(board: Board, simulation: Simulation, arguments: argparse.Namespace) -> "Region":
    """The region, which begins now; with --gdb-port when a debugger has come, and it stops before the next instruction."""
    use_huge_pages()  # for what it allocated since
    if arguments.gdb_port:
        wait_for_debugger(arguments.gdb_port)
    return Region(board, simulation)


def wait_for_debugger(port: int) -> None:
    """Wait until somebody connects to gem5's GDB port, ``port`` of this host.

    gem5 itself answers as soon as the simulation goes on, and holds the guest before its next instruction.
    """
    for name in os.listdir("/proc/self/fd"):
        try:
            one = socket.socket(fileno=os.dup(int(name)))
        except OSError:  # not a socket, or closed again
            continue
        with one:
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and one.getsockname()[1] == port:
                tell("mark", mark="gdb")
                select.select([one], [], [])
                return
    fatal("%s", f"simulate.py: port {port} of this host is taken.")


class Region:
    """The region of interest, from its beginning on."""

    def __init__(self, board: Board, simulation: Simulation) -> None:
        self.board = board
        self.simulation = simulation
        self.instructions = [cpu.totalInsts() for cpu in board.cpu]
        self.wall = time.monotonic()
        self.cpu = time.process_time()
        self.tick = m5.curTick()
        m5.stats.reset()
        board.ruby.network.reset_statistics()
        tell("mark", mark="begin", wall_seconds=time.monotonic() - simulation.began)
        if self.tapped:
            board.ruby.tap.begin()

    @property
    def tapped(self) -> bool:
        return hasattr(self.board.ruby, "tap")

    def alternate(self, ticks: int, output: Path) -> tuple[str, int]:
        """Run to the region's end in slices of ``ticks``, the tap counting in the middle two of each four: (cause, code).

        Writes slices.json, the processor seconds of each whole slice. What the tap counted is of no use afterwards.
        """
        tap, seconds = self.board.ruby.tap, list[float]()
        tap.end()
        while True:
            counting = len(seconds) % 4 in (1, 2)
            if counting:
                tap.begin()
            before = time.process_time()
            event = m5.simulate(ticks)
            took = time.process_time() - before
            if counting:
                tap.end()
            cause = str(event.getCause())
            if cause != SLICE_ENDED:
                (output / "slices.json").write_text(json.dumps(seconds) + "\n")
                return cause, int(event.getCode())
            seconds.append(took)
            self.simulation.report()

    def end(self, output: Path) -> None:
        board = self.board
        wall, used = time.monotonic() - self.wall, time.process_time() - self.cpu
        instructions = [cpu.totalInsts() - before for cpu, before in zip(board.cpu, self.instructions, strict=True)]
        m5.stats.dump()
        tell(
            "mark",
            mark="end",
            wall_seconds=wall,
            cpu_seconds=used,
            instructions=sum(instructions),
            guest_seconds=(m5.curTick() - self.tick) / _TICKS_PER_SECOND,
        )
        if self.tapped:
            self._write_records(output, instructions)
        before = time.monotonic()
        check(board.ruby.snapshot.write(str(output / "memory.elf")))
        tell("mark", mark="written", wall_seconds=time.monotonic() - before)

    def _write_records(self, output: Path, instructions: list[int]) -> None:
        tap = self.board.ruby.tap
        tap.end()
        cycles = (m5.curTick() - self.tick) // self.board.ticks_per_cycle()
        for i, cpu in enumerate(self.board.cpu):
            tap.coreTotals(i, cycles, instructions[i], round(cycles * idle_share(cpu, cycles)))
        check(tap.write(str(output / "records.bin")))
        messages = list(tap.linkMessages())
        (output / "tap.json").write_text(json.dumps({"link_messages": messages, "total": sum(messages)}) + "\n")


def idle_share(cpu: Any, cycles: int) -> float:
    """Share of ``cycles``, those since the statistics were reset, in which the processor was halted.

    An in-order processor's counter of cycles goes on while it is halted, and is brought up to date when it wakes; that of an
    out-of-order one stands still.
    """
    if isinstance(cpu, BaseO3CPU):
        return max(0.0, 1 - float(cpu.resolveStat("numCycles").total) / cycles)
    return float(cpu.getStatGroups()["exec_context.thread_0"].resolveStat("idleFraction").total)


def check(problem: str) -> None:
    if problem:
        fatal("%s", f"simulate.py: {problem}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="simulate.py")
    parser.add_argument("command", choices=["boot", "measure", "sample"])
    parser.add_argument("--machine", required=True, help="a resolved machine, engine/machine.conf of a run")
    parser.add_argument("--cores", required=True, help="the machine's numbers of the cores, separated by commas")
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--disk", action="append", required=True, help="raw image, the first one that of the root file system")
    parser.add_argument("--command-line", required=True)
    parser.add_argument("--from", help="folder of a checkpoint")
    parser.add_argument("--checkpoint", help="folder to write one to")
    parser.add_argument("--job", default="")
    parser.add_argument("--caches-from-job", action="store_true", help="of measure: no part of the job without caches")
    parser.add_argument("--output", default=".")
    parser.add_argument("--card-library", help="shared object with the network card; without, the machine has none")
    parser.add_argument("--card-settings", help="file with the card's settings")
    parser.add_argument("--no-tap", action="store_true")
    parser.add_argument("--only-region", action="store_true", help="end with the region, not with the job")
    parser.add_argument("--windows", type=int, default=0, help="of sample: how many; 0: only count instructions")
    parser.add_argument("--windows-at-once", type=int, default=1, help="processes that measure windows side by side")
    parser.add_argument("--window-cycles", type=int, default=0, help="length of a window")
    parser.add_argument("--lead-cycles", type=int, default=0, help="what is simulated before each window and does not count")
    parser.add_argument("--region-instructions", type=int, default=0, help="how many programs execute in the region, about")
    parser.add_argument("--alternate-ticks", type=int, default=0, help="turn the tap off and on in slices this long, to time it")
    parser.add_argument("--trial", type=int, default=1, help="from 2 on each is perturbed in another way")
    parser.add_argument("--gdb-port", type=int, default=0, help="stop where the region begins, for a debugger on this port")
    parser.add_argument("--deadlock-cycles", type=int, default=0, help="0: the board's")
    arguments = parser.parse_args()
    machine = machines.read(arguments.machine)
    cores = [int(core) for core in arguments.cores.split(",")]
    fixed = (machine, cores, arguments.kernel, arguments.command_line, arguments.disk)
    card = Card(arguments.card_library, arguments.card_settings) if arguments.card_library else None
    if arguments.command == "boot":
        boot(boot_board(*fixed, card), arguments)
    else:
        sampled = arguments.command == "sample"
        debugged = bool(arguments.gdb_port)
        made = timing_board(*fixed, arguments.job, card, tapped=not arguments.no_tap, sampled=sampled, debugged=debugged)
        if arguments.trial > 1:
            made.ruby.perturb(arguments.trial)
        if arguments.deadlock_cycles:
            made.ruby.give_up_after(arguments.deadlock_cycles)
        if debugged:
            made.workload.remote_gdb_port = arguments.gdb_port
        if sampled:
            made.history.counts_only = not arguments.windows
        (sample if sampled else measure)(made, arguments)


if __name__ in ("__main__", "__m5_main__"):
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""The board: a system with processors, devices and firmware, to which memory is attached last."""

from collections.abc import Sequence

from m5.objects import AccessHistory, AddrRange, BaseCPU, IOXBar, SrcClockDomain, System, VoltageDomain

from board import boot_memory
from board.bios import LinuxWorkload
from board.coherence import attach
from board.machine_values import Machine
from board.memory import M5OPS, ranges
from board.out_of_order import out_of_order_processors
from board.platform import IDE_DEVICE, Card, pc
from board.processors import boot_processors, prompt_processors, timing_processors
from board.reference import keep_reference


class Board(System):
    """What a boot and a measurement have in common; see `boot_board` and `timing_board`.

    Args:
        machine: the machine.
        cores: the machine's numbers of the cores that are plugged.
        kernel: vmlinux.
        command_line: of the kernel.
        disks: raw images, the first one that of the root file system.
        readfile: file that the guest can read with the m5 operation of that name.
        card: the network card; a checkpoint goes with a board that has one as well, or none.
    """

    def __init__(
        self,
        machine: Machine,
        cores: Sequence[int],
        processors: Sequence[BaseCPU],
        kernel: str,
        command_line: str,
        disks: Sequence[str],
        readfile: str = "",
        card: Card | None = None,
    ) -> None:
        super().__init__()
        self._ticks_per_cycle = round(1000 / machine.clock_ghz)  # gem5 rounds as well: a tick is a picosecond
        self._pause_cycles = machine.pause_cycles
        self.voltage_domain = VoltageDomain()
        self.clk_domain = SrcClockDomain(clock=f"{machine.clock_ghz}GHz", voltage_domain=self.voltage_domain)
        self.cpu_clk_domain = SrcClockDomain(clock=f"{machine.clock_ghz}GHz", voltage_domain=self.voltage_domain)
        self.cache_line_size = 64
        self.m5ops_base = M5OPS
        self.exit_on_work_items = True
        self.mmap_using_noreserve = True
        self.readfile = readfile
        self.mem_ranges = [AddrRange(start, size=size) for start, size in ranges(machine)]
        self.workload = LinuxWorkload(machine, cores, kernel, command_line, pci_devices=(IDE_DEVICE,))
        self.pc = pc(machine, len(cores), disks, card)
        self.iobus = IOXBar()
        # Disks and card read and write memory through what is attached later.
        self.pc.attachIO(self.iobus, [self.pc.south_bridge.ide.dma])
        if card is not None:
            self.pc.network_card.pio = self.iobus.mem_side_ports
            self.pc.network_card.int_requestor = self.iobus.cpu_side_ports
        self.cpu = self._timed(processors)

    def add_prompt_processors(self, processors: Sequence[BaseCPU]) -> None:
        self.prompt_cpu = self._timed(processors)

    def _timed(self, processors: Sequence[BaseCPU]) -> list[BaseCPU]:
        for cpu in processors:
            cpu.clk_domain = self.cpu_clk_domain
            cpu.syscallRetryLatency = self._pause_cycles  # see pause_instruction.hh
        return list(processors)

    def ticks_per_cycle(self) -> int:
        """Picoseconds of a core's cycle, as gem5 has it."""
        return self._ticks_per_cycle


def boot_board(
    machine: Machine, cores: Sequence[int], kernel: str, command_line: str, disks: Sequence[str], card: Card | None = None
) -> Board:
    """A board without caches, several times faster; its checkpoint can be restored into the other one.

    Its processors wait for memory. ``prompt_cpu``, which do not, can take over from them.
    """
    board = Board(machine, cores, boot_processors(len(cores)), kernel, command_line, disks, card=card)
    board.add_prompt_processors(prompt_processors(len(cores)))
    board.mem_mode = "atomic_noncaching"
    boot_memory.attach(board, machine)
    return board


def timing_board(
    machine: Machine,
    cores: Sequence[int],
    kernel: str,
    command_line: str,
    disks: Sequence[str],
    readfile: str = "",
    card: Card | None = None,
    tapped: bool = True,
    sampled: bool = False,
    debugged: bool = False,
) -> Board:
    """A board with the machine's caches and interconnect (``board.ruby``). ``prompt_cpu`` can go on without them.

    Args:
        sampled: what those do goes into ``history``, from which the caches can be filled.
        debugged: a debugger may ask for any line of memory at any time.

    Raises:
        ValueError: the machine is one that the protocol cannot have, or its caches cannot be filled.
    """
    make = out_of_order_processors if machine.works_ahead else timing_processors
    processors = make(len(cores), machine.tlb_entries)
    board = Board(machine, cores, processors, kernel, command_line, disks, readfile, card)
    if sampled:
        board.history = AccessHistory(cores=len(cores))
        if card is not None:
            board.pc.network_card.history = board.history
        board.add_prompt_processors(prompt_processors(len(cores), board.history))
    else:
        board.add_prompt_processors(prompt_processors(len(cores)))
    board.mem_mode = "timing"
    ruby = attach(board, machine, cores, tapped)
    if sampled:
        ruby.fill_from(board.history)
    if debugged:
        keep_reference(board, machine)
    return board

# SPDX-License-Identifier: BSD-3-Clause
"""Caches and coherence: gem5's MOESI_hammer, a directory with a probe filter on each node.

Stock hammer has private first and second levels and no third: what the machine's L3 would serve goes to memory or another core.
The probe filter is sized as the machine's HT Assist.
"""

from collections.abc import Sequence
from typing import Any

from m5.objects import (
    AccessHistory,
    CoreSequencer,
    Directory_Controller,
    DMA_Controller,
    DMASequencer,
    IOXBar,
    L1Cache_Controller,
    MemorySnapshot,
    MessageBuffer,
    RubyCache,
    RubyDirectoryMemory,
    RubyPortProxy,
    RubySequencer,
    RubySystem,
    SocketRouting,
    SrcClockDomain,
    System,
)

from board.errors import BoardError
from board.latencies import Latencies, latencies
from board.line_tap import DEADLOCK_CYCLES, line_tap
from board.machine_values import Machine
from board.nodes import address_ranges, memories
from board.topology import VIRTUAL_NETWORKS, HyperTransport

_LINE_BITS = 6


class Hammer(RubySystem):
    """Coherent memory for ``system``, which has processors and devices but no memory yet.

    Args:
        system: gets ``ruby`` (this), ``mem_ctrls`` and its ports connected.
        machine: the machine.
        cores: the machine's numbers of the system's processors, in order.
        tapped: whether the line tap counts events (``tap``).
    """

    def __init__(self, system: System, machine: Machine, cores: Sequence[int], tapped: bool = True) -> None:
        super().__init__()
        system.ruby = self
        self.clk_domain = SrcClockDomain(clock=f"{machine.clock_ghz}GHz", voltage_domain=system.voltage_domain)
        self.block_size_bytes = 1 << _LINE_BITS
        self.memory_size_bits = 48
        self.number_of_virtual_networks = VIRTUAL_NETWORKS
        idle = sorted(set(range(machine.sockets)) - {machine.socket(core) for core in cores})
        self.num_of_sequencers = len(cores) + len(idle)
        self.network = HyperTransport(self)
        timing = latencies(machine)
        if tapped:
            self.tap = line_tap(system, machine, cores, idle, timing.cache_response + timing.data)
        self._shown = {"tap": self.tap} if tapped else {}
        # The network numbers controllers in the order of their machine types: caches, directories, DMA.
        placed = [
            (machine.socket(core), timing.to_cache, self._cache(i, system, machine, timing)) for i, core in enumerate(cores)
        ]
        placed += [
            (socket, timing.to_cache, self._idle_cache(len(cores) + i, system, machine, timing)) for i, socket in enumerate(idle)
        ]
        placed += [(node, 1, self._directory(node, machine, timing)) for node in range(machine.sockets)]
        disk = DMASequencer(version=0, ruby_system=self, in_ports=system.pc.south_bridge.ide.dma)
        devices = DMASequencer(version=1, ruby_system=self, in_ports=system.iobus.mem_side_ports)
        self.dma_controllers = [self._dma(i, sequencer) for i, sequencer in enumerate((disk, devices))]
        placed += [(0, 1, controller) for controller in self.dma_controllers]
        routing = [self._routing(socket, machine, cores) for socket in range(machine.sockets)]
        self.network.connect(machine, timing, placed, routing)
        self._connect_memory(system, machine, timing)
        system.sys_port_proxy = RubyPortProxy(ruby_system=self, pio_request_port=system.iobus.cpu_side_ports)
        system.system_port = system.sys_port_proxy.in_ports
        self.snapshot = MemorySnapshot(caches=self._caches(range(len(cores))))

    def give_up_after(self, cycles: int) -> None:
        """Let a request that waits for longer than ``cycles`` end the simulation as a deadlock."""
        for i in range(int(self.num_of_sequencers)):
            getattr(self, f"l1_cntrl{i}").sequencer.deadlock_threshold = cycles

    def perturb(self, trial: int) -> None:
        """Make this the trial of that number; see CoreSequencer."""
        for i in range(int(self.num_of_sequencers)):
            sequencer = getattr(self, f"l1_cntrl{i}").sequencer
            if isinstance(sequencer, CoreSequencer):  # and not of a socket without a plugged core
                sequencer.trial = trial

    def fill_from(self, history: AccessHistory) -> None:
        """See `board.htassist_guest`; nobody has tried it with this protocol.

        Raises:
            BoardError: always.
        """
        raise BoardError("Caches of MOESI_hammer cannot be filled, as windows need it: use a gem5 with MOESI_htassist.")

    def _to_network(self) -> MessageBuffer:
        return MessageBuffer(out_port=self.network.in_port)

    def _from_network(self, ordered: bool = False) -> MessageBuffer:
        return MessageBuffer(in_port=self.network.out_port, ordered=ordered)

    def _cache(self, i: int, system: System, machine: Machine, timing: Latencies) -> L1Cache_Controller:
        cpu = system.cpu[i]
        controller = self._cache_controller(i, system, machine, timing)
        sequencer = CoreSequencer(
            core=i,
            icache=controller.L1Icache,
            l2cache=controller.L2cache,
            data_latency=timing.data,
            unlock_latency=timing.unlock,
            works_ahead=machine.works_ahead,
            deadlock_threshold=DEADLOCK_CYCLES,
            **self._of_sequencer(controller, i),
            **self._shown,
        )
        controller.sequencer = sequencer
        sequencer.connectIOPorts(system.iobus)
        sequencer.connectCpuPorts(cpu)
        return controller

    def _idle_cache(self, i: int, system: System, machine: Machine, timing: Latencies) -> L1Cache_Controller:
        """Of a socket without a plugged core: it has no lines, but probes go there and are answered."""
        controller = self._cache_controller(i, system, machine, timing)
        controller.sequencer = RubySequencer(**self._of_sequencer(controller, i))
        return controller

    def _of_sequencer(self, controller: L1Cache_Controller, i: int) -> dict[str, Any]:
        return {"version": i, "dcache": controller.L1Dcache, "clk_domain": controller.clk_domain, "ruby_system": self}

    def _cache_controller(self, i: int, system: System, machine: Machine, timing: Latencies) -> L1Cache_Controller:
        controller = L1Cache_Controller(
            version=i,
            L1Icache=_cache(machine.l1i_kib, machine.l1i_ways, is_icache=True),
            L1Dcache=_cache(machine.l1d_kib, machine.l1d_ways),
            L2cache=_cache(machine.l2_kib, machine.l2_ways),
            clk_domain=system.cpu_clk_domain,
            ruby_system=self,
            no_mig_atomic=True,
            send_evictions=True,  # MONITOR and the decoders must hear of lines that are lost
            transitions_per_cycle=4,
            mandatory_queue_latency=timing.data,
            l2_cache_hit_latency=timing.l2,
            cache_response_latency=timing.cache_response,
            issue_latency=1,
        )
        controller.requestFromCache = self._to_network()
        controller.responseFromCache = self._to_network()
        controller.unblockFromCache = self._to_network()
        controller.forwardToCache = self._from_network()
        controller.responseToCache = self._from_network()
        controller.triggerQueue = MessageBuffer()
        controller.mandatoryQueue = MessageBuffer()
        setattr(self, f"l1_cntrl{i}", controller)
        return controller

    def _directory(self, node: int, machine: Machine, timing: Latencies) -> Directory_Controller:
        # gem5 sizes the filter by the lines that it covers, and wants a set even where the filter is not used.
        filter_lines = RubyCache(
            size=f"{max(machine.probe_filter_sets, 1) * machine.probe_filter_ways << _LINE_BITS}B",
            assoc=machine.probe_filter_ways,
            start_index_bit=_LINE_BITS + (_interleave_bits(machine)),
        )
        controller = Directory_Controller(
            version=node,
            directory=RubyDirectoryMemory(),
            ruby_system=self,
            probeFilter=filter_lines,
            probe_filter_enabled=machine.probe_filter_sets > 0,
            full_bit_dir_enabled=False,
            from_memory_controller_latency=timing.directory,
            to_memory_controller_latency=1,
            transitions_per_cycle=4,
        )
        controller.forwardFromDir = self._to_network()
        controller.responseFromDir = self._to_network()
        controller.dmaResponseFromDir = MessageBuffer(out_port=self.network.in_port, ordered=True)
        controller.unblockToDir = self._from_network()
        controller.responseToDir = self._from_network()
        controller.requestToDir = self._from_network()
        controller.dmaRequestToDir = self._from_network(ordered=True)
        controller.triggerQueue = MessageBuffer(ordered=True)
        controller.requestToMemory = MessageBuffer()
        controller.responseFromMemory = MessageBuffer()
        controller.addr_ranges = [place for home, place in address_ranges(machine) if home == node]
        setattr(self, f"dir_cntrl{node}", controller)
        return controller

    def _dma(self, i: int, sequencer: DMASequencer) -> DMA_Controller:
        controller = DMA_Controller(version=i, dma_sequencer=sequencer, transitions_per_cycle=4, ruby_system=self)
        controller.responseFromDir = self._from_network(ordered=True)
        controller.requestToDir = self._to_network()
        controller.mandatoryQueue = MessageBuffer()
        return controller

    def _routing(self, socket: int, machine: Machine, cores: Sequence[int]) -> SocketRouting:
        own = [i for i, core in enumerate(cores) if machine.socket(core) == socket]
        return SocketRouting(socket=socket, cores=own, caches=self._caches(own), **self._shown)

    def _connect_memory(self, system: System, machine: Machine, timing: Latencies) -> None:
        placed = memories(machine, latency_cycles=timing.memory)
        system.mem_ctrls = [memory for _, memory in placed]
        crossbars = []
        for node in range(machine.sockets):
            own = [memory for home, memory in placed if home == node]
            port = getattr(self, f"dir_cntrl{node}").memory_out_port
            if len(own) == 1:
                own[0].port = port
                continue
            crossbar = IOXBar(frontend_latency=0, forward_latency=0, response_latency=0, width=64)
            crossbar.cpu_side_ports = port
            for memory in own:
                memory.port = crossbar.mem_side_ports
            crossbars.append(crossbar)
        if crossbars:
            self.crossbars = crossbars

    def _caches(self, processors: Sequence[int]) -> list[RubyCache]:
        controllers = [getattr(self, f"l1_cntrl{i}") for i in processors]
        return [cache for c in controllers for cache in (c.L1Dcache, c.L1Icache, c.L2cache)]


def _interleave_bits(machine: Machine) -> int:
    """Bits above the line's that are the same for all lines of a directory."""
    return (machine.sockets - 1).bit_length() if machine.interleave == "line" else 0


def _cache(kib: int, ways: int, is_icache: bool = False) -> RubyCache:
    return RubyCache(size=f"{kib}KiB", assoc=ways, start_index_bit=_LINE_BITS, is_icache=is_icache)

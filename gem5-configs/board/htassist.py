# SPDX-License-Identifier: BSD-3-Clause
"""Caches and coherence by our own protocol, MOESI_htassist: an L3 on each socket, homes whose state is the probe filter.

For a gem5 that was built with gem5-configs/protocol (docs/reference/protocol.md).
"""

from collections.abc import Callable, Sequence

from m5.objects import (
    LRURP,
    AccessHistory,
    BaseRoutingUnit,
    Directory_Controller,
    DMA_Controller,
    DMASequencer,
    IOXBar,
    L1Cache_Controller,
    L3Cache_Controller,
    MessageBuffer,
    RubyCache,
    RubySequencer,
    RubySystem,
    SimObject,
    SrcClockDomain,
    System,
)

from board.machine_values import Machine
from board.nodes import address_ranges, memories
from board.protocol_machine import ProtocolLatencies, Sizes
from board.topology import HyperTransport

_LINE_BITS = 6
_OPEN_AT_A_HOME = 1024
"""Lines that a home or a node may have something open for; gem5 reserves nothing for them."""


class HTAssist(RubySystem):
    """Coherent memory for ``system``, whose memory this makes and connects.

    Args:
        system: gets ``ruby`` (this) and ``mem_ctrls``.
        machine: sockets, links, memory; its caches are passed over for ``caches``.
        cores: the machine's numbers of the processors, in order.
        caches: their sizes.
        timing: the protocol's latencies.
        sequencer: what connects the processor of an index to its caches.
        devices: what connects devices.
        routing: of a socket's router.
        tap: who counts; may be nobody.
        bursts: of each socket, what takes its cores' stores past the caches; none: they are stores like others.
    """

    def __init__(
        self,
        system: System,
        machine: Machine,
        cores: Sequence[int],
        caches: Sizes,
        timing: ProtocolLatencies,
        sequencer: Callable[[int, L1Cache_Controller], RubySequencer],
        devices: Sequence[DMASequencer],
        routing: Callable[[int], BaseRoutingUnit],
        tap: SimObject | None = None,
        bursts: Sequence[DMASequencer] = (),
    ) -> None:
        super().__init__()
        system.ruby = self
        if tap is not None:
            self.tap = tap
        self.clk_domain = SrcClockDomain(clock=f"{machine.clock_ghz}GHz", voltage_domain=system.voltage_domain)
        self.block_size_bytes = 1 << _LINE_BITS
        self.memory_size_bits = 48
        self.num_of_sequencers = len(cores)
        self.network = HyperTransport(self)
        self.number_of_virtual_networks = int(self.network.number_of_virtual_networks)
        self.cores = [self._core(i, machine.socket(core), caches, timing) for i, core in enumerate(cores)]
        for i, controller in enumerate(self.cores):
            controller.sequencer = sequencer(i, controller)
        self.nodes = [self._node(socket, caches, timing) for socket in range(machine.sockets)]
        self.homes = [self._home(socket, machine, caches, timing) for socket in range(machine.sockets)]
        connected = [self._device(i, device, i >= len(devices)) for i, device in enumerate((*devices, *bursts))]
        if connected:  # gem5 takes an empty list for a parameter
            self.devices = connected
        # The network numbers controllers in the order of gem5's machine types: L1Cache, L3Cache, Directory, DMA.
        placed = [(machine.socket(core), timing.to_core, controller) for core, controller in zip(cores, self.cores, strict=True)]
        placed += [(socket, 1, controller) for socket, controller in enumerate(self.nodes)]
        placed += [(socket, 1, controller) for socket, controller in enumerate(self.homes)]
        placed += [(max(0, i - len(devices)), 1, controller) for i, controller in enumerate(connected)]
        self.network.connect(machine, timing, placed, [routing(socket) for socket in range(machine.sockets)])
        self._connect_memory(system, machine, timing)

    def give_up_after(self, cycles: int) -> None:
        """Let a request that waits for longer than ``cycles`` end the simulation as a deadlock."""
        for controller in self.cores:
            controller.sequencer.deadlock_threshold = cycles

    def perturb(self, trial: int) -> None:
        """Make this the trial of that number; see CoreSequencer."""
        for controller in self.cores:
            controller.sequencer.trial = trial

    def fill_from(self, history: AccessHistory) -> None:
        """Let ``warmer``, which the board of a guest has, fill the caches with what ``history`` says."""
        self.warmer.history = history
        for controller in self.cores:
            controller.sequencer.history = history
            self.warmer.cores = controller.sequencer.in_ports

    def caches_of(self, i: int) -> list[RubyCache]:
        """Of the core of that index: L1 for data, L1 for instructions, L2."""
        controller = self.cores[i]
        return [controller.L1Dcache, controller.L1Icache, controller.L2cache]

    def _to_network(self, ordered: bool = False) -> MessageBuffer:
        return MessageBuffer(out_port=self.network.in_port, ordered=ordered)

    def _from_network(self, ordered: bool = False) -> MessageBuffer:
        return MessageBuffer(in_port=self.network.out_port, ordered=ordered)

    def _core(self, i: int, socket: int, caches: Sizes, timing: ProtocolLatencies) -> L1Cache_Controller:
        controller = L1Cache_Controller(
            version=i,
            cluster_id=socket,
            L1Icache=_cache(caches.l1i, caches.l1i_ways, is_icache=True),
            L1Dcache=_cache(caches.l1d, caches.l1d_ways),
            L2cache=_cache(caches.l2, caches.l2_ways),
            ruby_system=self,
            mandatory_queue_latency=timing.l1,
            l2_latency=timing.l2,
            transitions_per_cycle=32,
        )
        controller.requestFromCore = self._to_network()
        controller.reportFromCore = self._to_network(ordered=True)
        controller.probeToCore = self._from_network()
        controller.grantToCore = self._from_network()
        controller.mandatoryQueue = MessageBuffer()
        controller.lookupQueue = MessageBuffer()
        return controller

    def _node(self, socket: int, caches: Sizes, timing: ProtocolLatencies) -> L3Cache_Controller:
        controller = L3Cache_Controller(
            version=socket,
            cluster_id=socket,
            L3cache=_cache(caches.l3, caches.l3_ways),
            ruby_system=self,
            l3_latency=timing.l3,
            response_latency=timing.transfer,
            report_latency=timing.to_core,
            number_of_TBEs=_OPEN_AT_A_HOME,
        )
        controller.requestToNode = self._from_network()
        controller.requestFromNode = self._to_network()
        controller.probeToNode = self._from_network(ordered=True)
        controller.responseToNode = self._from_network()
        controller.responseFromNode = self._to_network()
        controller.reportToNode = self._from_network(ordered=True)
        controller.unblockFromNode = self._to_network(ordered=True)
        controller.probeFromNode = self._to_network()
        controller.grantFromNode = self._to_network()
        controller.overflowQueue = MessageBuffer()
        return controller

    def _home(self, socket: int, machine: Machine, caches: Sizes, timing: ProtocolLatencies) -> Directory_Controller:
        interleave = (machine.sockets - 1).bit_length() if machine.interleave == "line" else 0
        controller = Directory_Controller(
            version=socket,
            cluster_id=socket,
            # gem5 sizes the filter by the lines that it covers.
            probeFilter=_cache(caches.filter_entries << _LINE_BITS, caches.filter_ways, start_bit=_LINE_BITS + interleave),
            ruby_system=self,
            read_busy_cycles=timing.read_busy,
            probe_latency=timing.decision,
            addr_ranges=[place for home, place in address_ranges(machine) if home == socket],
            number_of_TBEs=_OPEN_AT_A_HOME,
        )
        controller.requestToHome = self._from_network()
        controller.probeFromHome = self._to_network(ordered=True)
        controller.responseToHome = self._from_network()
        controller.responseFromHome = self._to_network()
        controller.unblockToHome = self._from_network(ordered=True)
        controller.timerQueue = MessageBuffer()
        # In order: a write and a read of a line come to memory as the home decided.
        controller.requestToMemory = MessageBuffer(ordered=True)
        controller.responseFromMemory = MessageBuffer()
        return controller

    def _device(self, i: int, sequencer: DMASequencer, of_cores: bool) -> DMA_Controller:
        controller = DMA_Controller(version=i, dma_sequencer=sequencer, ruby_system=self, after_memory=of_cores)
        controller.requestFromDMA = self._to_network()
        controller.responseToDMA = self._from_network()
        controller.mandatoryQueue = MessageBuffer()
        return controller

    def _connect_memory(self, system: System, machine: Machine, timing: ProtocolLatencies) -> None:
        placed = memories(machine, latency_cycles=timing.memory)
        system.mem_ctrls = [memory for _, memory in placed]
        crossbars = []
        for socket, home in enumerate(self.homes):
            own = [memory for node, memory in placed if node == socket]
            if len(own) == 1:
                own[0].port = home.memory_out_port
                continue
            crossbar = IOXBar(frontend_latency=0, forward_latency=0, response_latency=0, width=64)
            crossbar.cpu_side_ports = home.memory_out_port
            for memory in own:
                memory.port = crossbar.mem_side_ports
            crossbars.append(crossbar)
        if crossbars:
            self.crossbars = crossbars


def _cache(size: int, ways: int, is_icache: bool = False, start_bit: int = _LINE_BITS) -> RubyCache:
    return RubyCache(size=f"{size}B", assoc=ways, start_index_bit=start_bit, is_icache=is_icache, replacement_policy=LRURP())

# SPDX-License-Identifier: BSD-3-Clause
"""Random tests of MOESI_htassist, with caches so small that lines leave them all the time.

    gem5.opt --outdir=FOLDER test_protocol.py random --sockets 2 --cores 6 --checks 100000 --seed 1
    gem5.opt --outdir=FOLDER test_protocol.py memory --sockets 2 --cores 6 --loads 100000 --seed 1 --devices 1
    gem5.opt --outdir=FOLDER test_protocol.py locks --sockets 2 --cores 6 --operations 100000 --seed 1 --devices 2

`random` is gem5's RubyTester: bytes are stored by one core and read by another. `memory` is gem5's MemTest: each core and device
has a byte of every line for its own, also by functional accesses. `locks` is ours (LockTester): cores add to counters by locked
instructions, through the sequencer that processors have, beside devices that write parts of the same lines. Messages are delayed
at random in all. Each ends gem5 with an error when a value is wrong or nothing goes on. How often each state met each event is in
FOLDER/stats.txt.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import m5
from _m5.core import seedRandom
from board.htassist import HTAssist
from board.machine_values import Machine
from board.protocol_machine import ProtocolLatencies, Sizes
from m5.objects import (
    AddrRange,
    CoreSequencer,
    DMASequencer,
    L1Cache_Controller,
    LockTester,
    MemTest,
    Root,
    RubyPortProxy,
    RubySequencer,
    RubyTester,
    SrcClockDomain,
    System,
    TesterSequencer,
    VoltageDomain,
    WeightBased,
)
from m5.util import fatal

_SMALL = Sizes(l1d=256, l1d_ways=2, l1i=256, l1i_ways=2, l2=512, l2_ways=2, l3=1024, l3_ways=2, filter_entries=16, filter_ways=2)
_TINY = Sizes(l1d=128, l1d_ways=1, l1i=128, l1i_ways=1, l2=128, l2_ways=1, l3=128, l3_ways=1, filter_entries=8, filter_ways=2)
_QUICK = ProtocolLatencies(l1=1, l2=3, to_core=1, l3=3, memory=20, decision=3, transfer=3, read_busy=8, link_out=5, link_back=5)
_SLOW = replace(_QUICK, l2=9, memory=600, read_busy=2)
"""Lines are lost while something is looked up, and while memory reads and writes them."""
_LATE = replace(_SLOW, memory=3000, read_busy=100)
"""Lines are also read again and again before memory has written them."""


@dataclass(frozen=True)
class Stress:
    """What testers run on, and what MemTest does there."""

    sizes: Sizes
    timing: ProtocolLatencies
    node_cycle: int = 1
    """Of the sockets' nodes, in the others' cycles. One that is longer sees one message only."""
    region: int = 0x2000
    """Bytes of each of MemTest's two regions: 128 lines, several times what the caches hold."""
    reads: int = 65
    """Percentage of MemTest's loads."""


_MACHINES = {
    "small": Stress(_SMALL, _QUICK),
    "tiny": Stress(_TINY, _SLOW),
    "late": Stress(_TINY, _LATE),
    # Messages queue at nodes, so that a line without a way in the L3 stays there while others are served.
    "queued": Stress(_TINY, _LATE, node_cycle=20, region=0x200, reads=75),
}
_NODE_MIB = 8
_DEADLOCK_CYCLES = 5_000_000
_COUNTERS = 24
"""Lines of LockTester: more than the caches of a core hold, few enough to be shared all the time."""


def machine(sockets: int, cores: int) -> Machine:
    """A ring of sockets; lines go round them, so that every home has some of a tester's few addresses."""
    if sockets < 1 or sockets & (sockets - 1):
        fatal("%s", f"Lines go round a power of two of sockets, not {sockets}.")
    ring = {(min(socket, (socket + 1) % sockets), max(socket, (socket + 1) % sockets)) for socket in range(sockets)}
    return Machine(
        name=f"test-{sockets}x{cores}",
        sockets=sockets,
        cores_per_socket=cores,
        clock_ghz=1.0,
        core="in-order",
        caches_from="mark",
        l1d_kib=0,
        l1d_ways=0,
        l1i_kib=0,
        l1i_ways=0,
        l1_cycles=0,
        atomic_cycles=0,
        pause_cycles=1,
        l2_kib=0,
        l2_ways=0,
        l2_cycles=0,
        l3_kib=0,
        l3_ways=0,
        l3_cycles=0,
        probe_filter_kib=0,
        probe_filter_sets=0,
        probe_filter_ways=0,
        dram_local_cycles=0,
        hop_cycles=0,
        transfer_cycles=0,
        read_busy_cycles=0,
        node_distances=(10,) * sockets**2,
        links=tuple(sorted(link for link in ring if link[0] != link[1])),
        link_gbytes_per_second=16.0,
        dram_gbytes_per_second=64.0,
        node_mib=_NODE_MIB,
        interleave="line",
        tlb_entries=0,
        disk_latency_us=0,
        sample_period_cycles=0,
        chain_period_transfers=0,
    )


def system(options: argparse.Namespace, testers: Any) -> System:
    """A system of testers instead of processors, without its memory."""
    made = System(cpu=testers, mem_mode="timing", cache_line_size=64)
    made.voltage_domain = VoltageDomain()
    made.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=made.voltage_domain)
    made.mem_ranges = [AddrRange(0, size=options.sockets * _NODE_MIB << 20)]
    return made


def attach(
    options: argparse.Namespace,
    made: System,
    sequencer: Callable[[int, L1Cache_Controller], RubySequencer],
    devices: list[DMASequencer],
) -> HTAssist:
    shape = machine(options.sockets, options.cores)
    stress = _MACHINES[options.machine]
    ruby = HTAssist(made, shape, range(shape.cores), stress.sizes, stress.timing, sequencer, devices, lambda _: WeightBased())
    ruby.randomization = True
    if stress.node_cycle > 1:
        slower = SrcClockDomain(clock=f"{1000 / stress.node_cycle}MHz", voltage_domain=made.voltage_domain)
        for node in ruby.nodes:
            node.clk_domain = slower
            node.transitions_per_cycle = 1
    made.sys_port_proxy = RubyPortProxy(ruby_system=ruby)
    made.system_port = made.sys_port_proxy.in_ports
    return ruby


def random_test(options: argparse.Namespace) -> System:
    tester = RubyTester(
        num_cpus=options.sockets * options.cores,
        checks_to_complete=options.checks,
        wakeup_frequency=10,
        deadlock_threshold=_DEADLOCK_CYCLES,
    )
    made = system(options, tester)

    def sequencer(i: int, controller: L1Cache_Controller) -> RubySequencer:
        one = TesterSequencer(
            version=i,
            dcache=controller.L1Dcache,
            ruby_system=made.ruby,
            using_ruby_tester=True,
            no_retry_on_stall=True,
            deadlock_threshold=_DEADLOCK_CYCLES,
        )
        tester.cpuInstDataPort = one.in_ports
        return one

    attach(options, made, sequencer, [])
    return made


def memory_test(options: argparse.Namespace) -> System:
    testers = options.sockets * options.cores + options.devices
    if testers > 63:
        fatal("%s", f"Each tester has a byte of a line, so there are 63 at most, not {testers}.")
    made = system(options, [_memory_tester(options, functional=i < testers - options.devices) for i in range(testers)])

    def sequencer(i: int, controller: L1Cache_Controller) -> RubySequencer:
        one = RubySequencer(version=i, dcache=controller.L1Dcache, ruby_system=made.ruby, deadlock_threshold=_DEADLOCK_CYCLES)
        made.cpu[i].port = one.in_ports
        return one

    devices = []
    for i in range(options.devices):
        device = DMASequencer(version=i)
        made.cpu[testers - options.devices + i].port = device.in_ports
        devices.append(device)
    ruby = attach(options, made, sequencer, devices)
    for device in devices:
        device.ruby_system = ruby
    return made


def _memory_tester(options: argparse.Namespace, functional: bool) -> MemTest:
    """A core, which makes functional accesses too, or a device."""
    stress = _MACHINES[options.machine]
    return MemTest(
        max_loads=options.loads if functional else 0,  # devices go on as long as cores do
        size=stress.region,
        base_addr_1=0,
        base_addr_2=2 * stress.region,
        percent_reads=stress.reads,
        percent_uncacheable=0,
        percent_functional=options.functional if functional else 0,
        suppress_func_errors=True,
        progress_check=_DEADLOCK_CYCLES,
    )


def lock_test(options: argparse.Namespace) -> System:
    tester = LockTester(
        counters=_COUNTERS, operations=options.operations, seed=options.seed, patience=_DEADLOCK_CYCLES, fault=options.fault
    )
    made = system(options, tester)

    def sequencer(i: int, controller: L1Cache_Controller) -> RubySequencer:
        one = CoreSequencer(
            core=i,
            version=i,
            dcache=controller.L1Dcache,
            icache=controller.L1Icache,
            l2cache=controller.L2cache,
            ruby_system=made.ruby,
            data_latency=2,
            unlock_latency=4,
            trial=options.seed,
            deadlock_threshold=_DEADLOCK_CYCLES,
        )
        tester.cores = one.in_ports
        return one

    devices = []
    for i in range(options.devices):
        device = DMASequencer(version=i)
        tester.devices = device.in_ports
        devices.append(device)
    ruby = attach(options, made, sequencer, devices)
    for device in devices:
        device.ruby_system = ruby
    return made


_TESTS = {"random": random_test, "memory": memory_test, "locks": lock_test}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("test", choices=tuple(_TESTS))
    parser.add_argument("--sockets", type=int, default=2)
    parser.add_argument("--cores", type=int, default=2, help="of each socket")
    parser.add_argument("--machine", choices=tuple(_MACHINES), default="small", help="caches, latencies, lines (%(default)s)")
    parser.add_argument("--checks", type=int, default=10_000, help="random: checks to complete")
    parser.add_argument("--loads", type=int, default=10_000, help="memory: loads of the first tester that completes them")
    parser.add_argument("--functional", type=int, default=10, help="memory: percentage of functional accesses")
    parser.add_argument("--devices", type=int, default=0, help="memory, locks: devices that read and write")
    parser.add_argument("--operations", type=int, default=10_000, help="locks: of each core")
    parser.add_argument("--fault", default="", help="locks: unlocked or whole-line, a fault of the traffic that is to be found")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seedRandom(options.seed)
    made = _TESTS[options.test](options)
    root = Root(full_system=False, system=made)
    # A tick is a cycle, so that random delays, which gem5 counts in ticks, are longer than a cycle.
    m5.ticks.setGlobalFrequency("1ns")
    m5.instantiate()
    event = m5.simulate()
    m5.stats.dump()
    print(f"{options.test} {root.system.ruby.path()}: {event.getCause()} at tick {m5.curTick()}", flush=True)


main()

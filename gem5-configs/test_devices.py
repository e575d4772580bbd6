# SPDX-License-Identifier: BSD-3-Clause
"""gem5's MemTest with devices, on a protocol that gem5's own scripts set up, such as MOESI_hammer.

    gem5.opt --outdir=FOLDER test_devices.py --source GEM5_SOURCE --cores 4 --devices 0
    gem5.opt --outdir=FOLDER test_devices.py --source GEM5_SOURCE --cores 4 --devices 1 --seed 1

Each device and core has a byte of every line for its own, in this order, and must read what it wrote last. Caches are so small
that lines leave them all the time. A device writes its byte by DMA, which is a part of a line; the byte of the first device is
where a line begins. Where the protocol loses the other bytes, a core reads what it did not write last, and gem5 ends with an
error.

For MOESI_htassist, test_protocol.py does this and more.
"""

import argparse
import importlib
import sys
from pathlib import Path

import m5
from _m5.core import seedRandom
from m5.objects import AddrRange, MemTest, Root, SrcClockDomain, System, VoltageDomain
from m5.util import fatal

_CACHES = {
    "l1d_size": "256B",
    "l1i_size": "256B",
    "l2_size": "512B",
    "l3_size": "1kB",
    "l1d_assoc": 2,
    "l1i_assoc": 2,
    "l2_assoc": 2,
    "l3_assoc": 2,
}
_REGION = 0x2000
"""Bytes of each of MemTest's two regions: 128 lines, several times what the caches of a core hold."""
_DEADLOCK_CYCLES = 5_000_000


def tester(loads: int) -> MemTest:
    """One that ends the test after ``loads`` of its own; 0: never."""
    return MemTest(
        max_loads=loads,
        size=_REGION,
        base_addr_1=0,
        base_addr_2=2 * _REGION,
        percent_uncacheable=0,
        percent_functional=0,
        progress_check=_DEADLOCK_CYCLES,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="gem5's source folder, for its configs")
    parser.add_argument("--cores", type=int, default=4)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--loads", type=int, default=10_000, help="of the first core that completes them")
    parser.add_argument("--seed", type=int, default=1)
    own, others = parser.parse_known_args()
    sys.path.insert(0, str(own.source / "configs"))
    try:
        of_gem5 = importlib.import_module("common.Options")
        ruby = importlib.import_module("ruby.Ruby")
    except ImportError as missing:
        fatal("%s", f"{own.source} has no configs of gem5 ({missing}): name its source folder with --source.")
    if own.cores + own.devices > 64:
        fatal("%s", f"Each tester has a byte of a line, so there are 64 at most, not {own.cores + own.devices}.")
    gem5s = argparse.ArgumentParser()
    of_gem5.addNoISAOptions(gem5s)
    ruby.define_options(gem5s)
    options = gem5s.parse_args([f"--num-cpus={own.cores}", "--mem-size=16MiB", *others])
    for name, value in _CACHES.items():
        setattr(options, name, value)
    seedRandom(own.seed)

    cores = [tester(own.loads) for _ in range(own.cores)]
    system = System(cpu=cores, mem_mode="timing", mem_ranges=[AddrRange(options.mem_size)])
    system.voltage_domain = VoltageDomain()
    system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=system.voltage_domain)
    devices = [tester(0) for _ in range(own.devices)]  # they go on as long as cores do
    if devices:
        system.adapters = devices  # gem5 makes objects in the order of their names, and testers take bytes in that order
    ruby.create_system(options, False, system, dma_ports=[device.port for device in devices])
    system.ruby.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=system.voltage_domain)
    system.ruby.randomization = True
    for core, sequencer in zip(cores, system.ruby._cpu_ports, strict=True):
        core.port = sequencer.in_ports
        sequencer.deadlock_threshold = _DEADLOCK_CYCLES

    Root(full_system=False, system=system)
    m5.ticks.setGlobalFrequency("1ns")
    m5.instantiate()
    event = m5.simulate()
    print(f"{own.cores} cores, {own.devices} devices: {event.getCause()} at tick {m5.curTick()}", flush=True)


main()

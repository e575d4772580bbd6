# SPDX-License-Identifier: BSD-3-Clause
"""The processors: CPU models, and what CPUID says on each of them."""

from m5.objects import AccessHistory, BaseCPU, CachingDecoder, DirectCPU, X86NonCachingSimpleCPU, X86TimingSimpleCPU

# The vendor stays gem5's default, one that 2.6.35 does not know: as an AMD it would read model-specific registers that gem5
# does not have, and panic.
_VENDOR = "HygonGenuine"
_FAMILY = 0x20F51
_FEATURES_EDX, _FEATURES_ECX = 0xEFDBFBFF, 0x209
_MONITOR = 1 << 3
"""gem5 forgets stores between MONITOR and MWAIT, so the feature is not offered."""
_EXTENDED_EDX, _EXTENDED_ECX = 0xEBD3FBFF, 0x20001


def boot_processors(count: int) -> list[BaseCPU]:
    """Processors that execute as fast as gem5 can, without caches.

    Data accesses take the time of the boot memory: kernels wait for times (a tenth of a second to calibrate the APIC's timer),
    and at one instruction a cycle each such wait would be hundreds of millions of instructions.
    """
    return [described(X86NonCachingSimpleCPU(cpu_id=i, simulate_data_stalls=True), i) for i in range(count)]


def prompt_processors(count: int, history: AccessHistory | None = None) -> list[BaseCPU]:
    """Processors with one cycle for each instruction that wait to take over from others, see `m5.switchCpus`.

    When all processors of a guest have started, time is what costs instructions: that of the clock's ticks, on each processor.

    Args:
        history: where their accesses go.
    """
    recorded = {} if history is None else {"history": history}
    processors = [DirectCPU(cpu_id=i, core=i, switched_out=True, **recorded) for i in range(count)]
    return [described(cpu, i, interrupts=False) for i, cpu in enumerate(processors)]


def timing_processors(count: int, tlb_entries: int) -> list[BaseCPU]:
    """In-order processors: one cycle for each instruction, and what its fetch and its accesses wait for.

    Args:
        tlb_entries: of each of a processor's two TLBs; no fewer than the 64 (gem5's default) of a processor that boots, whose
            TLBs are restored with it. The harness makes no machine file for gem5 with fewer.
    """
    processors = [described(X86TimingSimpleCPU(cpu_id=i), i) for i in range(count)]
    for cpu in processors:
        cpu.mmu.itb.size = cpu.mmu.dtb.size = tlb_entries
    return processors


def described(cpu: BaseCPU, apic: int, *, interrupts: bool = True) -> BaseCPU:
    """The processor with what the guest sees of it; ``apic`` is its APIC's identifier, which it has with ``interrupts``."""
    cpu.createThreads()
    cpu.decoder = [CachingDecoder(isa=isa) for isa in cpu.isa]
    if interrupts:
        cpu.createInterruptController()
    isa = cpu.isa[0]
    isa.vendor_string = _VENDOR
    # Leaf 1, EBX: APIC id; 8 quadwords for CLFLUSH.
    isa.FamilyModelStepping = [_FAMILY, apic << 24 | 0x805, _FEATURES_EDX, _FEATURES_ECX & ~_MONITOR]
    isa.FamilyModelSteppingBrandFeatures = [_FAMILY, 0x405, _EXTENDED_EDX, _EXTENDED_ECX]
    isa.APMInfo = [0, 0, 0, 0]
    return cpu

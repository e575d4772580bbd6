# SPDX-License-Identifier: BSD-3-Clause
"""The out-of-order processors: gem5's O3CPU as an Opteron of AMD's family 10h.

Widths, queues and latencies are of the *Software Optimization Guide for AMD Family 10h Processors* (publication 40546) and, where
that is as before, of the one *for AMD64 Processors* (publication 25112, appendix A). What differs: gem5 counts micro-operations,
of which an instruction that works on memory has two or more, and the Opteron macro-operations, which hold both; its stores reach
the cache one after the other, each when the one before it is done.
"""

from collections.abc import Mapping

from m5.objects import (
    X86O3CPU,
    BaseCPU,
    FUDesc,
    FUPool,
    OpDesc,
    ReturnAddrStack,
    SimpleBTB,
    SimpleIndirectPredictor,
    TournamentBP,
)

from board.processors import described

_WIDTH = 3
"""Macro-operations that are fetched, decoded and retired in a cycle."""
_IN_FLIGHT = 72
"""Entries of the reorder buffer: 24 lines of three."""
_INTEGER_SCHEDULER = 24
_FLOAT_SCHEDULER = 36
_QUEUE = 44
"""Entries of the load/store unit: 12 that go to the L1 and 32 that wait for it, or to be written."""
_PORTS = 2
"""Accesses to the L1 in a cycle."""
_FETCH_BYTES = 32
_FRONT_DELAY = 4
"""Cycles from a stage to the next one, so that a mispredicted branch costs the 12 cycles of family 10h in all."""


def out_of_order_processors(count: int, tlb_entries: int) -> list[BaseCPU]:
    """Processors that work ahead; see `board.processors.timing_processors` for the arguments."""
    return [described(_processor(i, tlb_entries), i) for i in range(count)]


def _processor(i: int, tlb_entries: int) -> X86O3CPU:
    cpu = X86O3CPU(
        cpu_id=i,
        fetchWidth=_WIDTH,
        fetchBufferSize=_FETCH_BYTES,
        decodeWidth=_WIDTH,
        renameWidth=_WIDTH,
        dispatchWidth=_WIDTH,
        commitWidth=_WIDTH,
        squashWidth=_IN_FLIGHT,
        # Three ALUs, three address units, three floating-point pipes.
        issueWidth=9,
        wbWidth=9,
        fetchToDecodeDelay=_FRONT_DELAY,
        numROBEntries=_IN_FLIGHT,
        numIQEntries=_INTEGER_SCHEDULER + _FLOAT_SCHEDULER,
        # gem5 has a queue of each kind; the unit of the Opteron is one for both.
        LQEntries=_QUEUE // 2,
        SQEntries=_QUEUE // 2,
        cacheLoadPorts=_PORTS,
        cacheStorePorts=_PORTS,
        fuPool=_units(),
        branchPred=TournamentBP(
            numThreads=1,
            globalPredictorSize=16384,
            choicePredictorSize=16384,
            instShiftAmt=0,
            btb=SimpleBTB(numThreads=1, numEntries=2048, instShiftAmt=0),
            ras=ReturnAddrStack(numThreads=1, numEntries=24),
            indirectBranchPred=SimpleIndirectPredictor(numThreads=1, indirectSets=256, indirectWays=2, instShiftAmt=0),
        ),
    )
    cpu.mmu.itb.size = cpu.mmu.dtb.size = tlb_entries
    return cpu


def _units() -> FUPool:
    """Functional units with the latencies of their operations."""
    memory = ("MemRead", "MemWrite", "FloatMemRead", "FloatMemWrite")
    vector = ("Add", "AddAcc", "Alu", "Cmp", "Cvt", "Misc", "Shift", "ShiftAcc", "Ext")
    vector_float = ("FloatAdd", "FloatAlu", "FloatCmp", "FloatCvt", "FloatMisc")
    multiply = {"FloatMult": 4, "FloatMultAcc": 8, "SimdMult": 3, "SimdMultAcc": 3, "SimdFloatMult": 4, "SimdFloatMultAcc": 8}
    divide = {"FloatDiv": 20, "FloatSqrt": 27, "SimdDiv": 23, "SimdSqrt": 27, "SimdFloatDiv": 20, "SimdFloatSqrt": 27}
    units = [
        _unit(3, {"IntAlu": 1}),
        # gem5 divides in a loop of micro-operations, one after the other, each of which makes some bits of the quotient.
        _unit(1, {"IntMult": 3}, {"IntDiv": 1}),
        _unit(_PORTS, dict.fromkeys(memory, 1)),
        _unit(1, {"FloatAdd": 4, "FloatCmp": 4, "FloatCvt": 4} | {f"Simd{name}": 4 for name in vector_float}),
        _unit(1, multiply, divide),
        _unit(1, {"FloatMisc": 2}),
        _unit(2, {f"Simd{name}": 2 for name in vector}),
        _unit(1, {}, {"IprAccess": 3}),
    ]
    return FUPool(FUList=units)


def _unit(count: int, pipelined: Mapping[str, int], alone: Mapping[str, int] | None = None) -> FUDesc:
    """``count`` units for operations of these cycles; one of those that are done ``alone`` keeps its unit until its end."""
    made = [OpDesc(opClass=name, opLat=cycles) for name, cycles in pipelined.items()]
    made += [OpDesc(opClass=name, opLat=cycles, pipelined=False) for name, cycles in (alone or {}).items()]
    return FUDesc(opList=made, count=count)

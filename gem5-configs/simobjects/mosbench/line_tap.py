# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.ClockedObject import ClockedObject
from m5.params import *
from m5.proxy import *
from m5.SimObject import PyBindMethod


class LineTap(ClockedObject):
    """Counts coherence events per line, instruction, core and pair of sockets between begin() and end()."""

    type = "LineTap"
    cxx_class = "gem5::ruby::LineTap"
    cxx_header = "mosbench/line_tap.hh"
    cxx_exports = [
        PyBindMethod("begin"),
        PyBindMethod("end"),
        PyBindMethod("followFrom"),
        PyBindMethod("totals"),
        PyBindMethod("coreTotals"),
        PyBindMethod("write"),
        PyBindMethod("linkMessages"),
    ]

    machine = Param.String("name of the machine, for the records file")
    sockets = Param.Unsigned("number of sockets")
    cores_per_socket = Param.Unsigned("cores on each socket; core c is on socket c / cores_per_socket")
    cpus = VectorParam.BaseCPU("the cores, in order")
    core_numbers = VectorParam.Unsigned("the machine's number of each of `cpus`, which need not be all of them")
    idle_sockets = VectorParam.Unsigned([], "the sockets of the cache controllers that come after those of `cpus`")
    devices = Param.Unsigned(
        1 << 16, "the DMA controllers of devices; those after them are the sockets', for their cores' bursts"
    )
    home_ranges = VectorParam.AddrRange("ranges of memory")
    home_nodes = VectorParam.Unsigned("the node of each of `home_ranges`")
    completion_offset = Param.Int64(
        "cycles from the end of a miss to the message by which the tap sees it, plus an L1 hit; below 0 where it is seen before"
    )
    l2_cycles = Param.Cycles("what an L2 hit costs beyond an L1 hit")
    sample_period = Param.Cycles("busy cycles between two samples of the program counter; 0: none")
    chain_period = Param.Unsigned("transfers and upgrades by an instruction between two looks at who called it; 0: none")
    kernel = Param.String("vmlinux, whose call frame information tells who called")
    shared_caches = VectorParam.RubyCache([], "what may hold newer data than memory, beside the caches of the cores")

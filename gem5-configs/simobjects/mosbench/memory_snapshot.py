# SPDX-License-Identifier: BSD-3-Clause
from m5.params import *
from m5.proxy import *
from m5.SimObject import PyBindMethod, SimObject


class MemorySnapshot(SimObject):
    """The guest's physical memory with what the caches hold of it: written as an ELF core file, or given back to memory."""

    type = "MemorySnapshot"
    cxx_class = "gem5::ruby::MemorySnapshot"
    cxx_header = "mosbench/memory_snapshot.hh"
    cxx_exports = [PyBindMethod("write"), PyBindMethod("writeBack"), PyBindMethod("readBack")]

    system = Param.System(Parent.any, "whose memory")
    caches = VectorParam.RubyCache([], "all caches that may hold a newer line than memory")

# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.SimpleMemory import SimpleMemory
from m5.params import *
from m5.proxy import *
from m5.SimObject import PyBindMethod


class ReferenceMemory(SimpleMemory):
    """The guest's memory as its cores and devices have it at each moment, lines on their way too: what a debugger looks at."""

    type = "ReferenceMemory"
    cxx_class = "gem5::ReferenceMemory"
    cxx_header = "mosbench/reference_memory.hh"
    cxx_exports = [PyBindMethod("part")]

    system = Param.System(Parent.any, "whose memory")
    in_addr_map = False
    conf_table_reported = False

# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.BaseNonCachingSimpleCPU import BaseNonCachingSimpleCPU
from m5.objects.X86CPU import X86CPU
from m5.objects.X86MMU import X86MMU
from m5.params import *


class DirectCPU(BaseNonCachingSimpleCPU, X86CPU):
    """A processor without caches that reads and writes memory itself. Its accesses go into a history, if it has one."""

    type = "DirectCPU"
    cxx_class = "gem5::DirectCPU"
    cxx_header = "mosbench/direct_cpu.hh"

    mmu = X86MMU()
    history = Param.AccessHistory(NULL, "what it tells")
    core = Param.Unsigned(0, "which of the history's cores it is")

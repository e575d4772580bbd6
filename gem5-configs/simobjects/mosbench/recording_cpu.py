# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.BaseNonCachingSimpleCPU import BaseNonCachingSimpleCPU
from m5.objects.X86CPU import X86CPU
from m5.objects.X86MMU import X86MMU
from m5.params import *


class RecordingCPU(BaseNonCachingSimpleCPU, X86CPU):
    """A processor without caches whose accesses go into a history."""

    type = "RecordingCPU"
    cxx_class = "gem5::RecordingCPU"
    cxx_header = "mosbench/recording_cpu.hh"

    mmu = X86MMU()
    history = Param.AccessHistory("what it tells")
    core = Param.Unsigned("which of the history's cores it is")

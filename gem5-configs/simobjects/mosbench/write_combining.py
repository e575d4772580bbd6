# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.ClockedObject import ClockedObject
from m5.params import *
from m5.proxy import *


class WriteCombining(ClockedObject):
    """A core's buffers for stores that go past the caches (MOVNTI and its like)."""

    type = "WriteCombining"
    cxx_class = "gem5::WriteCombining"
    cxx_header = "mosbench/write_combining.hh"

    port = RequestPort("to the DMA sequencer that takes its bursts")
    system = Param.System(Parent.any, "whose memory is written")
    buffers = Param.Unsigned(4, "lines that are collected or under way at a time")

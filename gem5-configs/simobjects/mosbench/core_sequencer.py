# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.Sequencer import RubySequencer
from m5.params import *


class CoreSequencer(RubySequencer):
    """A sequencer that answers hits of the first level itself, and tells the tap who makes the other accesses."""

    type = "CoreSequencer"
    cxx_class = "gem5::ruby::CoreSequencer"
    cxx_header = "mosbench/core_sequencer.hh"

    tap = Param.LineTap(NULL, "who counts; may be nobody")
    history = Param.AccessHistory(NULL, "who counts instructions of programs that execute in order; may be nobody")
    combining = Param.WriteCombining(NULL, "takes stores that go past the caches; where there is none they are as others")
    core = Param.Unsigned("index of the core among the tap's CPUs")
    icache = Param.RubyCache("instruction cache")
    l2cache = Param.RubyCache("second-level cache")
    data_latency = Param.Cycles("of an access that hits the first level, without its instruction's fetch, which is a cycle")
    unlock_latency = Param.Cycles("of a locked instruction that hits the first level, beyond an access")
    works_ahead = Param.Bool(False, "the core has several accesses under way; those to one line are served in their order")
    trial = Param.Unsigned(1, "1: as it is; each other one takes a few cycles more for each miss, another number of them")

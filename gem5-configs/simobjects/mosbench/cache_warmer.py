# SPDX-License-Identifier: BSD-3-Clause
from m5.params import *
from m5.proxy import *
from m5.SimObject import PyBindMethod, SimObject


class CacheWarmer(SimObject):
    """Lets messages arrive, and fills caches with what a history says, while the rest of the machine stands still."""

    type = "CacheWarmer"
    cxx_class = "gem5::ruby::CacheWarmer"
    cxx_header = "mosbench/cache_warmer.hh"
    cxx_exports = [PyBindMethod("settle"), PyBindMethod("replay"), PyBindMethod("stoodStill")]

    system = Param.System(Parent.any, "whose caches")
    history = Param.AccessHistory(NULL, "what was accessed; there may be none")
    sockets = VectorParam.Unsigned([], "the socket of each core of the history")
    lines = Param.UInt64(0, "lines that the caches of a socket can hold together")
    clock_period = Param.Tick("of the cores; what is put off is put off by whole cycles")
    cores = VectorRequestPort("to the sequencer of each core of the history")

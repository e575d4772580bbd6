# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.ClockedObject import ClockedObject
from m5.params import *
from m5.proxy import *


class LockTester(ClockedObject):
    """Cores that add to shared counters by locked instructions, beside devices that write parts of the same lines."""

    type = "LockTester"
    cxx_class = "gem5::ruby::LockTester"
    cxx_header = "mosbench/lock_tester.hh"

    system = Param.System(Parent.any, "for the numbers of who asks")
    cores = VectorRequestPort("a port for each core")
    devices = VectorRequestPort("a port for each device")
    counters = Param.Unsigned(16, "shared lines, one counter each")
    stride = Param.Addr(64, "bytes from a line to the next")
    operations = Param.Unsigned("of each core")
    seed = Param.Unsigned(1, "what is done, and when, follows from it")
    patience = Param.Cycles(5_000_000, "an access that takes longer is lost")
    fault = Param.String("", "to be seen: unlocked (adds without a lock) or whole-line (devices write old bytes too)")

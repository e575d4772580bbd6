# SPDX-License-Identifier: BSD-3-Clause
from m5.params import *
from m5.SimObject import PyBindMethod, SimObject


class AccessHistory(SimObject):
    """The last accesses of each core to each line, and the instructions of programs that were executed."""

    type = "AccessHistory"
    cxx_class = "gem5::AccessHistory"
    cxx_header = "mosbench/access_history.hh"
    cxx_exports = [PyBindMethod("stopAt"), PyBindMethod("userInstructions")]

    cores = Param.Unsigned("number of cores")
    counts_only = Param.Bool(False, "only count instructions of programs")

# SPDX-License-Identifier: BSD-3-Clause
from m5.objects.Sequencer import RubySequencer


class TesterSequencer(RubySequencer):
    """A sequencer for RubyTester, which does not answer a read with the data of another one that began before it."""

    type = "TesterSequencer"
    cxx_class = "gem5::ruby::TesterSequencer"
    cxx_header = "mosbench/tester_sequencer.hh"

// SPDX-License-Identifier: BSD-3-Clause
//
// What stands between gem5's RubyTester and the caches. gem5's sequencer answers a read with the data of another one of the line
// that is under way. Where an invalidation overtakes these, they are older than the second read; a processor that reads out of
// order is told that the line is lost, and reads again. The tester is no processor: its second read is refused, and comes later.
#ifndef MOSBENCH_TESTER_SEQUENCER_HH
#define MOSBENCH_TESTER_SEQUENCER_HH

#include "mosbench/gem5_api.hh"

namespace gem5::ruby {

class TesterSequencer : public Sequencer {
  public:
    PARAMS(TesterSequencer);
    explicit TesterSequencer(const Params &p);
    RequestStatus makeRequest(PacketPtr packet) override;
};

} // namespace gem5::ruby

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// A core's way into Ruby. What hits the first level with the right to do so is answered here, without a message to the cache
// controller: most accesses do, and each would cost the host several events. A fetch takes a cycle, as in a processor whose
// front end is pipelined; each access of an instruction the L1's latency, of which the fetch is a part.
#ifndef MOSBENCH_CORE_SEQUENCER_HH
#define MOSBENCH_CORE_SEQUENCER_HH

#include <vector>

#include "mosbench/gem5_api.hh"
#include "mosbench/line_tap.hh"

namespace gem5::ruby {

class CoreSequencer : public Sequencer {
  public:
    PARAMS(CoreSequencer);
    explicit CoreSequencer(const Params &p);

    RequestStatus makeRequest(PacketPtr packet) override;
    int outstandingCount() const override { return Sequencer::outstandingCount() + static_cast<int>(answers_.size()); }

  protected:
    RequestStatus insertRequest(PacketPtr packet, RubyRequestType primary, RubyRequestType secondary) override;

  private:
    struct Answer {
        Tick when;
        PacketPtr packet;
    };

    // Whether the packet was served from the first level.
    bool hit(PacketPtr packet);
    Cycles fetchLatency(const Request &request);
    Cycles dataLatency();
    void answerAt(Tick when, PacketPtr packet);
    void answer();
    void answerFetch(PacketPtr packet);

    LineTap *const tap_;
    const unsigned core_;
    CacheMemory &data_, &instructions_;
    const Cycles data_latency_, unlock_latency_;
    Addr last_pc_ = 0, last_fetch_ = 0;
    bool fetched_ = false;        // nothing was accessed since the last fetch
    std::vector<Answer> answers_; // a fetch, an access that may be split in two, page walks
    EventFunctionWrapper answer_event_;
};

} // namespace gem5::ruby

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// A core's way into Ruby. What hits the first level with the right to do so is answered here, without a message to the cache
// controller: most accesses do, and each would cost the host several events. A fetch takes a cycle, as in a processor whose
// front end is pipelined; each access of an instruction the L1's latency, of which the fetch is a part.
//
// Trials from the second on take up to four cycles more for each miss, as on the fast engine and for the same reason: one run of
// a contended program tells who happened to meet whom (fast-engine/model/perturbation.h).
#ifndef MOSBENCH_CORE_SEQUENCER_HH
#define MOSBENCH_CORE_SEQUENCER_HH

#include <optional>
#include <random>
#include <vector>

#include "mosbench/access_history.hh"
#include "mosbench/fetched_instructions.hh"
#include "mosbench/gem5_api.hh"
#include "mosbench/line_tap.hh"
#include "mosbench/write_combining.hh"

namespace gem5::ruby {

class CoreSequencer : public Sequencer {
  public:
    PARAMS(CoreSequencer);
    explicit CoreSequencer(const Params &p);

    RequestStatus makeRequest(PacketPtr packet) override;
    int outstandingCount() const override
    {
        return Sequencer::outstandingCount() + static_cast<int>(answers_.size() + late_.size() + held_.size());
    }

  protected:
    RequestStatus insertRequest(PacketPtr packet, RubyRequestType primary, RubyRequestType secondary) override;

  private:
    // A packet and when it goes on: to the processor, or to the caches.
    struct Timed {
        Tick when;
        PacketPtr packet;
    };
    using Packets = std::vector<Timed>;

    RequestStatus issue(PacketPtr packet);
    // Whether the packet was taken by the core's write-combining buffers, or waits for them.
    bool combined(PacketPtr packet);
    void goOnHeld();
    const Timed *delayed(Addr line) const;
    // Whether the packet was served from the first level.
    bool hit(PacketPtr packet);
    Cycles fetchLatency(const Request &request);
    Cycles dataLatency();
    void answerAt(Tick when, PacketPtr packet) { add(answers_, answer_event_, when, packet); }
    void answer();
    void goOn();
    void add(Packets &waiting, Event &event, Tick when, PacketPtr packet);
    static Packets takeDue(Packets &waiting);
    void scheduleNext(const Packets &waiting, Event &event);
    void answerFetch(PacketPtr packet);

    // A packet that waits for the write-combining buffers, and since when.
    struct Held {
        PacketPtr packet;
        Cycles since;
    };

    LineTap *const tap_;
    WriteCombining *const combining_; // null: stores past the caches are as others
    const unsigned core_;
    CacheMemory &data_, &instructions_;
    const Cycles data_latency_, unlock_latency_;
    const bool works_ahead_;
    AccessHistory *const history_; // that counts what programs execute; null: none does
    FetchedInstructions of_hits_, of_all_;
    bool fetched_ = false; // nothing was accessed since the last fetch
    Packets answers_;      // a fetch, an access that may be split in two, page walks
    EventFunctionWrapper answer_event_;
    const bool perturbed_;
    std::mt19937_64 random_;
    Packets late_; // misses of a perturbed trial
    std::vector<Held> held_;
    std::optional<Cycles> held_since_; // of the one that goes on
    EventFunctionWrapper late_event_;
};

} // namespace gem5::ruby

#endif

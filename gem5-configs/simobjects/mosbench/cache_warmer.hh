// SPDX-License-Identifier: BSD-3-Clause
//
// What goes on in caches and memory while the rest of the machine stands still, and for the guest no time passes.
//
// Between processors that use caches and processors that do not, what is still on its way gets to where it goes. And caches that
// the latter have passed by are filled before the former take over again: what was done without them is done again, through the
// sequencers and by the protocol itself.
#ifndef MOSBENCH_CACHE_WARMER_HH
#define MOSBENCH_CACHE_WARMER_HH

#include <memory>
#include <string>
#include <vector>

#include "mosbench/access_history.hh"
#include "mosbench/gem5_api.hh"

namespace gem5::ruby {

class CacheWarmer : public SimObject {
  public:
    PARAMS(CacheWarmer);
    explicit CacheWarmer(const Params &p);
    Port &getPort(const std::string &name, PortID index) override;

    // Lets messages arrive that are on their way. gem5 must be drained.
    void settle();
    // Makes the accesses of the history; returns how many. gem5 must be drained, and what the caches hold be as in memory.
    uint64_t replay();
    // Ticks for which the rest of the machine has stood still so far.
    uint64_t stoodStill() const { return stood_still_; }

  private:
    class Core : public RequestPort {
      public:
        Core(CacheWarmer &warmer, const std::string &name) : RequestPort(name), warmer_(warmer) {}

      protected:
        bool recvTimingResp(PacketPtr packet) override;
        void recvReqRetry() override { warmer_.next(); }

      private:
        CacheWarmer &warmer_;
    };

    // Runs what goes on in caches and memory until nothing does.
    void alone();
    bool ofMemory(const Event &event) const;
    void next();

    System &system_;
    AccessHistory *const history_;        // null: nothing is replayed
    const std::vector<unsigned> sockets_; // of each core
    const uint64_t lines_;
    const RequestorID requestor_;
    std::vector<std::unique_ptr<Core>> cores_;
    std::vector<AccessHistory::Access> accesses_;
    size_t done_ = 0;
    Tick stood_still_ = 0;
    EventFunctionWrapper next_event_;
};

} // namespace gem5::ruby

#endif

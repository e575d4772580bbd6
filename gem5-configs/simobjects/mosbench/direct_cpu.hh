// SPDX-License-Identifier: BSD-3-Clause
//
// A processor without caches that reads and writes memory itself, which is quicker than to ask for it. Its accesses can be
// recorded. Page walks are not: they go past it.
#ifndef MOSBENCH_DIRECT_CPU_HH
#define MOSBENCH_DIRECT_CPU_HH

#include <vector>

#include "mosbench/access_history.hh"
#include "mosbench/fetched_instructions.hh"
#include "mosbench/gem5_api.hh"

namespace gem5 {

class DirectCPU : public NonCachingSimpleCPU {
  public:
    PARAMS(DirectCPU);
    explicit DirectCPU(const Params &p) : NonCachingSimpleCPU(p), history_(p.history), core_(p.core) {}

    void init() override;

  protected:
    Tick sendPacket(RequestPort &port, const PacketPtr &packet) override;
    Tick fetchInstMem() override;

  private:
    Addr lineOf(Addr address) const { return address & ~Addr{cacheLineSize() - 1}; }
    // What the host has at a physical address of memory; null of others.
    const uint8_t *hostMemory(Addr address) const;

    AccessHistory *const history_; // null: nothing is recorded
    const unsigned core_;
    FetchedInstructions fetched_;
    std::vector<memory::BackingStoreEntry> memory_;
    Addr last_line_ = MaxAddr; // fetched
};

} // namespace gem5

#endif

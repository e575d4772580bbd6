// SPDX-License-Identifier: BSD-3-Clause
//
// The guest's memory as one of its cores sees it at this moment. Looking leaves no trace in what is simulated.
#ifndef MOSBENCH_CORE_MEMORY_HH
#define MOSBENCH_CORE_MEMORY_HH

#include <vector>

#include "mosbench/gem5_api.hh"

namespace gem5::ruby {

class CoreMemory {
  public:
    // `caches` may hold what is newer than memory; the core's own come first, they mostly have its stack.
    CoreMemory(ThreadContext &thread, const System &system, std::vector<const CacheMemory *> caches);

    // Eight bytes at a virtual address; false where nothing is mapped. A line that is on its way at this moment is as memory has
    // it.
    bool read(Addr address, uint64_t &value) const;

  private:
    bool physical(Addr address, Addr &found) const;
    // The bytes from a physical address on, up to the end of its line; null: no memory is there.
    const uint8_t *line(Addr address) const;

    ThreadContext &thread_;
    const std::vector<memory::BackingStoreEntry> stores_;
    const std::vector<const CacheMemory *> caches_;
};

} // namespace gem5::ruby

#endif

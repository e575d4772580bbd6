// SPDX-License-Identifier: GPL-2.0-or-later
//
// A home's probe filter (HT Assist): the lines of this home that may be cached anywhere. It is finite; what it forgets must
// leave all caches.
#ifndef MOSBENCH_MODEL_PROBE_FILTER_H
#define MOSBENCH_MODEL_PROBE_FILTER_H

#include "fast-engine/model/cache_array.h"

namespace mosbench {

class ProbeFilter {
  public:
    ProbeFilter(CacheShape shape, TagMemory &memory) : entries_(shape, memory) {}

    struct Look {
        bool known;      // there was an entry
        uint32_t victim; // line that lost its entry, or kNoLine
    };

    // Finds or makes the entry of a line. `local` is the line's number within its home.
    Look look(uint32_t local)
    {
        if (entries_.touch(local)) {
            return {true, kNoLine};
        }
        return {false, entries_.insert(local)};
    }
    void forget(uint32_t local) { entries_.remove(local); }
    bool knows(uint32_t local) const { return entries_.contains(local); }
    void clear() { entries_.clear(); }
    void prefetch(uint32_t local) const { entries_.prefetch(local); }

  private:
    CacheArray entries_;
};

} // namespace mosbench

#endif

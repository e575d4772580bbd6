// SPDX-License-Identifier: BSD-3-Clause
#ifndef MOSBENCH_MEMORY_SNAPSHOT_HH
#define MOSBENCH_MEMORY_SNAPSHOT_HH

#include <string>
#include <vector>

#include "mosbench/gem5_api.hh"

namespace gem5::ruby {

class MemorySnapshot : public SimObject {
  public:
    PARAMS(MemorySnapshot);
    explicit MemorySnapshot(const Params &p) : SimObject(p), system_(*p.system), caches_(p.caches) {}

    // An empty string, or a sentence that says what went wrong. Lines that are on their way at this moment are as memory has
    // them.
    std::string write(const std::string &path) const;

  private:
    System &system_;
    const std::vector<CacheMemory *> caches_;
};

} // namespace gem5::ruby

#endif

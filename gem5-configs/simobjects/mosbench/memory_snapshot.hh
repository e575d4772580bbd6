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

    // Gives memory what caches hold, for processors that go on without them. gem5 must be drained. The caches stay as they are,
    // so what asks them from now on gets old lines.
    void writeBack() const;
    // Gives caches what memory holds by now, where such processors have gone on.
    void readBack() const;

  private:
    // Guest memory at an address; null where the board has none.
    uint8_t *memory(Addr address) const;

    // Calls visit(line, data) for each line that a cache may read, once for each cache that has it.
    template <typename Visit> void eachLine(Visit visit) const;

    System &system_;
    const std::vector<CacheMemory *> caches_;
};

} // namespace gem5::ruby

#endif

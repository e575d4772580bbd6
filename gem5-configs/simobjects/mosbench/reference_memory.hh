// SPDX-License-Identifier: BSD-3-Clause
//
// The guest's memory as its cores and devices have it at each moment: gem5's "backing store" of Ruby. Each access is made on it
// as well when the caches have served it, so it never lacks a line that is on its way between two caches. A debugger reads and
// writes here. Times are the caches' all the same.
#ifndef MOSBENCH_REFERENCE_MEMORY_HH
#define MOSBENCH_REFERENCE_MEMORY_HH

#include <cstddef>
#include <cstdint>

#include "mosbench/gem5_api.hh"

namespace gem5 {

class ReferenceMemory : public memory::SimpleMemory {
  public:
    PARAMS(ReferenceMemory);
    // Until `part` it is the guest's memory itself. Nothing may have been written to that.
    explicit ReferenceMemory(const Params &p);
    ~ReferenceMemory() override;

    // Becomes a memory of its own, that holds what the guest's does. No cache may have a newer line at this moment.
    void part();

  private:
    System &guest_;
    uint8_t *contents_ = nullptr;
};

} // namespace gem5

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
//
// The write-combining buffers of the cores. The stores to a line that go past the caches are collected in a buffer, which goes to
// memory as one burst. Who fills buffers faster than memory takes them waits.
#ifndef MOSBENCH_MODEL_WRITE_COMBINING_H
#define MOSBENCH_MODEL_WRITE_COMBINING_H

#include <algorithm>
#include <array>
#include <cstdint>

#include "fast-engine/model/cache_array.h"
#include "native/records/records.h"

namespace mosbench {

class WriteCombining {
  public:
    // Of each core. An estimate; AMD's optimization guide (25112, appendix B) says that up to revision C of the Opteron one was
    // open at a time.
    static constexpr uint32_t kBuffers = 4;

    // Whether the core's open buffer is that of the line: one more store to it.
    bool open(uint32_t core, uint32_t line) const { return cores_[core].line == line; }

    // The core begins with another line, whose burst will be held up for `queued` cycles and takes `way` cycles to memory.
    // Returns the cycles that the core waits for a buffer.
    uint64_t begin(uint32_t core, uint32_t line, uint64_t now, uint64_t queued, uint64_t way)
    {
        Buffers &buffers = cores_[core];
        uint64_t &free = buffers.free[buffers.next++ % kBuffers];
        const uint64_t waited = free > now ? free - now : 0;
        free = now + std::max(waited, queued) + way; // the queues go on while the core waits
        buffers.line = line;
        return waited;
    }
    void clear() { cores_.fill({}); }

  private:
    struct Buffers {
        uint32_t line = kNoLine;               // of the open one
        uint32_t next = 0;                     // to be used, modulo their number
        std::array<uint64_t, kBuffers> free{}; // when each is
    };
    std::array<Buffers, kMaxCores> cores_{};
};

} // namespace mosbench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
//
// Hints to the caches of the host. Most of its time for a simulated miss goes into cache misses of its own: what falls out of one
// simulated cache says where to look in the next, so they come one after the other. Here they are foreseen, and taken in small
// steps while other accesses are simulated. Changes nothing but that time.
#ifndef MOSBENCH_MODEL_HOST_PREFETCH_H
#define MOSBENCH_MODEL_HOST_PREFETCH_H

#include <array>
#include <cstdint>

#include "fast-engine/model/caches.h"
#include "fast-engine/model/counters.h"
#include "fast-engine/model/homes.h"
#include "native/records/records.h"

namespace mosbench {

class HostPrefetch {
  public:
    HostPrefetch(const Caches &caches, const Homes &homes, const Counters &counters)
        : caches_(caches), homes_(homes), counters_(counters)
    {
    }

    // The core will make an access to the line, after some of other cores.
    void expect(uint32_t core, uint32_t line, bool fetch);
    // The core's access misses all caches of its socket, now.
    void miss(uint32_t core, uint32_t line, bool fetch);

  private:
    // Each step asks for what the next one looks at.
    struct Expected {
        uint32_t core, line;
        uint32_t falling; // out of the cache that the last step has looked at, or kNoLine
        bool fetch;
        uint8_t steps; // taken
    };
    static constexpr uint32_t kSteps = 5, kMostExpected = 64;

    void begin_steps(uint32_t core, uint32_t line, bool fetch);
    void take_step(Expected &expected);

    const Caches &caches_;
    const Homes &homes_;
    const Counters &counters_;
    std::array<Expected, kMostExpected> expected_{};  // a ring
    uint32_t expectations_ = 0;                       // that there were so far
    uint32_t step_spacing_ = 1;                       // expectations between two steps of one
    std::array<uint32_t, kMostExpected> recent_{};    // of the lines expected last, by their low bits
    std::array<uint32_t, kMaxCores> expected_line_{}; // by core: its last one
    std::array<uint32_t, kMaxCores> expected_at_{};   // by core: the number of expectations before that
    std::array<uint32_t, kMaxCores> last_miss_{};     // by core: the line
};

} // namespace mosbench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
//
// What of a latency a core waits for. An in-order core waits for all of it. One that works ahead goes on behind a load for a
// while, has the misses of a window under way at the same time unless one needs the value of another, and leaves its stores to a
// buffer, from which they reach the caches in their order, though the lines of several may be on their way; a locked instruction
// waits until all that is done, a serializing one for the loads.
//
// Accesses are made in the order of the program, when the core's clock comes to them. Only what the core is charged follows from
// when they would have been made: a load before the clock by what the core waited for other loads of its window. A store to a
// line that is so busy that the core has to come back holds the core up until then, since what it writes is seen at once; the
// core makes up for it at the loads behind, up to the next locked or serializing instruction.
#ifndef MOSBENCH_MODEL_OVERLAP_H
#define MOSBENCH_MODEL_OVERLAP_H

#include <array>
#include <cstdint>
#include <vector>

#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"

namespace mosbench {

class Overlap {
  public:
    explicit Overlap(const Machine &machine);

    void clear();
    // `filters`: as Caches has them.
    void attach(const std::vector<model_filter *> &filters) { filters_ = filters; }

    // The cycles that the core waits of an access's `latency` beyond an L1 hit, of which it was away for `away` before.
    uint64_t waited(const model_access &access, uint64_t latency, uint64_t away)
    {
        return on_ ? charge(access, latency, away) : latency;
    }
    // The cycles that a core waits before a serializing instruction, until its loads are done.
    uint64_t serialized(uint32_t core, uint64_t now);

  private:
    static constexpr uint32_t kMostStores = 64;
    static constexpr uint32_t kMostLoads = 16;
    static constexpr uint32_t kMostFetches = 16;
    static constexpr uint32_t kStoresOfALine = 8; // of 8 bytes each
    static constexpr uint32_t kNoLine = UINT32_MAX - 1;

    struct Load {
        uint64_t instruction, block; // of the core, as in model_access
        uint64_t done;               // when the value is there
        uint64_t waited;             // by the core, for it, or made up for
        uint32_t number;             // in its block
        uint16_t into;
        bool walk;
    };
    struct Core {
        std::array<Load, kMostLoads> loads{}; // the last ones that missed, round and round
        uint32_t next_load = 0;
        std::array<uint64_t, kMostStores> stores{}; // when each of the buffer is done, from `oldest_store` on
        uint32_t oldest_store = 0, store_count = 0;
        uint64_t last_store = 0;                      // when the last one is done
        std::array<uint64_t, kMostFetches> fetches{}; // when each of the last stores that missed had its line, round and round
        uint32_t next_fetch = 0;
        uint32_t stored_line = kNoLine;
        uint64_t stored_at = 0; // by which instruction
        uint64_t ahead = 0;     // cycles that the core stood still for stores and has not made up for
    };

    uint64_t charge(const model_access &access, uint64_t latency, uint64_t away);
    uint64_t load(Core &core, const model_access &access, uint64_t latency, uint64_t away);
    uint64_t store(Core &core, const model_access &access, uint64_t made, uint64_t latency);
    uint64_t buffer(Core &core, uint64_t made, uint64_t latency, uint64_t cycles);
    uint64_t fetched(Core &core, uint64_t made, uint64_t latency) const;
    static uint64_t make_up(Core &core, uint64_t waited);
    static uint64_t finish_loads(Core &core, uint64_t now);
    static uint64_t drain(Core &core, uint64_t now);
    static void retire(Core &core, uint64_t now);
    static bool needs(const model_access &access, const Load &load);

    const bool on_;
    const uint64_t l1_cycles_, hidden_, window_;
    const uint32_t most_stores_, most_loads_, most_fetches_;
    std::vector<Core> cores_;
    std::vector<model_filter *> filters_;
};

} // namespace mosbench

#endif

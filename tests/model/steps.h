// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random accesses.
#ifndef MOSBENCH_TESTS_MODEL_STEPS_H
#define MOSBENCH_TESTS_MODEL_STEPS_H

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"

namespace mosbench::test {

struct Step {
    uint32_t core, line;
    model_access_kind kind;
    bool device, device_write;
};

// Few lines, of which some are much used: every set overflows and every line is shared at times.
class Steps {
  public:
    Steps(const Machine &machine, uint32_t seed) : random_(seed), machine_(machine), node_lines_(machine.node_mib << 14) {}

    Step next(uint32_t core)
    {
        constexpr model_access_kind kinds[] = {MODEL_READ,  MODEL_READ,  MODEL_READ, MODEL_WRITE, MODEL_ATOMIC,
                                               MODEL_FETCH, MODEL_FETCH, MODEL_WALK, MODEL_STREAM};
        const uint32_t range = below(4) == 0 ? 4 : below(3) == 0 ? 40 : kLines;
        const uint32_t line = below(machine_.sockets) * node_lines_ + below(range);
        return {core, line, below(60) == 0 ? MODEL_STREAM : kinds[below(8)], below(200) == 0, below(2) == 0};
    }
    // All that it may come to.
    std::vector<uint32_t> lines() const
    {
        std::vector<uint32_t> lines;
        for (uint32_t node = 0; node < machine_.sockets; node++) {
            for (uint32_t line = 0; line < kLines; line++) {
                lines.push_back(node * node_lines_ + line);
            }
        }
        return lines;
    }
    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  private:
    static constexpr uint32_t kLines = 400; // of each node

    std::mt19937 random_;
    const Machine machine_;
    uint32_t node_lines_;
};

inline uint32_t slowest(const std::vector<uint64_t> &clock)
{
    return static_cast<uint32_t>(std::min_element(clock.begin(), clock.end()) - clock.begin());
}

} // namespace mosbench::test

#endif

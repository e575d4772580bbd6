// SPDX-License-Identifier: GPL-2.0-or-later
//
// Cores that sleep until a line is taken away from them: somebody else may have written what they spin on.
#ifndef MOSBENCH_MODEL_WATCHES_H
#define MOSBENCH_MODEL_WATCHES_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "fast-engine/model/bits.h"
#include "fast-engine/model/cache_array.h"
#include "fast-engine/model/model_abi.h"
#include "native/records/records.h"

namespace mosbench {

class Watches {
  public:
    // `lost` may be null: nobody watches.
    explicit Watches(model_line_lost *lost) : lost_(lost) {}

    bool possible() const { return lost_ != nullptr; }
    // In place of what the core watched before; at most MODEL_MAX_WATCHED lines, which it holds.
    void watch(uint32_t core, std::span<const uint32_t> lines)
    {
        lines_[core].fill(kNoLine);
        std::copy(lines.begin(), lines.end(), lines_[core].begin());
        watching_ |= bit(core);
    }
    // Says so, once, if the core watches the line.
    void copy_lost(uint32_t core, uint32_t line, uint64_t now)
    {
        const auto &lines = lines_[core];
        if ((watching_ & bit(core)) != 0 && std::find(lines.begin(), lines.end(), line) != lines.end()) {
            watching_ &= ~bit(core);
            lost_(static_cast<uint16_t>(core), now);
        }
    }

  private:
    model_line_lost *const lost_;
    uint64_t watching_ = 0;                                                  // mask of cores
    std::array<std::array<uint32_t, MODEL_MAX_WATCHED>, kMaxCores> lines_{}; // by core
};

} // namespace mosbench

#endif

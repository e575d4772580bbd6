// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lines of code that a core's L1I has asked for before the core came to them, until they are there.
#ifndef MOSBENCH_MODEL_CODE_AHEAD_H
#define MOSBENCH_MODEL_CODE_AHEAD_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fast-engine/model/cache_array.h"
#include "fast-engine/model/machine_file.h"
#include "native/records/records.h"

namespace mosbench {

class CodeAhead {
  public:
    // What a core has to wait for a line that its L1I has or has asked for, and where that comes from.
    struct Late {
        uint64_t cycles = 0;
        Source source = Source::held;
    };

    explicit CodeAhead(const Machine &machine)
        : lines_(machine.works_ahead ? machine.code_prefetch_lines : 0), asked_(lines_ == 0 ? 0 : machine.cores())
    {
    }

    void clear() { std::fill(asked_.begin(), asked_.end(), Asked{}); }
    // How many lines behind one that misses.
    uint32_t lines() const { return lines_; }

    // The line will be there at `when`.
    void ask(uint32_t core, uint32_t line, uint64_t when, Source source)
    {
        Asked &asked = asked_[core];
        asked.lines[asked.next++ % kMost] = {line, when, source};
    }
    Late late(uint32_t core, uint32_t line, uint64_t now) const
    {
        if (lines_ != 0) {
            for (const Line &asked : asked_[core].lines) {
                if (asked.line == line && asked.when > now) {
                    return {asked.when - now, asked.source};
                }
            }
        }
        return {};
    }

  private:
    static constexpr uint32_t kMost = 2 * kMostCodePrefetch; // those of two misses: the core waits for each miss itself
    struct Line {
        uint32_t line = kNoLine;
        uint64_t when = 0;
        Source source = Source::held;
    };
    struct Asked {
        std::array<Line, kMost> lines{}; // round and round
        uint32_t next = 0;
    };

    const uint32_t lines_;
    std::vector<Asked> asked_; // by core
};

} // namespace mosbench

#endif

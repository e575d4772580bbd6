// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tags of a set-associative cache with least-recently-used replacement. A set's tags stand in order of last use, so the
// first is the one used last and free ways are at the end.
#ifndef MOSBENCH_MODEL_CACHE_ARRAY_H
#define MOSBENCH_MODEL_CACHE_ARRAY_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fast-engine/model/machine_file.h"

namespace mosbench
{

inline constexpr uint32_t kNoLine = UINT32_MAX;

class CacheArray
{
  public:
    explicit CacheArray(CacheShape shape)
        : mask_(shape.sets - 1), ways_(shape.ways), tags_(static_cast<size_t>(shape.sets) * shape.ways, kNoLine)
    {
    }

    uint32_t set_of(uint32_t line) const { return line & mask_; }
    uint32_t last_used(uint32_t set) const { return tags_[static_cast<size_t>(set) * ways_]; }
    bool contains(uint32_t line) const { return find(line) < ways_; }

    // Whether the line is there; it then is the one used last.
    bool touch(uint32_t line)
    {
        const uint32_t way = find(line);
        if (way == ways_) {
            return false;
        }
        to_front(tags_of(line), way, line);
        return true;
    }

    // Puts in a line that is not there. Returns the line that had to go, or kNoLine.
    uint32_t insert(uint32_t line)
    {
        uint32_t *tags = tags_of(line);
        const uint32_t victim = tags[ways_ - 1];
        to_front(tags, ways_ - 1, line);
        return victim;
    }

    // Whether the line was there.
    bool remove(uint32_t line)
    {
        const uint32_t way = find(line);
        if (way == ways_) {
            return false;
        }
        uint32_t *tags = tags_of(line);
        std::memmove(tags + way, tags + way + 1, (ways_ - 1 - way) * sizeof *tags);
        tags[ways_ - 1] = kNoLine;
        return true;
    }

    void clear() { tags_.assign(tags_.size(), kNoLine); }

    void prefetch(uint32_t line) const { __builtin_prefetch(&tags_[static_cast<size_t>(set_of(line)) * ways_]); }

  private:
    uint32_t *tags_of(uint32_t line) { return &tags_[static_cast<size_t>(set_of(line)) * ways_]; }

    // The line's way, or the number of ways.
    uint32_t find(uint32_t line) const
    {
        const uint32_t *tags = &tags_[static_cast<size_t>(set_of(line)) * ways_];
        uint32_t way = 0;
        while (way < ways_ && tags[way] != line) {
            way++;
        }
        return way;
    }

    static void to_front(uint32_t *tags, uint32_t way, uint32_t line)
    {
        std::memmove(tags + 1, tags, way * sizeof *tags);
        tags[0] = line;
    }

    uint32_t mask_, ways_;
    std::vector<uint32_t> tags_;
};

} // namespace mosbench

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tags of a set-associative cache with least-recently-used replacement. A set's tags stand in order of last use, so the
// first is the one used last and free ways are at the end. For few ways.
#ifndef MOSBENCH_MODEL_CACHE_ARRAY_H
#define MOSBENCH_MODEL_CACHE_ARRAY_H

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fast-engine/model/machine_file.h"
#include "native/mapped_array.h"
#include "native/prefetch.h"

namespace mosbench {

inline constexpr uint32_t kNoLine = UINT32_MAX;

// Memory for the tags of all caches together, in large pages of the host.
class TagMemory {
  public:
    explicit TagMemory(size_t tags) : memory_(tags, true) {}

    uint32_t *take(CacheShape shape)
    {
        uint32_t *tags = &memory_[used_];
        used_ += tags_of(shape);
        assert(used_ <= memory_.size());
        return tags;
    }
    // Tags of a cache, in whole cache lines of the host.
    static size_t tags_of(CacheShape shape) { return (static_cast<size_t>(shape.sets) * shape.ways + 15) / 16 * 16; }

  private:
    MappedArray<uint32_t> memory_;
    size_t used_ = 0;
};

// The way of a line in a set, or the number of ways.
inline uint32_t find_tag(const uint32_t *tags, uint32_t ways, uint32_t line)
{
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
    uint32_t way = 0;
    for (; way + 4 <= ways; way += 4) {
        const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i *>(tags + way));
        const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)));
        if (equal != 0) {
            return way + static_cast<uint32_t>(std::countr_zero(static_cast<unsigned>(equal)));
        }
    }
    while (way < ways && tags[way] != line) {
        way++;
    }
    return way;
}

class CacheArray {
  public:
    CacheArray(CacheShape shape, TagMemory &memory) : mask_(shape.sets - 1), ways_(shape.ways), tags_(memory.take(shape))
    {
        clear();
    }

    uint32_t set_of(uint32_t line) const { return line & mask_; }
    uint32_t last_used(uint32_t set) const { return tags_[static_cast<size_t>(set) * ways_]; }
    // The line that insert() of this one would return.
    uint32_t next_victim(uint32_t line) const { return tags_of(line)[ways_ - 1]; }
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
        uint32_t way = find(line);
        if (way == ways_) {
            return false;
        }
        uint32_t *tags = tags_of(line);
        for (; way + 1 < ways_; way++) {
            tags[way] = tags[way + 1];
        }
        tags[ways_ - 1] = kNoLine;
        return true;
    }

    void clear() { std::fill_n(tags_, (static_cast<size_t>(mask_) + 1) * ways_, kNoLine); }

    void prefetch(uint32_t line) const
    {
        const char *tags = reinterpret_cast<const char *>(tags_of(line));
        for (size_t offset = 0; offset < ways_ * sizeof *tags_; offset += 64) {
            prefetch_far(tags + offset);
        }
    }

  private:
    uint32_t *tags_of(uint32_t line) const { return tags_ + static_cast<size_t>(set_of(line)) * ways_; }

    uint32_t find(uint32_t line) const { return find_tag(tags_of(line), ways_, line); }

    // Moves the tags before `way` back by one and puts the line first.
    static void to_front(uint32_t *tags, uint32_t way, uint32_t line)
    {
        for (; way > 0; way--) {
            tags[way] = tags[way - 1];
        }
        tags[0] = line;
    }

    uint32_t mask_, ways_;
    uint32_t *tags_;
};

} // namespace mosbench

#endif

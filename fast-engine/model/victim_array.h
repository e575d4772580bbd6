// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tags of a cache that lines enter as victims of a higher level and leave when they are used. It answers as CacheArray does,
// but a set is a ring: entering a full set touches one tag, wherever the oldest is.
#ifndef MOSBENCH_MODEL_VICTIM_ARRAY_H
#define MOSBENCH_MODEL_VICTIM_ARRAY_H

#include "fast-engine/model/cache_array.h"

namespace mosbench {

class VictimArray {
  public:
    VictimArray(CacheShape shape, TagMemory &memory)
        : mask_(shape.sets - 1), ways_(shape.ways), tags_(memory.take(shape)), newest_(shape.sets)
    {
        assert(ways_ <= UINT8_MAX);
        clear();
    }

    // Puts in a line that is not there. Returns the line that had to go, or kNoLine.
    uint32_t insert(uint32_t line)
    {
        uint8_t &newest = newest_[set_of(line)];
        newest = static_cast<uint8_t>(before(newest));
        return std::exchange(tags_of(line)[newest], line);
    }
    uint32_t next_victim(uint32_t line) const { return tags_of(line)[before(newest_[set_of(line)])]; }

    bool contains(uint32_t line) const { return find_tag(tags_of(line), ways_, line) < ways_; }

    // Whether the line is there; it then is the newest.
    bool touch(uint32_t line)
    {
        uint32_t *tags = tags_of(line);
        uint32_t way = find_tag(tags, ways_, line);
        if (way == ways_) {
            return false;
        }
        const uint32_t newest = newest_[set_of(line)];
        for (; way != newest; way = before(way)) {
            tags[way] = tags[before(way)];
        }
        tags[newest] = line;
        return true;
    }

    // Whether the line was there. The free way becomes the oldest; the newer or the older tags move, whichever are fewer.
    bool remove(uint32_t line)
    {
        uint32_t *tags = tags_of(line);
        uint32_t way = find_tag(tags, ways_, line);
        if (way == ways_) {
            return false;
        }
        uint8_t &newest = newest_[set_of(line)];
        const uint32_t newer = way >= newest ? way - newest : way + ways_ - newest;
        if (newer <= ways_ / 2) {
            for (; way != newest; way = before(way)) {
                tags[way] = tags[before(way)];
            }
            newest = static_cast<uint8_t>(after(newest));
        } else {
            for (const uint32_t oldest = before(newest); way != oldest; way = after(way)) {
                tags[way] = tags[after(way)];
            }
        }
        tags[way] = kNoLine;
        return true;
    }

    void clear()
    {
        std::fill_n(tags_, (static_cast<size_t>(mask_) + 1) * ways_, kNoLine);
        newest_.assign(newest_.size(), 0);
    }

    // For insert() and next_victim().
    void prefetch_oldest(uint32_t line) const { prefetch_far(tags_of(line) + before(newest_[set_of(line)])); }

  private:
    uint32_t set_of(uint32_t line) const { return line & mask_; }
    uint32_t *tags_of(uint32_t line) const { return tags_ + static_cast<size_t>(set_of(line)) * ways_; }
    uint32_t before(uint32_t way) const { return (way == 0 ? ways_ : way) - 1; }
    uint32_t after(uint32_t way) const { return way + 1 == ways_ ? 0 : way + 1; }

    uint32_t mask_, ways_;
    uint32_t *tags_;
    std::vector<uint8_t> newest_; // by set; older ones follow it round the ring, free ways at the end
};

} // namespace mosbench

#endif

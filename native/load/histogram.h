// SPDX-License-Identifier: BSD-3-Clause
//
// Latencies in classes of an eighth of a power of two: a percentile is right to within 12.5 %.
#ifndef MOSBENCH_NATIVE_LOAD_HISTOGRAM_H
#define MOSBENCH_NATIVE_LOAD_HISTOGRAM_H

#include <array>
#include <bit>
#include <cstdint>

namespace mosbench::load {

class Histogram {
  public:
    void add(uint64_t value)
    {
        counts_[place_of(value)]++;
        total_++;
    }
    // The upper bound of the class that has the value below which `share` of all are; 0 without any.
    uint64_t percentile(double share) const
    {
        const auto wanted = static_cast<uint64_t>(share * static_cast<double>(total_));
        uint64_t seen = 0;
        for (uint32_t place = 0; place < counts_.size(); place++) {
            seen += counts_[place];
            if (seen > wanted || (seen == total_ && total_ != 0)) {
                return bound_of(place);
            }
        }
        return 0;
    }

  private:
    static constexpr uint32_t kParts = 8;
    static uint32_t place_of(uint64_t value)
    {
        if (value < kParts) {
            return static_cast<uint32_t>(value);
        }
        const auto power = static_cast<uint32_t>(std::bit_width(value)) - 4;
        return (power + 1) * kParts + static_cast<uint32_t>(value >> power) % kParts;
    }
    static uint64_t bound_of(uint32_t place)
    {
        return place < kParts ? place : uint64_t{kParts + place % kParts + 1} << (place / kParts - 1);
    }

    std::array<uint64_t, 62 * kParts> counts_{};
    uint64_t total_ = 0;
};

} // namespace mosbench::load

#endif

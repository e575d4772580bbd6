// SPDX-License-Identifier: BSD-3-Clause
//
// When requests of an open loop arrive: independent of each other (a Poisson process), and the same on every host, since no
// library's logarithm is in it.
#ifndef MOSBENCH_NATIVE_LOAD_ARRIVALS_H
#define MOSBENCH_NATIVE_LOAD_ARRIVALS_H

#include <bit>
#include <cstdint>

namespace mosbench::load {

class Arrivals {
  public:
    Arrivals() = default;
    Arrivals(uint32_t per_second, uint32_t seed) : mean_ns_(1000000000.0 / per_second), dice_(seed) {}

    // To the next arrival: exponentially distributed.
    uint64_t next_ns()
    {
        dice_ += 0x9E3779B97F4A7C15u;
        uint64_t mixed = (dice_ ^ dice_ >> 30) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
        return static_cast<uint64_t>(mean_ns_ * minus_logarithm((mixed ^ mixed >> 31) | 1));
    }

    // -ln(number / 2^64), by squaring: each square gives a bit of the binary logarithm.
    static double minus_logarithm(uint64_t number)
    {
        const int zeros = std::countl_zero(number);
        double rest = static_cast<double>(number << zeros >> 11) / static_cast<double>(uint64_t{1} << 52); // from 1 to below 2
        double binary = 0;
        for (double bit = 0.5; bit > 1e-9; bit /= 2) {
            rest *= rest;
            if (rest >= 2) {
                rest /= 2;
                binary += bit;
            }
        }
        return (zeros + 1 - binary) * 0.693147180559945309;
    }

  private:
    double mean_ns_ = 0;
    uint64_t dice_ = 0;
};

} // namespace mosbench::load

#endif

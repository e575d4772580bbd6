// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sets of cores or sockets as masks of 64 bits.
#ifndef MOSBENCH_MODEL_BITS_H
#define MOSBENCH_MODEL_BITS_H

#include <bit>
#include <cstdint>

namespace mosbench {

inline constexpr uint64_t bit(uint32_t number)
{
    return uint64_t{1} << number;
}

// Calls visit(number) for each member, ascending.
template <typename Visit> void each_bit(uint64_t mask, Visit visit)
{
    for (; mask != 0; mask &= mask - 1) {
        visit(static_cast<uint32_t>(std::countr_zero(mask)));
    }
}

} // namespace mosbench

#endif

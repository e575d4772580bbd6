// SPDX-License-Identifier: BSD-3-Clause
//
// The internet checksum (RFC 1071): the complement of the sum of 16-bit words in ones' complement.
#ifndef MOSBENCH_NATIVE_NIC_CHECKSUM_H
#define MOSBENCH_NATIVE_NIC_CHECKSUM_H

#include <cstdint>
#include <span>

#include "native/nic/bytes.h"

namespace mosbench::nic {

// Sums stay below 2^64 for anything that has a length of 32 bits.
inline uint64_t add(uint64_t sum, std::span<const uint8_t> bytes)
{
    size_t i = 0;
    for (; i + 1 < bytes.size(); i += 2) {
        sum += load16(&bytes[i]);
    }
    return i < bytes.size() ? sum + (uint32_t{bytes[i]} << 8) : sum;
}

inline uint16_t fold(uint64_t sum)
{
    while (sum >> 16 != 0) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<uint16_t>(sum);
}

inline uint32_t pseudo_header_sum(uint32_t source, uint32_t destination, uint8_t protocol, uint32_t length)
{
    return (source >> 16) + (source & 0xFFFF) + (destination >> 16) + (destination & 0xFFFF) + protocol + length;
}

} // namespace mosbench::nic

#endif

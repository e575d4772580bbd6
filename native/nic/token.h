// SPDX-License-Identifier: BSD-3-Clause
//
// Names of DMAs under way. A token says whose it is and of which life of its owner: an answer that comes after a reset, or after
// the queue was switched off, is nobody's.
#ifndef MOSBENCH_NATIVE_NIC_TOKEN_H
#define MOSBENCH_NATIVE_NIC_TOKEN_H

#include <cstdint>

namespace mosbench::nic {

enum class Dma : uint8_t {
    receive_descriptors,  // owner: queue
    receive_payload,      // owner: reception
    receive_write_back,   // owner: reception
    transmit_descriptors, // owner: queue
    transmit_payload,     // owner: transmission; `detail`: number of the piece
    transmit_write_back,  // owner: queue; `detail`: whether it is the last part
};

// 3 bits of kind, 6 of owner, 7 of the owner's generation, 8 of the card's, 8 of detail.
struct Token {
    Dma kind;
    uint8_t owner, generation, card_generation, detail;

    uint32_t packed() const
    {
        return static_cast<uint32_t>(kind) << 29 | static_cast<uint32_t>(owner & 63) << 23 |
               static_cast<uint32_t>(generation & 127) << 16 | static_cast<uint32_t>(card_generation) << 8 | detail;
    }
    static Token from(uint32_t packed)
    {
        return {static_cast<Dma>(packed >> 29), static_cast<uint8_t>(packed >> 23 & 63), static_cast<uint8_t>(packed >> 16 & 127),
                static_cast<uint8_t>(packed >> 8), static_cast<uint8_t>(packed)};
    }
};

} // namespace mosbench::nic

#endif

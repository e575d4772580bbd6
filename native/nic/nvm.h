// SPDX-License-Identifier: BSD-3-Clause
//
// The card's EEPROM: nothing in it but the checksum, which the drivers want to see right.
#ifndef MOSBENCH_NATIVE_NIC_NVM_H
#define MOSBENCH_NATIVE_NIC_NVM_H

#include <cstdint>

namespace mosbench::nic {

// All words up to the checksum's, and the blocks that words 3 to 0xE point to (0: there is none), add up to 0xBABA.
inline constexpr uint32_t kNvmChecksumWord = 0x3F;
inline constexpr uint16_t kNvmSum = 0xBABA;

inline uint16_t nvm_word(uint32_t n)
{
    return n == kNvmChecksumWord ? kNvmSum : 0;
}

} // namespace mosbench::nic

#endif

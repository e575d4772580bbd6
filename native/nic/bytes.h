// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers in frames: most significant byte first.
#ifndef MOSBENCH_NATIVE_NIC_BYTES_H
#define MOSBENCH_NATIVE_NIC_BYTES_H

#include <cstdint>

namespace mosbench::nic {

inline uint16_t load16(const uint8_t *at)
{
    return static_cast<uint16_t>(at[0] << 8 | at[1]);
}
inline uint32_t load32(const uint8_t *at)
{
    return static_cast<uint32_t>(load16(at)) << 16 | load16(at + 2);
}
inline void store16(uint8_t *at, uint32_t value)
{
    at[0] = static_cast<uint8_t>(value >> 8);
    at[1] = static_cast<uint8_t>(value);
}
inline void store32(uint8_t *at, uint32_t value)
{
    store16(at, value >> 16);
    store16(at + 2, value);
}

} // namespace mosbench::nic

#endif

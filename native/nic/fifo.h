// SPDX-License-Identifier: BSD-3-Clause
//
// The receive packet buffer: frames that wait for their way to memory, first in, first out.
#ifndef MOSBENCH_NATIVE_NIC_FIFO_H
#define MOSBENCH_NATIVE_NIC_FIFO_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "native/nic/state.h"

namespace mosbench::nic {

inline uint32_t fifo_room(uint32_t bytes)
{
    return (bytes + kFifoUnit - 1) / kFifoUnit * kFifoUnit;
}

inline bool fifo_fits(const Fifo &fifo, uint32_t bytes, uint32_t capacity)
{
    return fifo.used + fifo_room(bytes) <= std::min(capacity, kFifoBytes);
}

// It fits.
inline void fifo_put(Fifo &fifo, std::span<const uint8_t> frame)
{
    const uint32_t at = (fifo.read + fifo.used) % kFifoBytes;
    const uint32_t before_end = std::min<uint32_t>(static_cast<uint32_t>(frame.size()), kFifoBytes - at);
    std::memcpy(&fifo.bytes[at], frame.data(), before_end);
    std::memcpy(&fifo.bytes[0], frame.data() + before_end, frame.size() - before_end);
    fifo.lengths[(fifo.first + fifo.count++) % kFifoFrames] = static_cast<uint16_t>(frame.size());
    fifo.used += fifo_room(static_cast<uint32_t>(frame.size()));
}

// The oldest frame; there is one.
inline void fifo_look(const Fifo &fifo, std::vector<uint8_t> &frame)
{
    const uint32_t bytes = fifo.lengths[fifo.first];
    const uint32_t before_end = std::min(bytes, kFifoBytes - fifo.read);
    frame.resize(bytes);
    std::memcpy(frame.data(), &fifo.bytes[fifo.read], before_end);
    std::memcpy(frame.data() + before_end, &fifo.bytes[0], bytes - before_end);
}

inline void fifo_drop(Fifo &fifo)
{
    const uint32_t room = fifo_room(fifo.lengths[fifo.first]);
    fifo.read = (fifo.read + room) % kFifoBytes;
    fifo.used -= room;
    fifo.first = (fifo.first + 1) % kFifoFrames;
    fifo.count--;
}

} // namespace mosbench::nic

#endif

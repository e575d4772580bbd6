// SPDX-License-Identifier: BSD-3-Clause
//
// How long the card is busy with a packet. The paper's card handles fewer packets the more of its queues are used (5.3, 5.4).
#ifndef MOSBENCH_NATIVE_NIC_PACE_H
#define MOSBENCH_NATIVE_NIC_PACE_H

#include <algorithm>
#include <bit>
#include <cstdint>

#include "native/nic/settings.h"
#include "native/nic/state.h"

namespace mosbench::nic {

// A queue is in use until it had no packet for one to two of these: an estimate.
inline constexpr uint64_t kStretchNs = 100000;

// Notes that queue `n` has a packet; returns the number of queues in use.
inline uint32_t queues_in_use(InUse &in_use, uint32_t n, uint64_t now)
{
    const uint64_t stretch = now / kStretchNs;
    if (stretch != in_use.stretch) {
        in_use.before = stretch == in_use.stretch + 1 ? in_use.now : 0;
        in_use.now = 0;
        in_use.stretch = stretch;
    }
    in_use.now |= uint64_t{1} << n;
    return static_cast<uint32_t>(std::popcount(in_use.now | in_use.before));
}

inline uint64_t packet_ns(const PacketCost &cost, uint32_t queues)
{
    return static_cast<uint64_t>(cost.ns + cost.ns_per_queue * std::min(queues, cost.most_queues) + 0.5);
}

// Of a frame on the wire: preamble and start of frame 8, check sequence 4, gap 12 bytes more (IEEE 802.3).
inline uint64_t wire_ns(size_t bytes, double gbits_per_second)
{
    return static_cast<uint64_t>(static_cast<double>((bytes + 24) * 8) / gbits_per_second + 0.5);
}

} // namespace mosbench::nic

#endif

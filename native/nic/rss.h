// SPDX-License-Identifier: BSD-3-Clause
//
// Receive side scaling: Microsoft's Toeplitz hash over addresses and ports chooses one of at most 16 queues.
#ifndef MOSBENCH_NATIVE_NIC_RSS_H
#define MOSBENCH_NATIVE_NIC_RSS_H

#include <array>
#include <cstdint>
#include <span>

#include "native/nic/headers.h"
#include "native/nic/state.h"

namespace mosbench::nic {

using RssKey = std::array<uint8_t, 40>;

uint32_t toeplitz(const RssKey &key, std::span<const uint8_t> input);

struct RssResult {
    uint8_t type = 0; // see Choice
    uint32_t hash = 0;
    uint8_t queue = 0;
};
RssResult rss(const State &state, const Headers &headers);

} // namespace mosbench::nic

#endif

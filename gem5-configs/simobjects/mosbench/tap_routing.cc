// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/tap_routing.hh"

namespace gem5::ruby {

void TapRouting::route(const Message &message, int vnet, bool deterministic, std::vector<RouteInfo> &links)
{
    WeightBased::route(message, vnet, deterministic, links);
    // Buffers of the network have no limit (buffer_size = 0), so a message is routed once at each router.
    if (tap_.counting()) {
        tap_.message(message, vnet, socket_, links.size());
    }
}

} // namespace gem5::ruby

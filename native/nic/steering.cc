// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/steering.h"

#include <bit>

#include "native/nic/rss.h"

namespace mosbench::nic {

namespace {

// Any function that spreads evenly does; the finaliser of MurmurHash3.
uint32_t mixed(const Headers &headers)
{
    uint64_t key = (uint64_t{headers.source} << 32 | headers.destination) ^
                   (uint64_t{headers.source_port} << 16 | headers.destination_port) * 0x9E3779B97F4A7C15u;
    key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDu;
    key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53u;
    return static_cast<uint32_t>(key >> 32);
}

} // namespace

Choice choose_queue(State &state, const Settings &settings, FlowDirector &director, const Headers &headers)
{
    const RssResult hashed = rss(state, headers);
    Choice choice{.queue = hashed.queue, .drop = false, .director = false, .rss_type = hashed.type, .rss_hash = hashed.hash};
    const auto queues = static_cast<uint32_t>(std::popcount(state.receive_on));
    if (settings.steering != Steering::driver && headers.ports && queues != 0) {
        const uint32_t key = settings.steering == Steering::port
                                 ? static_cast<uint16_t>(headers.destination_port - settings.first_port)
                                 : mixed(headers);
        choice.queue = static_cast<uint8_t>(key % queues);
        return choice;
    }
    if (const auto match = director.match(headers)) {
        choice.queue = match->queue;
        choice.drop = match->drop || match->queue >= kQueues;
        choice.director = true;
    }
    return choice;
}

} // namespace mosbench::nic

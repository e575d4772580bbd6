// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/socket_routing.hh"

namespace gem5::ruby {

SocketRouting::SocketRouting(const Params &p)
    : WeightBased(p), tap_(p.tap), socket_(p.socket), cores_(p.cores), caches_(p.caches.begin(), p.caches.end())
{
    fatal_if(cores_.empty() ? !caches_.empty() : caches_.size() % cores_.size() != 0,
             "Each core of a socket has as many caches.");
}

void SocketRouting::route(const Message &message, int vnet, bool deterministic, std::vector<RouteInfo> &links)
{
    WeightBased::route(message, vnet, deterministic, links);
    prepare(message, vnet);
    // Buffers of the network have no limit (buffer_size = 0), so a message is routed once at each router.
    if (tap_ != nullptr && tap_->counting()) {
        tap_->message(message, vnet, socket_, links.size());
    }
}

} // namespace gem5::ruby

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
    if (vnet == kForward) {
        leaveCopies(static_cast<const RequestMsg &>(message));
    }
    // Buffers of the network have no limit (buffer_size = 0), so a message is routed once at each router.
    if (tap_ != nullptr && tap_->counting()) {
        tap_->message(message, vnet, socket_, links.size());
    }
}

// A reader takes a line that its owner has written away from the owner in this protocol (migratory sharing), unless the owner has
// marked it as one of atomic accesses. The Opteron has no such thing: the owner keeps a copy (owned). So each line is marked that
// a reader is about to ask a core of this socket for.
void SocketRouting::leaveCopies(const RequestMsg &probe)
{
    if (probe.getType() != CoherenceRequestType_GETS) {
        return;
    }
    const size_t levels = cores_.empty() ? 0 : caches_.size() / cores_.size();
    for (size_t i = 0; i < cores_.size(); i++) {
        if (!probe.getDestination().isElement(MachineID{MachineType_L1Cache, cores_[i]})) {
            continue;
        }
        for (size_t level = 0; level < levels; level++) {
            if (AbstractCacheEntry *entry = caches_[i * levels + level]->lookup(probe.getaddr())) {
                static_cast<L1Cache_Entry *>(entry)->setAtomicAccessed(true);
            }
        }
    }
}

} // namespace gem5::ruby

// SPDX-License-Identifier: BSD-3-Clause
//
// The routing of a socket's router: that of the base class, a look at each message for the tap, and what the protocol leaves to
// whoever asks for it.
#ifndef MOSBENCH_SOCKET_ROUTING_HH
#define MOSBENCH_SOCKET_ROUTING_HH

#include <vector>

#include "mosbench/gem5_api.hh"
#include "mosbench/line_tap.hh"

namespace gem5::ruby {

class SocketRouting : public WeightBased {
  public:
    PARAMS(SocketRouting);
    explicit SocketRouting(const Params &p);

    void route(const Message &message, int vnet, bool deterministic, std::vector<RouteInfo> &links) override;

  private:
    // A message is about to go on; a function for each protocol.
    void prepare(const Message &message, int vnet);

    LineTap *const tap_;
    const unsigned socket_;
    const std::vector<unsigned> cores_;
    const std::vector<CacheMemory *> caches_; // of each of cores_: all of its levels
};

} // namespace gem5::ruby

#endif

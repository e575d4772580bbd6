// SPDX-License-Identifier: GPL-2.0-or-later
//
// HyperTransport: sockets joined by links, packets on shortest routes, each direction of a link a server with a queue.
#ifndef MOSBENCH_MODEL_INTERCONNECT_H
#define MOSBENCH_MODEL_INTERCONNECT_H

#include <array>
#include <cstdint>
#include <vector>

#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/server.h"
#include "native/records/records.h"

namespace mosbench {

// Bytes of a packet without and with a line of data.
inline constexpr uint32_t kCommandBytes = 8;
inline constexpr uint32_t kDataBytes = 72;

class Interconnect {
  public:
    explicit Interconnect(const Machine &machine);

    uint32_t hops(uint32_t from, uint32_t to) const { return hops_[from][to]; }
    // Cycles on the way, without queues: half a round trip.
    uint64_t way_cycles(uint32_t from, uint32_t to) const { return way_cycles_[from][to]; }
    // The sockets a packet visits after `from`, ending with `to`.
    std::vector<uint32_t> route(uint32_t from, uint32_t to) const;

    // Cycles from request to data when the home's memory answers, without queues.
    uint64_t memory_cycles(uint32_t requester, uint32_t home) const { return memory_cycles_[requester][home]; }
    // The same when a cache of socket `owner` answers a probe of the home.
    uint64_t transfer_cycles(uint32_t requester, uint32_t home, uint32_t owner) const
    {
        return transfer_cycles_[requester][home][owner];
    }

    // The same when all sockets must acknowledge.
    uint64_t broadcast_cycles(uint32_t requester, uint32_t home) const { return broadcast_cycles_[requester][home]; }

    // Sends a packet; returns the cycles it waits for links.
    uint64_t send_command(uint32_t from, uint32_t to, const Moment &moment)
    {
        return from == to ? 0 : send(from, to, moment, command_service_);
    }
    uint64_t send_data(uint32_t from, uint32_t to, const Moment &moment)
    {
        return from == to ? 0 : send(from, to, moment, data_service_);
    }
    // The home probes all sockets and each acknowledges to the requester. Returns the cycles from the request to the last
    // acknowledgement.
    uint64_t broadcast(uint32_t requester, uint32_t home, const Moment &moment);

    void clear();

  private:
    // One link of the tree that the routes from or to a socket form.
    struct Branch {
        uint8_t socket; // the farther end
        uint8_t nearer;
        uint8_t link;   // in the direction of travel
        uint8_t beyond; // sockets whose route goes over this link
    };

    void make_trees();
    uint64_t send(uint32_t from, uint32_t to, const Moment &moment, uint64_t service);

    template <typename T> using BySocket = std::array<T, kMaxSockets>;
    uint32_t sockets_;
    uint64_t command_service_, data_service_;
    SocketTable hops_, memory_cycles_, way_cycles_{};
    BySocket<BySocket<uint8_t>> next_{}, link_{}; // [at][towards]
    BySocket<BySocket<uint32_t>> broadcast_cycles_{};
    BySocket<BySocket<BySocket<uint32_t>>> transfer_cycles_{}; // [requester][home][owner]
    BySocket<std::vector<Branch>> from_root_, to_root_;
    std::vector<Server> links_; // one per direction
};

} // namespace mosbench

#endif

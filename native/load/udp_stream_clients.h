// SPDX-License-Identifier: BSD-3-Clause
//
// Data in bulk over UDP: a request is as many datagrams as its data takes, sent one after the other, and so is its reply.
#ifndef MOSBENCH_NATIVE_LOAD_UDP_STREAM_CLIENTS_H
#define MOSBENCH_NATIVE_LOAD_UDP_STREAM_CLIENTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "native/load/clients.h"

namespace mosbench::load {

class UdpStreamClients final : public Clients {
  public:
    UdpStreamClients(const Order &order, uint32_t machines, Events &events, Network &network, std::function<void()> finished);

    void received(const Datagram &datagram, uint64_t now) override;

  private:
    struct Connection {
        uint32_t number = 0;    // of the last request, from 1
        std::vector<bool> come; // of the pieces of its reply
        uint32_t missing = 0;   // of them; 0: no request is under way
        uint64_t since_ns = 0;  // what its latency counts from
    };
    void ask(uint32_t connection, uint64_t since, uint64_t now) override;
    void give_up(uint32_t connection, uint32_t number, uint64_t now);
    // Whether it is a piece of the reply to a request of this connection.
    bool is_right(uint32_t connection, std::string_view piece) const;

    Network &network_;
    const std::string pattern_;
    std::vector<Connection> connections_;
};

} // namespace mosbench::load

#endif

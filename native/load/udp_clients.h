// SPDX-License-Identifier: BSD-3-Clause
//
// Clients that send a batch of datagrams and wait for the reply to each: the same bytes (udp), or what memcached says of a key
// that it does not have.
#ifndef MOSBENCH_NATIVE_LOAD_UDP_CLIENTS_H
#define MOSBENCH_NATIVE_LOAD_UDP_CLIENTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/load/clients.h"

namespace mosbench::load {

class UdpClients final : public Clients {
  public:
    UdpClients(const Order &order, uint32_t machines, Events &events, Network &network, std::function<void()> finished);

    void received(const Datagram &datagram, uint64_t now) override;

  private:
    struct Connection {
        uint32_t number = 0;        // of the last request, from 1
        std::vector<bool> answered; // of the last batch
        uint32_t missing = 0;       // replies to it
        uint64_t since_ns = 0;      // what its latency counts from
    };
    void ask(uint32_t connection, uint64_t since, uint64_t now) override;
    void give_up(uint32_t connection, uint32_t number, uint64_t now);
    std::string request(uint32_t connection, uint32_t number) const;
    // The number of the request that a reply is to, if it is a right one; `newest`: the last one of its connection.
    std::optional<uint32_t> answers(uint32_t connection, uint32_t newest, std::string_view reply) const;

    Network &network_;
    std::vector<Connection> connections_;
};

} // namespace mosbench::load

#endif

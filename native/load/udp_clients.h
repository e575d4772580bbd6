// SPDX-License-Identifier: BSD-3-Clause
//
// Clients that send a datagram and wait for the same bytes.
#ifndef MOSBENCH_NATIVE_LOAD_UDP_CLIENTS_H
#define MOSBENCH_NATIVE_LOAD_UDP_CLIENTS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "native/load/events.h"
#include "native/load/histogram.h"
#include "native/load/network.h"
#include "native/load/order.h"

namespace mosbench::load {

class UdpClients {
  public:
    // `finished` is called once, when no connection has anything left to do.
    UdpClients(const UdpOrder &order, uint32_t machines, Events &events, Network &network, std::function<void()> finished);

    void start(uint64_t now);
    bool busy() const { return busy_ != 0; }
    void received(const Datagram &datagram, uint64_t now);

    // Requests sent; replies that were right; wrong ones; requests given up; replies that came after that.
    struct Counts {
        uint64_t sent = 0, right = 0, wrong = 0, dropped = 0, late = 0;
    };
    const Counts &counts() const { return counts_; }
    std::string result() const; // JSON

  private:
    struct Connection {
        uint32_t number = 0; // of the request under way, from 1
        uint64_t sent_ns = 0;
        bool waiting = false;
    };
    void begin(uint32_t connection, uint64_t now);
    void send(uint32_t connection, uint64_t now);
    void give_up(uint32_t connection, uint32_t number, uint64_t now);
    void next(uint32_t connection, uint64_t now);
    uint32_t source(uint32_t connection) const { return kFirstMachine + connection % machines_; }
    uint16_t source_port(uint32_t connection) const;
    std::vector<uint8_t> request(uint32_t connection, uint32_t number) const;

    const UdpOrder order_;
    const uint32_t machines_;
    Events &events_;
    Network &network_;
    const std::function<void()> finished_;
    std::vector<Connection> connections_;
    std::vector<uint32_t> left_; // requests, by port
    uint32_t busy_ = 0;
    uint64_t began_ns_ = 0, ended_ns_ = 0;
    Counts counts_;
    Histogram latencies_;
};

} // namespace mosbench::load

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/udp_clients.h"

#include <algorithm>
#include <cstdio>

#include "native/nic/bytes.h"

namespace mosbench::load {

namespace {

// A frame of memcached over UDP: number of the request, of the datagram, of all datagrams, 0; 16 bits each.
constexpr size_t kMemcachedHeader = 8;
constexpr std::string_view kNotFound = "END\r\n";

} // namespace

UdpClients::UdpClients(const Order &order, uint32_t machines, Events &events, Network &network, std::function<void()> finished)
    : Clients(order, machines, events, std::move(finished)), network_(network), connections_(order.connections)
{
}

std::string UdpClients::request(uint32_t connection, uint32_t number) const
{
    if (order_.kind != Kind::memcached) {
        return numbered_bytes(order_, connection, number);
    }
    char text[64]; // with a key of 12 letters the frame has 68 bytes, as the paper's
    const int length = std::snprintf(text + kMemcachedHeader, sizeof text - kMemcachedHeader, "get c%03u-%07u\r\n",
                                     connection % 1000, number % 10000000);
    auto *const header = reinterpret_cast<uint8_t *>(text);
    nic::store16(header, number);
    nic::store16(header + 2, 0);
    nic::store16(header + 4, 1);
    nic::store16(header + 6, 0);
    return {text, kMemcachedHeader + static_cast<size_t>(length)};
}

std::optional<uint32_t> UdpClients::answers(uint32_t connection, uint32_t newest, std::string_view reply) const
{
    const auto *const bytes = reinterpret_cast<const uint8_t *>(reply.data());
    if (order_.kind == Kind::memcached) {
        if (reply.size() != kMemcachedHeader + kNotFound.size() || nic::load16(bytes + 2) != 0 || nic::load16(bytes + 4) != 1 ||
            reply.substr(kMemcachedHeader) != kNotFound) {
            return std::nullopt;
        }
        const uint32_t back = (newest - nic::load16(bytes)) & 0xFFFF; // the frame has the number's last 16 bits
        return back < newest ? std::optional(newest - back) : std::nullopt;
    }
    const uint32_t number = reply.size() == order_.bytes ? nic::load32(bytes + 4) : 0;
    const bool right = number != 0 && number <= newest && reply == request(connection, number);
    return right ? std::optional(number) : std::nullopt;
}

void UdpClients::ask(uint32_t c, uint64_t since, uint64_t now)
{
    Connection &connection = connections_[c];
    connection.answered.assign(1, false);
    // A batch is as many of the port's requests as there are left.
    while (connection.answered.size() < order_.batch && take_one(c)) {
        connection.answered.push_back(false);
    }
    connection.missing = static_cast<uint32_t>(connection.answered.size());
    connection.since_ns = since;
    for (uint32_t i = 0; i < connection.missing; i++) {
        const std::string bytes = request(c, ++connection.number);
        network_.send({machine(c), kGuestAddress, source_port(c), port(c),
                       std::span(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())},
                      now);
    }
    counts_.sent += connection.missing;
    const uint64_t end = now + order_.timeout_ns;
    events_.at(end, [this, c, number = connection.number, end] { give_up(c, number, end); });
}

void UdpClients::give_up(uint32_t c, uint32_t number, uint64_t now)
{
    Connection &connection = connections_[c];
    if (connection.missing != 0 && connection.number == number) {
        counts_.dropped += connection.missing;
        connection.missing = 0;
        connection.answered.clear();
        next(c, now);
    }
}

void UdpClients::received(const Datagram &datagram, uint64_t now)
{
    const auto found = connection_of(datagram);
    if (!found) {
        counts_.wrong++;
        return;
    }
    const uint32_t c = *found;
    Connection &connection = connections_[c];
    const std::string_view reply(reinterpret_cast<const char *>(datagram.payload.data()), datagram.payload.size());
    const auto number = answers(c, connection.number, reply);
    if (!number) {
        counts_.wrong++;
        return;
    }
    const uint32_t back = connection.number - *number, place = static_cast<uint32_t>(connection.answered.size()) - 1 - back;
    if (back >= connection.answered.size() || connection.answered[place]) {
        counts_.late++;
        return;
    }
    connection.answered[place] = true;
    if (order_.ignore != 0) {
        order_.ignore--;
    } else {
        counts_.right++;
        latencies_.add(now - connection.since_ns);
    }
    if (--connection.missing == 0) {
        next(c, now);
    }
}

} // namespace mosbench::load

// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/udp_stream_clients.h"

#include "native/load/stream.h"
#include "workloads/micro/src/micro/messages.h"

namespace mosbench::load {

UdpStreamClients::UdpStreamClients(const Order &order, uint32_t machines, Events &events, Network &network,
                                   std::function<void()> finished)
    : Clients(order, machines, events, std::move(finished)), network_(network), pattern_(stream_pattern(order)),
      connections_(order.connections)
{
}

void UdpStreamClients::ask(uint32_t c, uint64_t since, uint64_t now)
{
    Connection &connection = connections_[c];
    connection.number++;
    connection.missing = piece_count(order_.reply_bytes);
    connection.come.assign(connection.missing, false);
    connection.since_ns = since;
    const size_t place = request_place(c, connection.number);
    std::string bytes;
    for (uint32_t piece = 0; piece < piece_count(order_.bytes); piece++) {
        bytes.resize(PIECE_HEAD);
        put_head(bytes.data(), c, connection.number);
        put_number(bytes.data(), 2, piece);
        bytes += std::string_view(pattern_).substr(place + size_t{piece} * PIECE_DATA, piece_bytes(order_.bytes, piece));
        network_.send({machine(c), kGuestAddress, source_port(c), port(c),
                       std::span(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())},
                      now);
    }
    counts_.sent++;
    const uint64_t end = now + order_.timeout_ns;
    events_.at(end, [this, c, number = connection.number, end] { give_up(c, number, end); });
}

void UdpStreamClients::give_up(uint32_t c, uint32_t number, uint64_t now)
{
    Connection &connection = connections_[c];
    if (connection.missing != 0 && connection.number == number) {
        connection.missing = 0;
        counts_.dropped++;
        next(c, now);
    }
}

bool UdpStreamClients::is_right(uint32_t c, std::string_view piece) const
{
    if (piece.size() < PIECE_HEAD) {
        return false;
    }
    const uint32_t number = get_number(piece.data(), 1), index = get_number(piece.data(), 2);
    return get_number(piece.data(), 0) == c && number != 0 && number <= connections_[c].number &&
           index < piece_count(order_.reply_bytes) &&
           piece.substr(PIECE_HEAD) == std::string_view(pattern_).substr(reply_place(c, number) + size_t{index} * PIECE_DATA,
                                                                         piece_bytes(order_.reply_bytes, index));
}

void UdpStreamClients::received(const Datagram &datagram, uint64_t now)
{
    const auto c = connection_of(datagram);
    const std::string_view piece(reinterpret_cast<const char *>(datagram.payload.data()), datagram.payload.size());
    if (!c || !is_right(*c, piece)) {
        counts_.wrong++;
        return;
    }
    Connection &connection = connections_[*c];
    const uint32_t index = get_number(piece.data(), 2);
    if (connection.missing == 0 || get_number(piece.data(), 1) != connection.number || connection.come[index]) {
        counts_.late++;
        return;
    }
    connection.come[index] = true;
    if (--connection.missing == 0) {
        counts_.right++;
        latencies_.add(now - connection.since_ns);
        next(*c, now);
    }
}

} // namespace mosbench::load

// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/udp_clients.h"

#include <algorithm>

#include "native/nic/bytes.h"

namespace mosbench::load {

namespace {

constexpr uint32_t kFirstClientPort = 20000;
// Connections begin a little apart: machines do not start at the same nanosecond.
constexpr uint64_t kApartNs = 137;

} // namespace

UdpClients::UdpClients(const UdpOrder &order, uint32_t machines, Events &events, Network &network, std::function<void()> finished)
    : order_(order), machines_(machines), events_(events), network_(network), finished_(std::move(finished)),
      connections_(order.connections), left_(order.ports, order.requests)
{
}

uint16_t UdpClients::source_port(uint32_t connection) const
{
    return static_cast<uint16_t>(kFirstClientPort + connection / machines_);
}

void UdpClients::start(uint64_t now)
{
    began_ns_ = now;
    busy_ = order_.connections;
    for (uint32_t c = 0; c < order_.connections; c++) {
        const uint64_t at = now + c * kApartNs;
        events_.at(at, [this, c, at] { begin(c, at); });
    }
}

// Connection, number, then bytes that follow from both and the seed.
std::vector<uint8_t> UdpClients::request(uint32_t connection, uint32_t number) const
{
    std::vector<uint8_t> bytes(order_.bytes);
    nic::store32(&bytes[0], connection);
    nic::store32(&bytes[4], number);
    uint64_t state = (uint64_t{order_.seed} << 32 ^ uint64_t{connection} << 20 ^ number) * 0x9E3779B97F4A7C15u;
    for (size_t i = 8; i < bytes.size(); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = static_cast<uint8_t>(state >> 56);
    }
    return bytes;
}

// The next request of a connection, if its port has any left.
void UdpClients::begin(uint32_t c, uint64_t now)
{
    uint32_t &left = left_[c % order_.ports];
    if (left != 0) {
        left--;
        send(c, now);
    } else if (--busy_ == 0) {
        ended_ns_ = now;
        finished_();
    }
}

void UdpClients::send(uint32_t c, uint64_t now)
{
    Connection &connection = connections_[c];
    connection.number++;
    connection.sent_ns = now;
    connection.waiting = true;
    counts_.sent++;
    const std::vector<uint8_t> bytes = request(c, connection.number);
    const auto port = static_cast<uint16_t>(order_.first_port + c % order_.ports);
    network_.send({source(c), kGuestAddress, source_port(c), port, bytes}, now);
    const uint64_t end = now + order_.timeout_ns;
    events_.at(end, [this, c, number = connection.number, end] { give_up(c, number, end); });
}

void UdpClients::give_up(uint32_t c, uint32_t number, uint64_t now)
{
    if (connections_[c].waiting && connections_[c].number == number) {
        counts_.dropped++;
        next(c, now);
    }
}

void UdpClients::next(uint32_t c, uint64_t now)
{
    connections_[c].waiting = false;
    if (order_.think_ns == 0) {
        begin(c, now);
        return;
    }
    const uint64_t at = now + order_.think_ns;
    events_.at(at, [this, c, at] { begin(c, at); });
}

void UdpClients::received(const Datagram &datagram, uint64_t now)
{
    const uint32_t c = (datagram.destination_port - kFirstClientPort) * machines_ + (datagram.destination - kFirstMachine);
    if (datagram.destination_port < kFirstClientPort || c >= connections_.size() || datagram.payload.size() != order_.bytes) {
        counts_.wrong++;
        return;
    }
    Connection &connection = connections_[c];
    const uint32_t number = nic::load32(&datagram.payload[4]);
    const std::vector<uint8_t> wanted = request(c, number);
    if (number > connection.number || number == 0 || !std::equal(wanted.begin(), wanted.end(), datagram.payload.begin())) {
        counts_.wrong++;
    } else if (!connection.waiting || number != connection.number) {
        counts_.late++;
    } else {
        counts_.right++;
        latencies_.add(now - connection.sent_ns);
        next(c, now);
    }
}

std::string UdpClients::result() const
{
    const std::pair<const char *, uint64_t> figures[] = {
        {"sent", counts_.sent},
        {"right", counts_.right},
        {"wrong", counts_.wrong},
        {"dropped", counts_.dropped},
        {"late", counts_.late},
        {"ns", ended_ns_ - began_ns_},
        {"p50_ns", latencies_.percentile(0.5)},
        {"p99_ns", latencies_.percentile(0.99)},
    };
    std::string text = "{";
    for (const auto &[name, value] : figures) {
        text += (text.size() == 1 ? "\"" : ",\"") + std::string(name) + "\":" + std::to_string(value);
    }
    return text + "}";
}

} // namespace mosbench::load

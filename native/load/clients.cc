// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/clients.h"

#include <algorithm>

#include "native/nic/bytes.h"

namespace mosbench::load {

namespace {

// Connections begin a little apart: machines do not start at the same nanosecond.
constexpr uint64_t kApartNs = 137;

} // namespace

void Clients::start(const Order &order, uint64_t now)
{
    const bool goes_on = at_work();
    flowed_ = order.flow != 0 || goes_on;
    under_way_ = true;
    order_ = order;
    between_ = {};
    if (goes_on) {
        between_.right = counts_.right - at_end_.right;
        between_.wrong = counts_.wrong - at_end_.wrong;
        between_.dropped = counts_.dropped - at_end_.dropped;
    }
    counts_ = {};
    latencies_ = {};
    shares_.assign(order_.kind == Kind::postgresql ? order_.connections : order_.ports, {});
    for (Share &share : shares_) {
        share.left = order_.flow != 0 ? UINT32_MAX : order_.requests;
    }
    began_ns_ = now;
    if (!goes_on) {
        // A flow begins with one connection for each port, and each reply lets one more begin: no server gets them all at once.
        busy_ = begun_ = order_.flow != 0 ? std::min(order_.ports, order_.connections) : order_.connections;
        for (uint32_t c = 0; c < begun_; c++) {
            const uint64_t at = now + c * kApartNs;
            events_.at(at, [this, c, at] { prepare(c, at); });
        }
    }
    if (order_.rate != 0 && order_.requests != 0) {
        arrivals_ = Arrivals(order_.rate, order_.seed);
        const uint64_t first = now + arrivals_.next_ns();
        events_.at(first, [this, first] { arrive(0, first); });
    }
}

// The shares take turns.
void Clients::arrive(uint64_t number, uint64_t now)
{
    if (number + 1 < shares_.size() * order_.requests) {
        const uint64_t then = now + arrivals_.next_ns();
        events_.at(then, [this, number, then] { arrive(number + 1, then); });
    }
    Share &share = shares_[number % shares_.size()];
    share.arrived.push_back(now);
    if (!share.free.empty()) {
        const uint32_t c = share.free.back();
        share.free.pop_back();
        begin(c, now);
    }
}

bool Clients::take_one(uint32_t c)
{
    Share &share = this->share(c);
    if (share.left == 0 || (order_.rate != 0 && share.arrived.empty())) {
        return false;
    }
    share.left--;
    if (order_.rate != 0) {
        share.arrived.pop_front();
    }
    return true;
}

void Clients::begin(uint32_t c, uint64_t now)
{
    Share &share = this->share(c);
    const uint64_t since = share.arrived.empty() ? now : share.arrived.front();
    if (take_one(c)) {
        ask(c, since, now);
    } else if (share.left != 0) {
        share.free.push_back(c);
    } else {
        end(now);
        // Those of its connections that wait for an arrival wait for nothing.
        for (; !share.free.empty(); share.free.pop_back()) {
            end(now);
        }
    }
}

void Clients::end(uint64_t now)
{
    if (--busy_ == 0) {
        finish(now);
    }
}

void Clients::finish(uint64_t now)
{
    ended_ns_ = now;
    at_end_ = counts_;
    under_way_ = false;
    finished_();
}

void Clients::flow_on(uint64_t now)
{
    if (begun_ < order_.connections) {
        busy_++;
        prepare(begun_++, now);
    }
    if (under_way_ && ended(counts_) >= uint64_t{order_.requests} * shares_.size()) {
        finish(now);
    }
}

void Clients::next(uint32_t c, uint64_t now)
{
    if (order_.flow != 0) {
        flow_on(now);
    }
    const uint64_t at = now + order_.think_ns;
    events_.at(at, [this, c, at] { begin(c, at); });
}

std::optional<uint32_t> Clients::connection_of(const Datagram &datagram) const
{
    const uint32_t c = (datagram.destination_port - kFirstClientPort) * machines_ + (datagram.destination - kFirstMachine);
    return datagram.destination_port >= kFirstClientPort && c < order_.connections ? std::optional(c) : std::nullopt;
}

std::string Clients::result() const
{
    const std::pair<const char *, uint64_t> figures[] = {
        {"sent", flowed_ ? ended(counts_) : counts_.sent},
        {"right", counts_.right},
        {"wrong", counts_.wrong},
        {"dropped", counts_.dropped},
        {"late", counts_.late},
        {"resets", counts_.resets},
        {"between_sent", ended(between_)},
        {"between_right", between_.right},
        {"between_wrong", between_.wrong},
        {"ns", ended_ns_ - began_ns_},
        {"p50_ns", latencies_.percentile(0.5)},
        {"p99_ns", latencies_.percentile(0.99)},
    };
    std::string text = "{";
    for (const auto &[name, value] : figures) {
        text += text.size() == 1 ? "\"" : ",\"";
        text += name;
        text += "\":" + std::to_string(value);
    }
    return text + more() + "}";
}

std::string numbered_bytes(const Order &order, uint32_t connection, uint32_t number)
{
    std::string bytes(order.bytes, '\0');
    nic::store32(reinterpret_cast<uint8_t *>(bytes.data()), connection);
    nic::store32(reinterpret_cast<uint8_t *>(bytes.data()) + 4, number);
    uint64_t state = (uint64_t{order.seed} << 32 ^ uint64_t{connection} << 20 ^ number) * 0x9E3779B97F4A7C15u;
    for (size_t i = 8; i < bytes.size(); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = static_cast<char>(state >> 56);
    }
    return bytes;
}

} // namespace mosbench::load

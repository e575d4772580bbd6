// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/clients.h"

#include "native/nic/bytes.h"

namespace mosbench::load {

namespace {

// Connections begin a little apart: machines do not start at the same nanosecond.
constexpr uint64_t kApartNs = 137;

} // namespace

void Clients::start(const Order &order, uint64_t now)
{
    order_ = order;
    counts_ = {};
    latencies_ = {};
    left_.assign(order_.ports, order_.requests);
    began_ns_ = now;
    busy_ = order_.connections;
    for (uint32_t c = 0; c < order_.connections; c++) {
        const uint64_t at = now + c * kApartNs;
        events_.at(at, [this, c, at] { prepare(c, at); });
    }
}

bool Clients::take_one(uint32_t c)
{
    uint32_t &left = left_[c % order_.ports];
    if (left == 0) {
        return false;
    }
    left--;
    return true;
}

void Clients::begin(uint32_t c, uint64_t now)
{
    if (take_one(c)) {
        ask(c, now);
    } else if (--busy_ == 0) {
        ended_ns_ = now;
        finished_();
    }
}

void Clients::next(uint32_t c, uint64_t now)
{
    const uint64_t at = now + order_.think_ns;
    events_.at(at, [this, c, at] { begin(c, at); });
}

std::string Clients::result() const
{
    const std::pair<const char *, uint64_t> figures[] = {
        {"sent", counts_.sent},
        {"right", counts_.right},
        {"wrong", counts_.wrong},
        {"dropped", counts_.dropped},
        {"late", counts_.late},
        {"resets", counts_.resets},
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
    return text + "}";
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

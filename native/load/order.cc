// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/order.h"

#include <algorithm>
#include <charconv>

namespace mosbench::load {

namespace {

// Ports of a machine that connections come from: from kFirstClientPort on.
constexpr uint32_t kClientPorts = 40000;
// A first packet that is lost is sent again after 3 s (RFC 1122): that connection is waited for.
constexpr uint32_t kTcpTimeoutNs = 4000000000;
constexpr std::string_view kAgain = "again";

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"udp", Kind::udp},   {"udp-stream", Kind::udp_stream}, {"memcached", Kind::memcached},
    {"tcp", Kind::tcp},   {"stream", Kind::stream},         {"chat", Kind::chat},
    {"http", Kind::http}, {"postgresql", Kind::postgresql},
};
constexpr uint32_t bit(Kind kind)
{
    return 1u << static_cast<uint32_t>(kind);
}
constexpr uint32_t kStreams = bit(Kind::stream) | bit(Kind::udp_stream);
constexpr uint32_t kTcp = bit(Kind::tcp) | bit(Kind::stream) | bit(Kind::chat) | bit(Kind::http) | bit(Kind::postgresql);
constexpr uint32_t kAll = kTcp | bit(Kind::udp) | bit(Kind::udp_stream) | bit(Kind::memcached);
constexpr uint32_t kMostData = 1 << 20;

struct Field {
    std::string_view name;
    uint32_t Order::*value;
    uint32_t least, most;
    uint32_t kinds;     // that have it
    bool again = false; // may change when a load goes on
};
constexpr Field kFields[] = {
    {"connections", &Order::connections, 1, 1000000, kAll},
    {"ports", &Order::ports, 1, 1000, kAll},
    {"first_port", &Order::first_port, 1, 64000, kAll},
    {"requests", &Order::requests, 0, 100000000, kAll, true},
    {"think_ns", &Order::think_ns, 0, 1000000000, kAll},
    {"rate", &Order::rate, 0, 100000000, kAll, true},
    {"timeout_ns", &Order::timeout_ns, 1000, kTcpTimeoutNs, kAll},
    {"seed", &Order::seed, 0, UINT32_MAX, kAll},
    {"bytes", &Order::bytes, 8, 1400, bit(Kind::udp) | bit(Kind::tcp) | bit(Kind::chat)},
    {"bytes", &Order::bytes, 0, kMostData, kStreams},
    {"reply_bytes", &Order::reply_bytes, 0, kMostData, kStreams},
    {"members", &Order::members, 1, 1000, bit(Kind::chat)},
    {"apart", &Order::apart, 0, 1, bit(Kind::chat)},
    {"batch", &Order::batch, 1, 1024, bit(Kind::memcached) | bit(Kind::postgresql), true},
    {"ignore", &Order::ignore, 0, 1000, bit(Kind::memcached), true},
    {"close", &Order::close, 0, 1, bit(Kind::tcp)},
    {"late_ns", &Order::late_ns, 1000, kTcpTimeoutNs, kTcp},
    {"rows", &Order::rows, 1, INT32_MAX, bit(Kind::postgresql)},
    {"updates", &Order::updates, 0, 1, bit(Kind::postgresql)},
    {"flow", &Order::flow, 0, 1, bit(Kind::http) | bit(Kind::memcached) | bit(Kind::postgresql), true},
    {"body_bytes", &Order::body_bytes, 0, 60000, bit(Kind::http)},
    {"body_hash", &Order::body_hash, 0, UINT32_MAX, bit(Kind::http)},
};

std::string_view next_word(std::string_view &text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    return word;
}

bool set_field(Order &order, std::string_view word, bool again)
{
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals), value = word.substr(std::min(equals + 1, word.size()));
    const auto field = std::find_if(std::begin(kFields), std::end(kFields), [&](const Field &one) {
        return one.name == name && (one.kinds & bit(order.kind)) != 0 && (one.again || !again);
    });
    if (field == std::end(kFields)) {
        return false;
    }
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    order.*field->value = number;
    return error == std::errc{} && end == value.data() + value.size() && number >= field->least && number <= field->most;
}

} // namespace

bool is_again(std::string_view text)
{
    return next_word(text) == kAgain;
}

std::optional<Order> parse_order(std::string_view text, uint32_t machines, const Order *before, std::string &problem)
{
    Order order;
    const std::string_view kind = next_word(text);
    const bool again = kind == kAgain;
    if (again && !before) {
        problem = "there is no load that could go on";
        return std::nullopt;
    }
    if (again) {
        order = *before;
    } else {
        const auto known = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto &one) { return one.first == kind; });
        if (known == std::end(kKinds)) {
            problem = "there is no load '" + std::string(kind) + "'";
            return std::nullopt;
        }
        order.kind = known->second;
        if ((bit(order.kind) & kTcp) != 0) {
            order.timeout_ns = kTcpTimeoutNs;
        }
    }
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        if (!set_field(order, word, again)) {
            problem = "'" + std::string(word) + "' is no setting of the load, or out of range";
            return std::nullopt;
        }
    }
    if (order.flow != 0 && order.rate != 0) {
        problem = "with a rate no connection goes on by itself";
        return std::nullopt;
    }
    if ((order.connections + machines - 1) / machines > kClientPorts) {
        problem = "a machine has not as many ports as that takes";
        return std::nullopt;
    }
    return order;
}

} // namespace mosbench::load

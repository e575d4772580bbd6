// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/order.h"

#include <algorithm>
#include <charconv>

namespace mosbench::load {

namespace {

// Ports of a machine that connections come from: from kFirstClientPort on.
constexpr uint32_t kClientPorts = 40000;

struct Field {
    std::string_view name;
    uint32_t UdpOrder::*value;
    uint32_t least, most;
};
constexpr Field kFields[] = {
    {"connections", &UdpOrder::connections, 1, 1000000},     {"ports", &UdpOrder::ports, 1, 1000},
    {"first_port", &UdpOrder::first_port, 1, 64000},         {"bytes", &UdpOrder::bytes, 8, 1400},
    {"requests", &UdpOrder::requests, 1, 100000000},         {"think_ns", &UdpOrder::think_ns, 0, 1000000000},
    {"timeout_ns", &UdpOrder::timeout_ns, 1000, 4000000000}, {"seed", &UdpOrder::seed, 0, UINT32_MAX},
};

std::string_view next_word(std::string_view &text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    return word;
}

} // namespace

std::optional<UdpOrder> parse_order(std::string_view text, uint32_t machines, std::string &problem)
{
    UdpOrder order;
    if (const std::string_view kind = next_word(text); kind != "udp") {
        problem = "there is no load '" + std::string(kind) + "'";
        return std::nullopt;
    }
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        const size_t equals = std::min(word.find('='), word.size());
        const std::string_view name = word.substr(0, equals), value = word.substr(std::min(equals + 1, word.size()));
        bool known = false;
        for (const Field &field : kFields) {
            if (field.name == name) {
                uint32_t number = 0;
                const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
                known =
                    error == std::errc{} && end == value.data() + value.size() && number >= field.least && number <= field.most;
                order.*field.value = number;
            }
        }
        if (!known) {
            problem = "'" + std::string(word) + "' is no setting of the load, or out of range";
            return std::nullopt;
        }
    }
    if ((order.connections + machines - 1) / machines > kClientPorts) {
        problem = "a machine has not as many ports as that takes";
        return std::nullopt;
    }
    return order;
}

} // namespace mosbench::load

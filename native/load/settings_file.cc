// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/settings_file.h"

#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>

namespace mosbench::load {

namespace {

const std::string kPrefix = "nic_";

uint32_t number(const std::string &path, const std::string &key, const std::string &text, uint32_t least, uint32_t most)
{
    uint32_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw std::runtime_error(path + ": " + key + " is '" + text + "', not a number from " + std::to_string(least) + " to " +
                                 std::to_string(most));
    }
    return value;
}

nic::Steering steering(const std::string &path, const std::string &text)
{
    if (text == "driver") {
        return nic::Steering::driver;
    }
    if (text == "port") {
        return nic::Steering::port;
    }
    if (text == "spread") {
        return nic::Steering::spread;
    }
    throw std::runtime_error(path + ": nic_steering is '" + text + "', not driver, port or spread");
}

} // namespace

WorldSettings load_settings(const std::string &path)
{
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    WorldSettings settings;
    bool limits = true;
    const std::map<std::string, std::pair<uint32_t *, std::pair<uint32_t, uint32_t>>> numbers = {
        {"nic_doorbell_ns", {&settings.card.doorbell_ns, {0, 100000}}},
        {"nic_register_read_ns", {&settings.register_read_ns, {0, 100000}}},
        {"nic_register_write_ns", {&settings.register_write_ns, {0, 100000}}},
        {"nic_wire_delay_ns", {&settings.wire_delay_ns, {0, 10000000}}},
        {"nic_loss_per_million", {&settings.loss_per_million, {0, 1000000}}},
        {"nic_clients", {&settings.clients, {1, 200}}},
        {"nic_receive_ns", {&settings.card.receive.ns, {0, 100000}}},
        {"nic_receive_ns_per_queue", {&settings.card.receive.ns_per_queue, {0, 100000}}},
        {"nic_transmit_ns", {&settings.card.transmit.ns, {0, 100000}}},
        {"nic_transmit_ns_per_queue", {&settings.card.transmit.ns_per_queue, {0, 100000}}},
    };
    std::string key, value;
    while (file >> key && std::getline(file >> std::ws, value)) {
        if (key.compare(0, kPrefix.size(), kPrefix) != 0) {
            continue;
        }
        if (const auto known = numbers.find(key); known != numbers.end()) {
            *known->second.first = number(path, key, value, known->second.second.first, known->second.second.second);
        } else if (key == "nic_first_port") {
            settings.card.first_port = static_cast<uint16_t>(number(path, key, value, 1, 65535));
        } else if (key == "nic_limits") {
            limits = number(path, key, value, 0, 1) != 0;
        } else if (key == "nic_steering") {
            settings.card.steering = steering(path, value);
        } else {
            throw std::runtime_error(path + ": there is no key " + key);
        }
    }
    if (!limits) {
        settings.card.receive = settings.card.transmit = {};
    }
    return settings;
}

} // namespace mosbench::load

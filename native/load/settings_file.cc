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

// What is thrown names the file too.
template <typename Step> auto with_path(const std::string &path, Step step)
{
    try {
        return step();
    } catch (const std::runtime_error &error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

} // namespace

WorldSettings load_settings(const std::string &path)
{
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    WorldSettings settings;
    nic::MachineKeys machine;
    const std::map<std::string, std::pair<uint32_t *, std::pair<uint32_t, uint32_t>>> numbers = {
        {"nic_loss_per_million", {&settings.loss_per_million, {0, 1000000}}},
        {"nic_clients", {&settings.clients, {1, 200}}},
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
        } else if (key == "nic_peer") {
            settings.peer = value;
        } else if (key == "nic_steering") {
            settings.card.steering = steering(path, value);
        } else if (!with_path(path, [&] { return machine.take(key, value); })) {
            throw std::runtime_error(path + ": there is no key " + key);
        }
    }
    with_path(path, [&] { machine.apply(settings.card); });
    return settings;
}

} // namespace mosbench::load

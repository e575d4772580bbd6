// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/settings.h"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace mosbench::nic {

namespace {

// Takes the value if the key is this one.
template <typename T> bool number(const keys::Key<T> &known, const std::string &key, const std::string &text, T &value)
{
    if (key != known.name) {
        return false;
    }
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || !(value >= known.low && value <= known.high)) {
        std::ostringstream said;
        said << key << " is '" << text << "', not a number from " << known.low << " to " << known.high;
        throw std::runtime_error(said.str());
    }
    return true;
}

void expect_slower(const char *way, double mpps_1_queue, double mpps_many_queues)
{
    if (mpps_many_queues > mpps_1_queue) {
        throw std::runtime_error(std::string("nic_") + way + "_mpps_many_queues is more than nic_" + way + "_mpps_1_queue");
    }
}

} // namespace

bool MachineKeys::take(const std::string &key, const std::string &value)
{
    return number(keys::queues, key, value, queues_) || number(keys::limits, key, value, limits_) ||
           number(keys::fifo_kib, key, value, fifo_kib_) || number(keys::doorbell_ns, key, value, doorbell_ns_) ||
           number(keys::wire_delay_ns, key, value, wire_delay_ns_) ||
           number(keys::register_read_ns, key, value, register_read_ns_) ||
           number(keys::register_write_ns, key, value, register_write_ns_) ||
           number(keys::receive_mpps_1_queue, key, value, receive_1_) ||
           number(keys::receive_mpps_many_queues, key, value, receive_many_) ||
           number(keys::transmit_mpps_1_queue, key, value, transmit_1_) ||
           number(keys::transmit_mpps_many_queues, key, value, transmit_many_) ||
           number(keys::receive_many_queues, key, value, receive_queues_) ||
           number(keys::transmit_many_queues, key, value, transmit_queues_) ||
           number(keys::link_gbits_per_second, key, value, link_gbits_per_second_);
}

void MachineKeys::apply(Settings &settings) const
{
    expect_slower("receive", receive_1_, receive_many_);
    expect_slower("transmit", transmit_1_, transmit_many_);
    settings.queues = queues_;
    settings.doorbell_ns = doorbell_ns_;
    settings.wire_delay_ns = wire_delay_ns_;
    settings.register_read_ns = register_read_ns_;
    settings.register_write_ns = register_write_ns_;
    settings.link_gbits_per_second = link_gbits_per_second_;
    const bool limited = limits_ != 0;
    settings.fifo_bytes = (limited ? fifo_kib_ : keys::fifo_kib.high) * 1024;
    settings.receive = limited ? cost_of_rates(receive_1_, receive_many_, receive_queues_) : PacketCost{};
    settings.transmit = limited ? cost_of_rates(transmit_1_, transmit_many_, transmit_queues_) : PacketCost{};
}

} // namespace mosbench::nic

// SPDX-License-Identifier: BSD-3-Clause
//
// What a machine and a point say about the card. Everything else the driver sets in registers.
#ifndef MOSBENCH_NATIVE_NIC_SETTINGS_H
#define MOSBENCH_NATIVE_NIC_SETTINGS_H

#include <array>
#include <cstdint>
#include <string>

#include "native/nic/machine_keys.h"

namespace mosbench::nic {

// Who chooses the queue of a received TCP or UDP packet.
enum class Steering : uint8_t {
    driver, // what the driver set up: Flow Director, then RSS
    port,   // the authors' driver for memcached: the server's port number, one for each queue
    spread, // the authors' driver for Apache: a hash of addresses and ports, over all queues
};

// Cost of a packet in one direction: a straight line over the queues in use, which ends at `most_queues`. What the paper saw of
// its card (5.3, 5.4). Zeros: no limit but the wire.
struct PacketCost {
    double ns = 0, ns_per_queue = 0;
    uint32_t most_queues = UINT32_MAX;
};

// The line through the time of a packet with one queue and with `many_queues`, two or more; with more of them it is no longer.
constexpr PacketCost cost_of_rates(double mpps_1_queue, double mpps_many_queues, uint32_t many_queues)
{
    const double one = 1e3 / mpps_1_queue, per_queue = (1e3 / mpps_many_queues - one) / (many_queues - 1);
    return {one - per_queue, per_queue, many_queues};
}

struct Settings {
    std::array<uint8_t, 6> mac = {0x02, 0x00, 0x00, 0x00, 0x00, 0x01};
    Steering steering = Steering::driver;
    uint16_t first_port = 11211; // steering by port: of queue 0
    uint32_t queues = keys::queues.standard;
    uint32_t fifo_bytes = keys::fifo_kib.standard * 1024;
    uint32_t doorbell_ns = keys::doorbell_ns.standard; // from a register write to what the card does about it
    uint32_t register_read_ns = keys::register_read_ns.standard, register_write_ns = keys::register_write_ns.standard; // a core's
    uint32_t wire_delay_ns = keys::wire_delay_ns.standard;                                                             // each way
    double link_gbits_per_second = keys::link_gbits_per_second.standard;
    PacketCost receive, transmit;
};

// The keys that begin with "nic_" in the file of a machine. What is not given has the default of machines/schema.toml.
class MachineKeys {
  public:
    // False: it is no such key. Throws std::runtime_error with a sentence that names key and value.
    bool take(const std::string &key, const std::string &value);
    // After the last one.
    void apply(Settings &settings) const;

  private:
    uint32_t queues_ = keys::queues.standard, limits_ = keys::limits.standard, fifo_kib_ = keys::fifo_kib.standard;
    uint32_t doorbell_ns_ = keys::doorbell_ns.standard, wire_delay_ns_ = keys::wire_delay_ns.standard;
    uint32_t register_read_ns_ = keys::register_read_ns.standard, register_write_ns_ = keys::register_write_ns.standard;
    double receive_1_ = keys::receive_mpps_1_queue.standard, receive_many_ = keys::receive_mpps_many_queues.standard;
    double transmit_1_ = keys::transmit_mpps_1_queue.standard, transmit_many_ = keys::transmit_mpps_many_queues.standard;
    uint32_t receive_queues_ = keys::receive_many_queues.standard, transmit_queues_ = keys::transmit_many_queues.standard;
    double link_gbits_per_second_ = keys::link_gbits_per_second.standard;
};

} // namespace mosbench::nic

#endif

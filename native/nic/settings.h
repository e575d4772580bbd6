// SPDX-License-Identifier: BSD-3-Clause
//
// What a machine file says about the card. Everything else the driver sets in registers.
#ifndef MOSBENCH_NATIVE_NIC_SETTINGS_H
#define MOSBENCH_NATIVE_NIC_SETTINGS_H

#include <array>
#include <cstdint>

namespace mosbench::nic {

// Who chooses the queue of a received TCP or UDP packet.
enum class Steering : uint8_t {
    driver, // what the driver set up: Flow Director, then RSS
    port,   // the authors' driver for memcached: the server's port number, one for each queue
    spread, // the authors' driver for Apache: a hash of addresses and ports, over all queues
};

// Cost of a packet in one direction, as a straight line over the queues in use: what the paper saw of its card (5.3, 5.4).
// Zeros: no limit but the wire.
struct PacketCost {
    uint32_t ns = 0, ns_per_queue = 0;
};

struct Settings {
    std::array<uint8_t, 6> mac = {0x02, 0x00, 0x00, 0x00, 0x00, 0x01};
    Steering steering = Steering::driver;
    uint16_t first_port = 11211; // steering by port: of queue 0
    // From a register write to what the card does about it. Longer than a core of the fast engine runs ahead of the others.
    uint32_t doorbell_ns = 500; // an estimate: a posted write over PCIe and the start of a DMA
    double link_gbits_per_second = 10;
    PacketCost receive, transmit;
};

} // namespace mosbench::nic

#endif

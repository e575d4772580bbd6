// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of a machine that are the card's. Written from machines/schema.toml by `./run.py generate`: change that, not this.
// clang-format off
#ifndef MOSBENCH_NATIVE_NIC_MACHINE_KEYS_H
#define MOSBENCH_NATIVE_NIC_MACHINE_KEYS_H

#include <cstdint>

namespace mosbench::nic::keys {

// Both ends included. `standard`: where the file has no such key.
template <typename T> struct Key {
    const char *name;
    T low, high, standard;
};

inline constexpr Key<uint32_t> queues{"nic_queues", 1, 64, 64};
inline constexpr Key<uint32_t> limits{"nic_limits", 0, 1, 1};
inline constexpr Key<double> receive_mpps_1_queue{"nic_receive_mpps_1_queue", 0.001, 1000, 5};
inline constexpr Key<double> receive_mpps_many_queues{"nic_receive_mpps_many_queues", 0.001, 1000, 2.8};
inline constexpr Key<uint32_t> receive_many_queues{"nic_receive_many_queues", 2, 64, 48};
inline constexpr Key<double> transmit_mpps_1_queue{"nic_transmit_mpps_1_queue", 0.001, 1000, 5};
inline constexpr Key<double> transmit_mpps_many_queues{"nic_transmit_mpps_many_queues", 0.001, 1000, 2.8};
inline constexpr Key<uint32_t> transmit_many_queues{"nic_transmit_many_queues", 2, 64, 16};
inline constexpr Key<uint32_t> fifo_kib{"nic_fifo_kib", 16, 512, 512};
inline constexpr Key<double> link_gbits_per_second{"nic_link_gbits_per_second", 0.1, 100, 10};
inline constexpr Key<uint32_t> wire_delay_ns{"nic_wire_delay_ns", 0, 10000000, 1000};
inline constexpr Key<uint32_t> doorbell_ns{"nic_doorbell_ns", 0, 100000, 500};
inline constexpr Key<uint32_t> register_read_ns{"nic_register_read_ns", 0, 100000, 1000};
inline constexpr Key<uint32_t> register_write_ns{"nic_register_write_ns", 0, 100000, 100};

} // namespace mosbench::nic::keys

#endif

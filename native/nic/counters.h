// SPDX-License-Identifier: BSD-3-Clause
//
// The statistics registers. They are what the driver's `ethtool -S` adds up; most are cleared by a read.
#ifndef MOSBENCH_NATIVE_NIC_COUNTERS_H
#define MOSBENCH_NATIVE_NIC_COUNTERS_H

#include <cstdint>
#include <span>

#include "native/nic/state.h"

namespace mosbench::nic {

bool cleared_by_read(uint32_t offset);

void count_received(State &state, std::span<const uint8_t> frame);
void count_sent(State &state, std::span<const uint8_t> frame);
// By queue; which of the 16 sets of statistics a queue counts in, the driver says in RQSMR and TQSM.
void count_queue_received(State &state, uint32_t queue, uint32_t bytes);
void count_queue_dropped(State &state, uint32_t queue);
void count_queue_sent(State &state, uint32_t queue, uint32_t bytes);

} // namespace mosbench::nic

#endif

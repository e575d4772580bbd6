// SPDX-License-Identifier: BSD-3-Clause
//
// Which queue a received frame goes to.
#ifndef MOSBENCH_NATIVE_NIC_STEERING_H
#define MOSBENCH_NATIVE_NIC_STEERING_H

#include "native/nic/flow_director.h"
#include "native/nic/headers.h"
#include "native/nic/settings.h"
#include "native/nic/state.h"

namespace mosbench::nic {

Choice choose_queue(State &state, const Settings &settings, FlowDirector &director, const Headers &headers);

} // namespace mosbench::nic

#endif

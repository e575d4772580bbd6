// SPDX-License-Identifier: BSD-3-Clause
//
// What the card has counted in its life, for those who run it.
#ifndef MOSBENCH_NATIVE_NIC_METRICS_H
#define MOSBENCH_NATIVE_NIC_METRICS_H

#include <string>

#include "native/nic/state.h"

namespace mosbench::nic {

// Members of a JSON object, with commas between them.
std::string metrics(const Totals &totals);

} // namespace mosbench::nic

#endif

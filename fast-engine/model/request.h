// SPDX-License-Identifier: GPL-2.0-or-later
//
// A request to the home of a line, and its answer.
#ifndef MOSBENCH_MODEL_REQUEST_H
#define MOSBENCH_MODEL_REQUEST_H

#include <cstdint>

#include "fast-engine/model/server.h"
#include "native/records/records.h"

namespace mosbench {

// `moment.start`: when the home begins with it. A line serves one request after the other.
struct Request {
    Moment moment;
    uint32_t line, core, socket, home;
};

struct Answer {
    uint64_t cycles; // from the request to the bytes
    Source source;
    bool pipelined = false; // a read of a line that several hold, or nobody: the home need not wait for it
};

} // namespace mosbench

#endif

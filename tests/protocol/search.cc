// SPDX-License-Identifier: BSD-3-Clause
#include "tests/protocol/search.h"

namespace mosbench::protocol {

std::optional<Found> search(int nodes, int cores, const Setup &setup, size_t most)
{
    switch (10 * nodes + cores) {
    case 11:
        return Search<1, 1>(setup, most).run();
    case 12:
        return Search<1, 2>(setup, most).run();
    case 13:
        return Search<1, 3>(setup, most).run();
    case 21:
        return Search<2, 1>(setup, most).run();
    case 22:
        return Search<2, 2>(setup, most).run();
    case 31:
        return Search<3, 1>(setup, most).run();
    default:
        return std::nullopt;
    }
}

} // namespace mosbench::protocol

// SPDX-License-Identifier: GPL-2.0-or-later
//
// What serves one packet after the other and so has a queue: a direction of a link, the memory of a node.
#ifndef MOSBENCH_MODEL_SERVER_H
#define MOSBENCH_MODEL_SERVER_H

#include <algorithm>
#include <cstdint>

namespace mosbench {

// When a transaction is seen and when its work begins, in cycles: later where it waits for its line's home, earlier where the
// core was sent away and comes back. Its packets do not wait for each other.
struct Moment {
    uint64_t transaction; // number, from 1
    uint64_t now, start;
};

// Time is kept in 1/1024 cycles.
class Server {
  public:
    // Books `service` (1/1024 cycles). Returns the 1/1024 cycles that the packet waits. The booking is made at `now`: one made
    // ahead, at `start`, would hold up earlier use by others. For a start in the past the wait is what lies before the packet
    // now: what has come and gone since its start was not in its way.
    uint64_t book(const Moment &moment, uint64_t service)
    {
        if (transaction_ != moment.transaction) {
            transaction_ = moment.transaction;
            free_before_ = next_free_;
        }
        next_free_ = (next_free_ > moment.now << 10 ? next_free_ : moment.now << 10) + service;
        const uint64_t begin = std::max(moment.start, moment.now) << 10;
        return free_before_ > begin ? free_before_ - begin : 0;
    }
    void clear() { *this = {}; }

    // 1/1024 cycles for `bytes`.
    static uint64_t service(uint32_t bytes, double gbytes_per_second, double clock_ghz)
    {
        return static_cast<uint64_t>(bytes * clock_ghz / gbytes_per_second * 1024 + 0.5);
    }

  private:
    uint64_t next_free_ = 0;
    uint64_t free_before_ = 0; // what next_free_ was before the transaction that booked last
    uint64_t transaction_ = 0; // that booked last
};

} // namespace mosbench

#endif

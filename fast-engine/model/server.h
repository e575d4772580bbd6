// SPDX-License-Identifier: GPL-2.0-or-later
//
// What serves one packet after the other and so has a queue: a direction of a link, the memory of a node.
#ifndef MOSBENCH_MODEL_SERVER_H
#define MOSBENCH_MODEL_SERVER_H

#include <algorithm>
#include <array>
#include <cstdint>

namespace mosbench {

// When a transaction is seen and when its work begins, in cycles: later where it waits for its line's home, earlier where the
// core was sent away and comes back. Its packets do not wait for each other.
struct Moment {
    uint64_t transaction; // number, from 1
    uint64_t now, start;
};

// Time is kept in 1/1024 cycles.
//
// Cores come in the order of their times but for a quantum, so a packet may be booked when a later one is already. The time
// before that one in which the server had nothing to do is kept, and a packet that comes late to the booking takes it: otherwise
// it would wait for one that comes after it, the more the longer the quantum is.
class Server {
  public:
    // Books `service` (1/1024 cycles). Returns the 1/1024 cycles that the packet waits. The booking is made at `now`: one made
    // ahead, at `start`, would hold up earlier use by others. For a start in the past the wait is what lies before the packet
    // now: what has come and gone since its start was not in its way.
    uint64_t book(const Moment &moment, uint64_t service)
    {
        const uint64_t now = moment.now << 10;
        const uint64_t begun = (now < latest_ ? serve_late(now, service) : serve(now, service)) - service;
        if (transaction_ != moment.transaction) {
            transaction_ = moment.transaction;
            begun_ = begun;
        }
        const uint64_t begin = std::max(moment.start, moment.now) << 10;
        return begun_ > begin ? begun_ - begin : 0;
    }
    void clear() { *this = {}; }

    // 1/1024 cycles for `bytes`.
    static uint64_t service(uint32_t bytes, double gbytes_per_second, double clock_ghz)
    {
        return static_cast<uint64_t>(bytes * clock_ghz / gbytes_per_second * 1024 + 0.5);
    }

  private:
    struct Gap {
        uint64_t begin, end;
    };
    static constexpr uint32_t kGaps = 8; // a quantum has hardly more

    // When a packet that nobody later was booked before is served.
    uint64_t serve(uint64_t now, uint64_t service)
    {
        if (now > next_free_) {
            keep(gap_count_, {next_free_, now});
            next_free_ = now;
        }
        latest_ = now;
        next_free_ += service;
        return next_free_;
    }

    // The same of one that comes late: in the gaps from `now` on, and what is left of it behind everybody.
    uint64_t serve_late(uint64_t now, uint64_t service)
    {
        for (uint32_t i = 0; i < gap_count_; i++) {
            const Gap gap = gaps_[i];
            const uint64_t begin = std::max(gap.begin, now);
            if (begin >= gap.end) {
                continue;
            }
            const uint64_t end = begin + std::min(service, gap.end - begin);
            service -= end - begin;
            gaps_[i] = {gap.begin, begin};
            if (service == 0) {
                if (end < gap.end) {
                    keep(i + 1, {end, gap.end});
                }
                return end;
            }
        }
        next_free_ += service;
        return next_free_;
    }

    // Puts a gap at place `at`; the first one goes where there are too many.
    void keep(uint32_t at, Gap gap)
    {
        if (gap_count_ == kGaps) {
            std::copy(gaps_.begin() + 1, gaps_.begin() + at, gaps_.begin());
            gaps_[at - 1] = gap;
        } else {
            std::copy_backward(gaps_.begin() + at, gaps_.begin() + gap_count_, gaps_.begin() + gap_count_ + 1);
            gaps_[at] = gap;
            gap_count_++;
        }
    }

    std::array<Gap, kGaps> gaps_{}; // in the order of time, all before `latest_`; some are used up
    uint32_t gap_count_ = 0;
    uint64_t latest_ = 0;      // time of a packet
    uint64_t next_free_ = 0;   // behind all packets
    uint64_t begun_ = 0;       // when the first packet of the last transaction would be served in one piece
    uint64_t transaction_ = 0; // that booked last
};

} // namespace mosbench

#endif

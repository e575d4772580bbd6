// SPDX-License-Identifier: GPL-2.0-or-later
//
// When the home of a line begins with a request and when it is done. A line serves one request after the other. Who would wait is
// sent away, if he can come back, and not from a second line before he was served by the first. He performs his access when the
// home's probe reaches the holder: until then the holder goes on with the line, as in hardware. (Without that time a load and the
// compare-and-swap after it would hardly ever see the same value under contention, and lock-free updates would nearly always
// fail.) So it is with a line that several cores use when its home is free, too, if somebody will lose it or may no longer write
// it. A line of one core alone is taken at once: its holder runs ahead on it.
//
// A request that waits does so at the home, so the core's look into its own caches and the way are behind it when the home
// begins; and the home is done when the requester, who has the line by then, has told it so. So a holder has a line that others
// wait for from when it comes until the home has heard of that and its next probe has come: the longer, the farther he is from
// the home.
#ifndef MOSBENCH_MODEL_HOME_QUEUE_H
#define MOSBENCH_MODEL_HOME_QUEUE_H

#include <algorithm>
#include <cstdint>

#include "fast-engine/model/directory.h"
#include "fast-engine/model/home_map.h"
#include "fast-engine/model/interconnect.h"
#include "fast-engine/model/line_queues.h"
#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"
#include "fast-engine/model/perturbation.h"
#include "fast-engine/model/request.h"

namespace mosbench {

// When the home of a line begins with a request.
struct Turn {
    enum class Kind : uint64_t { // whole words: a host that reads several bytes of which it has just written one waits
        free,                    // nobody comes first any more
        behind,                  // the core was not sent away, but others who were come first
        later,                   // it is sent away and to come back at `start`
        joined,                  // the same, and it was given its place in the queue now
    };
    uint64_t start = 0;  // for a core that is sent away, see `later`; else when a request that need not wait is made
    uint64_t waited = 0; // cycles that the core was sent away for before
    Kind kind = Kind::free;

    bool sent_away() const { return kind == Kind::later || kind == Kind::joined; }
};

class HomeQueue {
  public:
    HomeQueue(const Machine &machine, const HomeMap &homes, const Interconnect &interconnect);

    void clear() { queues_.clear(); }

    // What a core that was sent away waits for, as far as can be foreseen.
    Source awaited(uint32_t core) { return queues_.place(core).awaited; }
    // The turn of an access that has to ask the home of its line, for writing or for reading.
    Turn take_turn(const model_access &access, Entry &entry, bool write);
    // A request takes `cycles` until the requester has what it asked for. The home is busy with it until it knows that; with a
    // pipelined read, for a shorter time. Returns the cycles from when the access was made.
    uint64_t finish(const Request &request, const Turn &turn, Entry &entry, uint64_t cycles, bool pipelined);

  private:
    Turn come_back(const model_access &access, LineQueues::Place &place, Queue *queue, uint64_t free);
    Turn join(const model_access &access, Entry &entry, bool write, Queue *queue, uint64_t start);
    Source foresee_source(const model_access &access, const Entry &entry, const Queue &queue, bool write) const;
    uint64_t foresee(const model_access &access, Queue &queue, bool write) const;
    uint64_t idle_cycles(uint32_t socket, uint32_t home, const Queue &queue, bool write) const;
    uint64_t reach(uint32_t home, const Queue &queue) const;
    // From when a core makes an access until its request is at the home. Its own caches are looked in first.
    uint64_t way(uint32_t socket, uint32_t home) const { return l2_cycles_ + interconnect_.way_cycles(socket, home); }
    uint64_t way(const model_access &access) const { return way(socket_of(access.core), homes_.home(access.line)); }
    // Of a request that takes `cycles` on idle links. The core's look into its caches is over when the home begins; the news that
    // the request is done takes as long as the request took between the sockets.
    uint64_t busy_with(uint64_t cycles) const { return cycles - std::min(cycles, l2_cycles_); }
    uint64_t busy_with_read(uint64_t cycles) const { return std::min(busy_with(cycles), read_busy_cycles_); }
    uint32_t socket_of(uint32_t core) const { return core / cores_per_socket_; }

    const HomeMap &homes_;
    const Interconnect &interconnect_;
    const Perturbation perturbation_;
    const uint64_t l1_cycles_, l2_cycles_, read_busy_cycles_, transfer_cycles_, quantum_;
    const uint32_t cores_per_socket_;
    const bool filtered_; // homes have probe filters
    LineQueues queues_;
};

} // namespace mosbench

#endif

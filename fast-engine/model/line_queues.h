// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who waits for a busy line. A core that would wait long is sent away with a place in the line's queue and performs its access
// when its turn has come: until then the line is still the others'. Only busy lines have a queue, at most about one for each
// core.
#ifndef MOSBENCH_MODEL_LINE_QUEUES_H
#define MOSBENCH_MODEL_LINE_QUEUES_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fast-engine/model/cache_array.h"
#include "native/records/records.h"

namespace mosbench {

// What the last request in the queue will leave behind, as far as can be foreseen.
struct Queue {
    uint32_t line;
    uint64_t end;              // when that request will be finished
    uint32_t owner = kNoOwner; // socket, or kNoOwner; it and `shared` are of the line when all in the queue are done
    bool shared = false;
    uint32_t last_core = 0; // the core that joined last, and its ticket
    uint64_t last_ticket = 0;
    uint32_t first_core = 0; // the core that was found first when last looked for, and its ticket
    uint64_t first_ticket = 0;
    uint64_t busy = 0; // cycles of all requests that have joined so far

    static constexpr uint32_t kNoOwner = UINT32_MAX;
};

class LineQueues {
  public:
    // A core that does not come within so many cycles after its turn (it was interrupted) has lost its place.
    static constexpr uint64_t kPatience = 4'000;

    struct Place {
        uint32_t line = kNoLine;
        uint64_t asked = 0;                           // when the request is at the home
        uint64_t start = 0;                           // when the home begins with it, as foreseen
        uint64_t turn = 0;                            // when the probe reaches the holder: until then the line is the holder's
        uint64_t reach = 0;                           // turn - start
        uint64_t busy = 0;                            // cycles until the home begins with the next, as foreseen
        uint64_t waited = 0;                          // cycles that the core was told to wait
        uint64_t before = 0;                          // busy cycles of the requests that joined before
        uint64_t ticket = 0;                          // of this place; no two are alike
        uint64_t ahead_ticket = 0, behind_ticket = 0; // 0: nobody
        uint32_t ahead_core = 0, behind_core = 0;
        Source awaited = Source::held; // where the line will come from, as foreseen

        bool valid(uint64_t now) const { return line != kNoLine && now <= turn + kPatience; }
    };

    Place &place(uint32_t core) { return places_[core]; }

    Place &join(Queue &queue, uint32_t core, const Place &joining)
    {
        Place &place = places_[core] = joining;
        place.ticket = ++tickets_;
        place.before = queue.busy;
        place.ahead_core = queue.last_core;
        place.ahead_ticket = queue.last_ticket;
        if (Place &last = places_[queue.last_core]; last.ticket == queue.last_ticket) {
            last.behind_core = core;
            last.behind_ticket = place.ticket;
        }
        queue.busy += place.busy;
        queue.last_core = core;
        queue.last_ticket = place.ticket;
        return place;
    }
    // A core is served and gives up its place.
    void leave(Queue *queue, Place &place)
    {
        if (queue && queue->first_ticket == place.ticket) {
            queue->first_core = place.behind_core;
            queue->first_ticket = place.behind_ticket;
        }
        place.line = kNoLine;
    }
    // The place before `place`, if its core has not been served yet and has not lost it.
    const Place *ahead(const Place &place, uint64_t now) const
    {
        const Place &before = places_[place.ahead_core];
        return place.ahead_ticket != 0 && before.ticket == place.ahead_ticket && before.line == place.line && before.valid(now)
                   ? &before
                   : nullptr;
    }

    // When the home, now free from `free` on, will begin with the request of `place` after all those before it.
    uint64_t start(Queue *queue, const Place &place, uint64_t free, uint64_t now) const
    {
        const Place &first = queue ? first_of(*queue, place, now) : walk_to_first(place, now);
        return std::max(std::max(first.start, free) + place.before - first.before, place.asked);
    }

    Queue *find(uint32_t line)
    {
        const auto found =
            std::find_if(queues_.begin(), queues_.end(), [line](const Queue &queue) { return queue.line == line; });
        return found == queues_.end() ? nullptr : &*found;
    }
    Queue &add(const Queue &queue) { return queues_.emplace_back(queue); }
    // Served in order: while the last one waits, the queue is there, whatever was foreseen.
    bool somebody_waits(const Queue &queue, uint64_t now) const
    {
        const Place &last = places_[queue.last_core];
        return queue.last_ticket != 0 && last.ticket == queue.last_ticket && last.line == queue.line && last.valid(now);
    }
    // Forgets the queues that have come to their end.
    void drop_finished(uint64_t now)
    {
        std::erase_if(queues_, [this, now](const Queue &queue) { return queue.end <= now && !somebody_waits(queue, now); });
    }
    size_t size() const { return queues_.size(); }
    void clear()
    {
        places_.fill({});
        queues_.clear();
    }

  private:
    const Place &walk_to_first(const Place &place, uint64_t now) const
    {
        const Place *first = &place;
        while (const Place *next = ahead(*first, now)) {
            first = next;
        }
        return *first;
    }
    // The same, remembered: with all cores in the queue the walk is long.
    const Place &first_of(Queue &queue, const Place &place, uint64_t now) const
    {
        const Place &known = places_[queue.first_core];
        if (queue.first_ticket != 0 && known.ticket == queue.first_ticket && known.line == queue.line && known.valid(now) &&
            known.ticket <= place.ticket && !ahead(known, now)) {
            return known;
        }
        const Place &first = walk_to_first(place, now);
        queue.first_core = static_cast<uint32_t>(&first - places_.data());
        queue.first_ticket = first.ticket;
        return first;
    }

    std::array<Place, kMaxCores> places_;
    uint64_t tickets_ = 0;
    std::vector<Queue> queues_;
};

} // namespace mosbench

#endif

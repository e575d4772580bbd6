// SPDX-License-Identifier: GPL-2.0-or-later
//
// One core's L1D, L1I and L2, and the filter through which the engine sees the L1s. The L2 holds what fell out of an L1 and
// nothing that is in one. A line may be in both L1s, but then it cannot be stored to without a call.
#ifndef MOSBENCH_MODEL_PRIVATE_CACHES_H
#define MOSBENCH_MODEL_PRIVATE_CACHES_H

#include "fast-engine/model/cache_array.h"
#include "fast-engine/model/model_abi.h"
#include "fast-engine/model/victim_array.h"

namespace mosbench {

class PrivateCaches {
  public:
    PrivateCaches(const Machine &machine, TagMemory &memory)
        : l1d_(machine.l1d, memory), l1i_(machine.l1i, memory), l2_(machine.l2, memory)
    {
    }

    // Null: no filter is kept and the engine asks about every access.
    void attach(model_filter *filter) { filter_ = filter; }
    void clear();

    // Whether the line is in the L1; it then is the one used last.
    bool touch_l1(uint32_t line, bool fetch) { return (fetch ? l1i_ : l1d_).touch(line); }
    // Brings a line into the L1 that is not there: one that the core has not, or that its L2 or its other L1 has. Returns the
    // line that left the core, or kNoLine.
    uint32_t fill(uint32_t line, bool fetch, bool held);
    // A store may not leave the core's own instruction cache with the old bytes. Call before show().
    void drop_instruction_copy(uint32_t line)
    {
        if (l1i_.remove(line)) {
            show_fetch(l1i_.set_of(line));
        }
    }
    // Takes a line away that is there.
    void remove(uint32_t line);

    // The line was used last: lets its next accesses pass. `modified`: stores too. `exchanged`: no loads and stores at all.
    void show(uint32_t line, bool fetch, bool modified, bool exchanged)
    {
        if (!filter_) {
            return;
        }
        if (fetch) {
            filter_->fetch[l1i_.set_of(line)] = line;
            hide_stores(line);
        } else {
            const uint32_t set = l1d_.set_of(line);
            const bool stores = modified && !l1i_.contains(line);
            const uint64_t place = exchanged ? MODEL_NO_PLACE : model_place(filter_, line);
            filter_->pass[set] = {place, stores ? place : MODEL_NO_PLACE};
            filter_->held_read = exchanged ? line : MODEL_NO_LINE;
            filter_->held_write = exchanged && stores ? line : MODEL_NO_LINE;
        }
    }
    // A line of code is in the L1I before the core came to it. The core's next fetch from that set is asked about: it may have to
    // wait, and until then nobody knows which line of the set was used last.
    void show_ahead(uint32_t line)
    {
        if (filter_) {
            filter_->fetch[l1i_.set_of(line)] = MODEL_NO_LINE;
            hide_stores(line);
        }
    }
    bool has_code(uint32_t line) const { return l1i_.contains(line); }
    // Others have it too, or are about to.
    void hide(uint32_t line)
    {
        if (filter_) {
            hide_in(l1d_.set_of(line), line);
        }
    }
    // The line is no longer modified here, or no longer only in the L1D.
    void hide_stores(uint32_t line)
    {
        if (!filter_) {
            return;
        }
        if (uint64_t &write = filter_->pass[l1d_.set_of(line)].write; write == model_place(filter_, line)) {
            write = MODEL_NO_PLACE;
        }
        if (filter_->held_write == line) {
            filter_->held_write = MODEL_NO_LINE;
        }
    }

    // Which of them have the line.
    struct Places {
        bool l1d, l1i, l2;
    };
    Places places(uint32_t line) const { return {l1d_.contains(line), l1i_.contains(line), l2_.contains(line)}; }

    // What fill() of a line that is not there will look at, and what it will push out of one level and the other.
    void prefetch_l1(uint32_t line) const
    {
        l1d_.prefetch(line);
        l1i_.prefetch(line); // it may have to be looked at for a store, and for what falls out of the L1D
        if (filter_) {
            prefetch_far(&filter_->pass[l1d_.set_of(line)]);
        }
    }
    uint32_t next_victim_of_l1(uint32_t line, bool fetch) const { return (fetch ? l1i_ : l1d_).next_victim(line); }
    void prefetch_l2_victim(uint32_t falling) const { l2_.prefetch_oldest(falling); }
    uint32_t next_victim_of_l2(uint32_t falling) const { return l2_.next_victim(falling); }

  private:
    // What is next in the set may be exchanged; the engine asks once, which changes nothing.
    void hide_in(uint32_t set, uint32_t line)
    {
        if (auto &pass = filter_->pass[set]; pass.read == model_place(filter_, line)) {
            pass = {MODEL_NO_PLACE, MODEL_NO_PLACE};
        }
        if (filter_->held_read == line) {
            filter_->held_read = filter_->held_write = MODEL_NO_LINE;
        }
    }
    void show_fetch(uint32_t set)
    {
        if (filter_) {
            filter_->fetch[set] = l1i_.last_used(set);
        }
    }

    CacheArray l1d_, l1i_;
    VictimArray l2_;
    model_filter *filter_ = nullptr;
};

} // namespace mosbench

#endif

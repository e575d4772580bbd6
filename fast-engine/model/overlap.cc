// SPDX-License-Identifier: GPL-2.0-or-later
#include "fast-engine/model/overlap.h"

#include <algorithm>

namespace mosbench {

namespace {

// Instructions from `earlier` on. Of an access of a helper the engine knows its block's end only: one behind may have a lower
// number.
uint64_t after(uint64_t instruction, uint64_t earlier)
{
    return instruction > earlier ? instruction - earlier : 0;
}

} // namespace

Overlap::Overlap(const Machine &machine)
    : on_(machine.works_ahead), l1_cycles_(machine.l1_cycles), hidden_(machine.hidden_cycles),
      window_(machine.window_instructions), most_stores_(machine.store_buffer_entries), most_loads_(machine.outstanding_misses),
      most_fetches_(machine.outstanding_stores), cores_(machine.cores())
{
    static_assert(kMostStores >= kMostStoreBuffer && kMostLoads >= kMostOutstanding && kMostFetches >= kMostOutstanding);
}

void Overlap::clear()
{
    std::fill(cores_.begin(), cores_.end(), Core{});
    for (model_filter *filter : filters_) {
        if (filter) {
            filter->stores_under_way = 0;
        }
    }
}

uint64_t Overlap::charge(const model_access &access, uint64_t latency, uint64_t away)
{
    Core &core = cores_[access.core];
    const uint64_t made = access.now - away; // when the core first came to it
    retire(core, made);
    uint64_t waited = 0;
    switch (access.kind) {
    case MODEL_READ:
    case MODEL_WALK:
        waited = latency + away == 0 ? 0 : load(core, access, latency, away);
        break;
    case MODEL_WRITE:
        waited = store(core, access, made, latency + away);
        core.ahead += away - std::min(waited, away);
        waited -= std::min(waited, away);
        break;
    case MODEL_ATOMIC:
        waited = std::max(drain(core, made), away) + latency - away;
        break;
    default: // a fetch; the core has nothing to do without
        waited = make_up(core, latency);
    }
    if (!filters_.empty() && filters_[access.core]) {
        filters_[access.core]->stores_under_way = core.store_count != 0;
    }
    return waited;
}

uint64_t Overlap::serialized(uint32_t core, uint64_t now)
{
    return on_ ? finish_loads(cores_[core], now) - now : 0;
}

// Whether its address comes from what the load brings, as far as is known, or from the page walk of the same instruction.
bool Overlap::needs(const model_access &access, const Load &load)
{
    if (load.walk) {
        return access.instruction == load.instruction;
    }
    return access.block == load.block ? access.origin.from_loads >> load.number & 1 : access.origin.from_registers & load.into;
}

// What of the wait is left when the core makes up for its standing still.
uint64_t Overlap::make_up(Core &core, uint64_t waited)
{
    const uint64_t made_up = std::min(core.ahead, waited);
    core.ahead -= made_up;
    return waited - made_up;
}

// It was made with the loads of its window for which the core has waited since, but after those that it needs and when there was
// room for it; the core goes on without it for a while.
uint64_t Overlap::load(Core &core, const model_access &access, uint64_t latency, uint64_t away)
{
    const uint64_t made = access.now - away, full = latency + away + l1_cycles_;
    uint64_t begin = made, earliest = 0;
    for (uint32_t back = 1; back <= most_loads_; back++) {
        const Load &known = core.loads[(core.next_load - back) % kMostLoads];
        if (after(access.instruction, known.instruction) > window_ || known.done == 0) {
            break;
        }
        begin -= std::min(begin, known.waited);
        if (needs(access, known) || back == most_loads_) {
            earliest = std::max(earliest, known.done);
        }
    }
    const uint64_t done = std::max(begin, earliest) + full;
    const uint64_t unnoticed = made + l1_cycles_ + hidden_;
    const uint64_t all = done > unnoticed ? done - unnoticed : 0;
    const uint64_t waited = all - std::min(all, away);
    const uint64_t left = make_up(core, waited);
    core.loads[core.next_load++ % kMostLoads] = {.instruction = access.instruction,
                                                 .block = access.block,
                                                 .done = done - (waited - left),
                                                 .waited = all,
                                                 .number = access.load,
                                                 .into = access.origin.into_registers,
                                                 .walk = access.kind == MODEL_WALK};
    return left;
}

// Where lines are written one after another by many instructions, each of them is written whole: the stores behind its miss are
// in the buffer too. They reach the L1 two in a cycle, an estimate.
uint64_t Overlap::store(Core &core, const model_access &access, uint64_t made, uint64_t latency)
{
    uint64_t waited = 0;
    if (access.line == core.stored_line + 1 && after(access.instruction, core.stored_at) >= kStoresOfALine) {
        for (uint32_t i = 1; i < kStoresOfALine; i++) {
            waited += buffer(core, made + waited, 0, i % 2);
        }
    }
    core.stored_line = access.line;
    core.stored_at = access.instruction;
    return waited + buffer(core, made + waited, latency, 1);
}

// When a store that comes into the buffer has its line: as soon as the latency allows if there is room for one more on its way.
uint64_t Overlap::fetched(Core &core, uint64_t made, uint64_t latency) const
{
    const uint64_t room = core.fetches[(core.next_fetch - most_fetches_) % kMostFetches];
    return core.fetches[core.next_fetch++ % kMostFetches] = std::max(made, room) + latency;
}

// One store into the buffer, which gives the stores to the caches in their order: its line comes after `latency`, and it takes
// `cycles` of its own.
uint64_t Overlap::buffer(Core &core, uint64_t made, uint64_t latency, uint64_t cycles)
{
    uint64_t waited = 0;
    retire(core, made);
    if (core.store_count == most_stores_) {
        waited = core.stores[core.oldest_store] - made; // retire() left none that is done
        core.oldest_store = (core.oldest_store + 1) % kMostStores;
        core.store_count--;
    }
    if (latency != 0 || core.store_count != 0) {
        uint64_t ready = made + waited;
        if (latency != 0) {
            ready = fetched(core, ready, latency);
        }
        core.last_store = std::max(core.last_store, ready) + cycles;
        core.stores[(core.oldest_store + core.store_count++) % kMostStores] = core.last_store;
    }
    return waited;
}

// When the loads under way are done; nothing behind overlaps with them.
uint64_t Overlap::finish_loads(Core &core, uint64_t now)
{
    uint64_t done = now;
    for (Load &load : core.loads) {
        done = std::max(done, load.done);
        load.done = 0;
    }
    core.ahead = 0;
    return done;
}

// The cycles until nothing of the core is under way.
uint64_t Overlap::drain(Core &core, uint64_t now)
{
    const uint64_t loads = finish_loads(core, now);
    const uint64_t done = core.store_count == 0 ? loads : std::max(loads, core.last_store);
    core.store_count = 0;
    return done - now;
}

void Overlap::retire(Core &core, uint64_t now)
{
    while (core.store_count != 0 && core.stores[core.oldest_store] <= now) {
        core.oldest_store = (core.oldest_store + 1) % kMostStores;
        core.store_count--;
    }
}

} // namespace mosbench

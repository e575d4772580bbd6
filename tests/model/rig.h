// SPDX-License-Identifier: GPL-2.0-or-later
//
// A model with filters that are honoured as the engine does, one access after the other unless a test says otherwise.
#ifndef MOSBENCH_TESTS_MODEL_RIG_H
#define MOSBENCH_TESTS_MODEL_RIG_H

#include <vector>

#include "fast-engine/model/coherence.h"
#include "tests/model/opteron.h"

namespace mosbench::test {

class Rig {
  public:
    explicit Rig(const Settings &settings, bool filtered = true)
        : machine(parse_machine(flat(settings))), filters(machine.cores()),
          model(machine, HomeMap(machine).lines(), filtered ? pointers() : std::vector<model_filter *>{})
    {
        model.count(true);
        node_lines = machine.node_mib << 14;
    }

    // Cycles of the access in all. The clock goes on by as many, and until the home has heard of it, so that nothing ever queues.
    uint64_t access(uint32_t core, uint32_t line, model_access_kind kind, uint64_t pc = 0x400000)
    {
        const uint64_t cycles = access_at(now, core, line, kind, pc);
        now += cycles + model.interconnect().way_cycles(machine.socket_of(core), HomeMap(machine).home(line));
        return cycles;
    }
    uint64_t access_at(uint64_t at, uint32_t core, uint32_t line, model_access_kind kind, uint64_t pc = 0x400000)
    {
        if (passes(core, line, kind) || (may_hold && holds(core, line, kind))) {
            return machine.l1_cycles;
        }
        const model_access access = {.now = at,
                                     .pc = pc,
                                     .address = 0x10000000 + uint64_t{line} * 64 + 8,
                                     .line = line,
                                     .core = static_cast<uint16_t>(core),
                                     .kind = static_cast<uint8_t>(kind),
                                     .kernel = 0,
                                     .may_defer = may_defer,
                                     .early = early,
                                     .size = 8,
                                     .load = 0,
                                     .block = 0,
                                     .instruction = 0,
                                     .origin = {}};
        calls++;
        const uint64_t answer = model.access(access);
        return answer & MODEL_DEFERRED ? answer : answer + machine.l1_cycles;
    }
    uint64_t read(uint32_t core, uint32_t line) { return access(core, line, MODEL_READ); }
    uint64_t write(uint32_t core, uint32_t line) { return access(core, line, MODEL_WRITE); }
    uint64_t fetch(uint32_t core, uint32_t line) { return access(core, line, MODEL_FETCH); }

    bool passes(uint32_t core, uint32_t line, model_access_kind kind) const
    {
        const model_filter &filter = filters[core];
        switch (kind) {
        case MODEL_READ:
        case MODEL_WALK:
            return attached && filter.pass[line % machine.l1d.sets].read == model_place(&filter, line);
        case MODEL_STREAM:
            return false;
        case MODEL_FETCH:
            return attached && filter.fetch[line % machine.l1i.sets] == line;
        default:
            return attached && filter.pass[line % machine.l1d.sets].write == model_place(&filter, line);
        }
    }

    // The engine's generated code lets such an access through where it is in the order of times.
    bool holds(uint32_t core, uint32_t line, model_access_kind kind) const
    {
        const model_filter &filter = filters[core];
        const bool write = kind == MODEL_WRITE || kind == MODEL_ATOMIC;
        return attached && kind != MODEL_FETCH && kind != MODEL_STREAM && (write ? filter.held_write : filter.held_read) == line;
    }

    uint32_t first_core(uint32_t socket) const { return socket * machine.cores_per_socket; }
    // A line of a node; different `which` that are below the number of L1 sets do not meet in a set.
    uint32_t line_of(uint32_t node, uint32_t which = 5) const { return node * node_lines + which; }
    const Entry &entry(uint32_t line) const { return model.entry(line); }
    State state(uint32_t line) const { return model.entry(line).state(); }
    const CoreRow &core(uint32_t core) { return model.records().core(core); }
    uint64_t messages(uint32_t home, uint32_t requester, Message kind)
    {
        return model.records().traffic(home, requester, static_cast<size_t>(kind)).messages;
    }
    // Makes a core read so many lines that `line` falls out of its L1 (and, with `levels` 2, out of its L2 as well). They are of
    // the same node and the same sets.
    void push_out(uint32_t core, uint32_t line, int levels)
    {
        const uint32_t stride = machine.l2.sets > machine.l1d.sets ? machine.l2.sets : machine.l1d.sets;
        const uint32_t others = machine.l1d.ways + (levels == 2 ? machine.l2.ways : 0);
        for (uint32_t i = 1; i <= others; i++) {
            read(core, line + i * stride);
        }
    }

    const Machine machine;
    std::vector<model_filter> filters;
    bool attached = false;
    bool may_defer = false, may_hold = false, early = false;
    Coherence model;
    uint32_t node_lines = 0;
    uint64_t now = 0;
    uint64_t calls = 0;

  private:
    std::vector<model_filter *> pointers()
    {
        attached = true;
        std::vector<model_filter *> pointers;
        for (model_filter &filter : filters) {
            filter.base = uint64_t{7} << 38; // anywhere
            pointers.push_back(&filter);
        }
        return pointers;
    }
};

} // namespace mosbench::test

#endif

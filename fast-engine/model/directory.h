// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where every line is cached, exactly. The hardware's homes know only what the probe filter holds; the model decides by the
// filter which probes are sent and by the directory which of them meet a copy.
#ifndef MOSBENCH_MODEL_DIRECTORY_H
#define MOSBENCH_MODEL_DIRECTORY_H

#include <cstdint>

#include "native/mapped_array.h"

namespace mosbench {

// Of the line as a whole. In modified, exclusive and owned one holder is the owner; in modified and exclusive it is the only
// one. Owned and modified: memory is out of date.
enum class State : uint64_t { invalid, shared, exclusive, owned, modified };

// 16 bytes, so that streaming through memory costs the host one of its cache lines for four of the guest's.
struct Entry {
    uint64_t cores;  // mask of the cores that hold a copy
    uint64_t l3 : 8; // mask of the sockets whose L3 holds a copy
    uint64_t owner : 8;
    uint64_t state_bits : 3;
    uint64_t queued : 1;      // the line may have a queue
    uint64_t exchanged : 1;   // cores have it from each other: the order of their hits matters too
    uint64_t busy_until : 43; // end of the last transaction at the home; 43 bits of cycles are an hour

    // Owners: 0 nobody, then the cores, then the L3s.
    static constexpr uint64_t kNobody = 0;
    static constexpr uint64_t kFirstL3 = 65;
    static constexpr uint64_t core_as_owner(uint32_t core) { return core + 1; }
    static constexpr uint64_t l3_as_owner(uint32_t socket) { return kFirstL3 + socket; }

    State state() const { return static_cast<State>(state_bits); }
    void set_state(State state) { state_bits = static_cast<uint64_t>(state); }
    bool dirty() const { return state() == State::modified || state() == State::owned; }
    bool writable() const { return state() == State::modified || state() == State::exclusive; }
    bool in_core(uint32_t core) const { return cores >> core & 1; }
    bool in_l3(uint32_t socket) const { return l3 >> socket & 1; }
    bool cached() const { return cores != 0 || l3 != 0; }
    bool owned_by_core() const { return owner != kNobody && owner < kFirstL3; }
    uint32_t owner_core() const { return static_cast<uint32_t>(owner - 1); }
    uint32_t owner_l3() const { return static_cast<uint32_t>(owner - kFirstL3); }
    void add_core(uint32_t core) { cores |= uint64_t{1} << core; }
    void drop_core(uint32_t core) { cores &= ~(uint64_t{1} << core); }
    void add_l3(uint32_t socket) { l3 |= uint64_t{1} << socket & 0xff; }
    void drop_l3(uint32_t socket) { l3 &= ~(uint64_t{1} << socket) & 0xff; }
};
static_assert(sizeof(Entry) == 16);

using Directory = MappedArray<Entry>;

} // namespace mosbench

#endif

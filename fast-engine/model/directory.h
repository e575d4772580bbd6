// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where every line is cached, exactly. The hardware's homes know only what the probe filter holds; the model decides by the
// filter which probes are sent and by the directory which of them meet a copy.
#ifndef MOSBENCH_MODEL_DIRECTORY_H
#define MOSBENCH_MODEL_DIRECTORY_H

#include <cstdint>
#include <source_location>

#include "fast-engine/model/bits.h"
#include "fast-engine/model/invariant.h"
#include "native/mapped_array.h"

namespace mosbench {

// Of the line as a whole. In modified, exclusive and owned one holder is the owner; in modified and exclusive it is the only
// one. Owned and modified: memory is out of date.
enum class State : uint64_t { invalid, shared, exclusive, owned, modified };

// 16 bytes, so that streaming through memory costs the host one of its cache lines for four of the guest's.
class Entry {
  public:
    uint64_t cores; // mask of the cores that hold a copy

    // Owners: 0 nobody, then the cores, then the L3s.
    static constexpr uint64_t kNobody = 0;
    static constexpr uint64_t kFirstL3 = 65;
    static constexpr uint64_t core_as_owner(uint32_t core) { return core + 1; }
    static constexpr uint64_t l3_as_owner(uint32_t socket) { return kFirstL3 + socket; }

    // Mask of the sockets whose L3 holds a copy.
    uint64_t l3() const { return get<kL3>(); }
    void set_l3(uint64_t mask) { set<kL3>(mask); }
    uint64_t owner() const { return get<kOwner>(); }
    void set_owner(uint64_t owner) { set<kOwner>(owner); }
    State state() const { return static_cast<State>(get<kState>()); }
    void set_state(State state) { set<kState>(static_cast<uint64_t>(state)); }
    // The line may have a queue.
    bool queued() const { return get<kQueued>() != 0; }
    void set_queued() { set<kQueued>(1); }
    // Cores have it from each other: the order of their hits matters too.
    bool exchanged() const { return get<kExchanged>() != 0; }
    void set_exchanged(bool exchanged) { set<kExchanged>(exchanged); }
    // End of the last transaction at the home.
    uint64_t busy_until() const { return get<kBusyUntil>(); }
    void set_busy_until(uint64_t end) { set<kBusyUntil>(end); }

    bool dirty() const { return state() == State::modified || state() == State::owned; }
    bool writable() const { return state() == State::modified || state() == State::exclusive; }
    bool in_core(uint32_t core) const { return cores >> core & 1; }
    bool in_l3(uint32_t socket) const { return l3() >> socket & 1; }
    bool cached() const { return cores != 0 || l3() != 0; }
    bool owned_by_core() const { return owner() != kNobody && owner() < kFirstL3; }
    uint32_t owner_core() const { return static_cast<uint32_t>(owner() - 1); }
    uint32_t owner_l3() const { return static_cast<uint32_t>(owner() - kFirstL3); }
    void add_core(uint32_t core) { cores |= uint64_t{1} << core; }
    void drop_core(uint32_t core) { cores &= ~bit(core); }
    void add_l3(uint32_t socket) { set_l3(l3() | bit(socket)); }
    void drop_l3(uint32_t socket) { set_l3(l3() & ~bit(socket)); }

    // The rules of the protocol for the line as it is between two steps; ends the program where one is broken. (That it has one
    // owner at most is in the way that is kept.)
    void check(uint32_t line, const std::source_location where = std::source_location::current()) const
    {
        if (!consistent()) [[unlikely]] {
            broken_invariant(broken_rule(), line, where);
        }
    }
    // The first of them that is broken, or null.
    const char *broken_rule() const;

  private:
    // Not bit fields: compilers write those by the byte, and a host that reads a word of which it has just written a byte waits.
    struct Field {
        uint32_t at, bits;
    };
    static constexpr Field kL3 = {0, 8}, kOwner = {8, 8}, kState = {16, 3}, kQueued = {19, 1}, kExchanged = {20, 1};
    static constexpr Field kBusyUntil = {21, 43}; // 43 bits of cycles are an hour

    // broken_rule() is null. By state, since this is asked after each step.
    bool consistent() const
    {
        if (writable()) {
            return owned_by_core() ? cores == bit(owner_core()) && l3() == 0
                                   : owned_by_l3() && cores == 0 && l3() == bit(owner_l3());
        }
        if (state() == State::owned) {
            return owner_holds_it();
        }
        return owner() == kNobody && cached() == (state() != State::invalid);
    }
    bool owned_by_l3() const { return owner() >= kFirstL3; }
    bool owner_holds_it() const { return owned_by_core() ? in_core(owner_core()) : owned_by_l3() && in_l3(owner_l3()); }

    template <Field F> static constexpr uint64_t kMask = (uint64_t{1} << F.bits) - 1;
    template <Field F> uint64_t get() const { return fields_ >> F.at & kMask<F>; }
    template <Field F> void set(uint64_t value) { fields_ = (fields_ & ~(kMask<F> << F.at)) | (value & kMask<F>) << F.at; }

    uint64_t fields_;
};
static_assert(sizeof(Entry) == 16);

using Directory = MappedArray<Entry>;

} // namespace mosbench

#endif

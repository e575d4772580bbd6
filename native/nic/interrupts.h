// SPDX-License-Identifier: BSD-3-Clause
//
// From causes to messages: the MSI-X table with its masks and pending bits, the enable bits, moderation. Without MSI-X the card
// says nothing: no driver of ours asks for a pin.
//
// The cause of a queue is the bit of its vector; the low 16 of EICR are those of the first vectors. The upper 16 are other
// causes, which share one vector.
#ifndef MOSBENCH_NATIVE_NIC_INTERRUPTS_H
#define MOSBENCH_NATIVE_NIC_INTERRUPTS_H

#include <cstdint>
#include <optional>

#include "native/nic/host.h"
#include "native/nic/settings.h"
#include "native/nic/state.h"

namespace mosbench::nic {

inline constexpr uint32_t kMsixTableBytes = kVectors * 16, kMsixPending = 0x2000, kMsixBytes = 0x4000;

class Interrupts {
  public:
    Interrupts(State &state, const Settings &settings, Host &host) : state_(state), settings_(settings), host_(host) {}

    // Causes.
    void received(uint32_t queue) { queue_cause(queue, 0); }
    void sent(uint32_t queue) { queue_cause(queue, 1); }
    void other(uint32_t causes);
    // Of the vector of a transmit queue. It also paces the write-back of descriptors.
    uint64_t transmit_interval_ns(uint32_t queue) const;

    // Sends what is due; returns when the next message could be.
    uint64_t run(uint64_t now);

    // Registers. True: it is one of ours.
    bool write(uint32_t offset, uint32_t value, uint64_t now);
    std::optional<uint32_t> read(uint32_t offset);
    uint32_t read_table(uint32_t offset) const;
    void write_table(uint32_t offset, uint32_t value, uint64_t now);
    // Message control in configuration space.
    void enable(bool on, bool all_masked, uint64_t now);
    void enable_msi(bool on, uint64_t address, uint32_t data, uint64_t now);
    void reset();

  private:
    std::optional<uint32_t> vector_of(uint32_t queue, uint32_t transmit) const;
    std::optional<uint32_t> other_vector() const;
    void queue_cause(uint32_t queue, uint32_t transmit);
    void raise(uint64_t vectors);
    void set_enabled(uint64_t vectors, uint32_t others, uint64_t now);
    uint64_t interval_ns(uint32_t vector) const;
    bool masked(uint32_t vector) const { return self().all_masked || self().table[vector].control & 1; }
    void send(uint32_t vector);
    void deliver(uint32_t vector, uint64_t now);
    uint64_t run_msi(uint64_t now);
    void look_later(uint64_t now);
    InterruptState &self() { return state_.interrupts; }
    const InterruptState &self() const { return state_.interrupts; }

    State &state_;
    const Settings &settings_;
    Host &host_;
};

} // namespace mosbench::nic

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// From transmit descriptors to frames on the wire. Queues take turns, a packet each; several packets are read from memory at a
// time, and leave in the order in which they began.
#ifndef MOSBENCH_NATIVE_NIC_TRANSMIT_H
#define MOSBENCH_NATIVE_NIC_TRANSMIT_H

#include <cstdint>
#include <span>

#include "native/nic/host.h"
#include "native/nic/interrupts.h"
#include "native/nic/ring.h"
#include "native/nic/settings.h"
#include "native/nic/state.h"
#include "native/nic/token.h"

namespace mosbench::nic {

class Transmit {
  public:
    Transmit(State &state, const Settings &settings, Host &host, Interrupts &interrupts)
        : state_(state), settings_(settings), host_(host), interrupts_(interrupts)
    {
    }

    // Does what can be done; returns when there will be more, DMA apart. `progress` is set if it did something.
    uint64_t run(uint64_t now, bool &progress);

    void enable(uint32_t queue, bool on);
    void tail_written(uint32_t queue, uint64_t now) { view(queue).tail_written(now, settings_.doorbell_ns); }

    void descriptors_read(uint32_t queue, std::span<const uint8_t> data, bool good);
    void payload_read(uint32_t slot, uint32_t piece, std::span<const uint8_t> data, bool good);
    void written_back(uint32_t queue, bool last, bool good);

  private:
    RingView view(uint32_t queue) { return {state_, kTransmitRing, state_.transmit[queue].ring, queue}; }
    bool may_begin(uint32_t queue) const;
    bool begin_packet(uint32_t queue);
    bool take_descriptor(uint32_t queue);
    Transmission &assembled(uint32_t queue, const Descriptor &descriptor);
    void add_piece(uint32_t slot, const Descriptor &descriptor);
    bool finish_oldest(uint64_t now);
    void send(Transmission &packet, uint64_t now);
    void put_on_wire(uint32_t queue, std::span<const uint8_t> frame, uint64_t now);
    uint64_t report(uint32_t queue, uint64_t now, bool &progress);

    State &state_;
    const Settings &settings_;
    Host &host_;
    Interrupts &interrupts_;
};

} // namespace mosbench::nic

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// From frames on the wire to receive descriptors. A frame waits in the FIFO until its queue has descriptors; one whose queue has
// none holds up all behind it, unless the driver allows the card to drop it.
#ifndef MOSBENCH_NATIVE_NIC_RECEIVE_H
#define MOSBENCH_NATIVE_NIC_RECEIVE_H

#include <cstdint>
#include <span>
#include <vector>

#include "native/nic/flow_director.h"
#include "native/nic/headers.h"
#include "native/nic/host.h"
#include "native/nic/interrupts.h"
#include "native/nic/ring.h"
#include "native/nic/settings.h"
#include "native/nic/state.h"
#include "native/nic/token.h"

namespace mosbench::nic {

class Receive {
  public:
    Receive(State &state, const Settings &settings, Host &host, Interrupts &interrupts, FlowDirector &director)
        : state_(state), settings_(settings), host_(host), interrupts_(interrupts), director_(director)
    {
    }

    // A frame has come in: into the FIFO, or it is dropped and counted.
    void frame_in(std::span<const uint8_t> frame);
    // Whether the FIFO has room for a frame of so many bytes.
    bool has_room(size_t bytes) const;
    uint64_t run(uint64_t now, bool &progress);

    void enable(uint32_t queue, bool on);
    void tail_written(uint32_t queue, uint64_t now) { view(queue).tail_written(now, settings_.doorbell_ns); }

    void descriptors_read(uint32_t queue, std::span<const uint8_t> data, bool good);
    void payload_written(uint32_t slot, bool good);
    void written_back(uint32_t slot, bool good);

  private:
    // How a queue's descriptors take a frame.
    struct Layout {
        bool header_buffer;    // descriptors have two buffers
        bool split;            // the frame's headers are apart from the rest
        uint32_t header_bytes; // into the header buffer
        uint32_t buffer_bytes; // of each packet buffer
        uint32_t descriptors;
    };
    enum class Taken : uint8_t { yes, dropped, waits };

    RingView view(uint32_t queue) { return {state_, kReceiveRing, state_.receive[queue], queue}; }
    bool accepted(std::span<const uint8_t> frame) const;
    Taken take_oldest(uint64_t now);
    Layout layout(uint32_t queue, const Headers &headers, uint32_t bytes) const;
    void place(const Layout &layout, const Headers &headers, uint32_t slot);
    void write(uint32_t slot, uint64_t address, std::span<const uint8_t> data);
    bool advance(Reception &reception, uint32_t slot);
    void write_back(Reception &reception, uint32_t slot);

    State &state_;
    const Settings &settings_;
    Host &host_;
    Interrupts &interrupts_;
    FlowDirector &director_;
    std::vector<uint8_t> frame_; // the one at the head of the FIFO
};

} // namespace mosbench::nic

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// An Intel 82599 (8086:10F9) as a driver sees it. The adapter of an engine brings register accesses, frames from the wire,
// answers of DMA and the time; what the card wants goes to its Host. Nothing is done in a register write but to take notice of
// it: the work follows when the host calls wake().
#ifndef MOSBENCH_NATIVE_NIC_CARD_H
#define MOSBENCH_NATIVE_NIC_CARD_H

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "native/nic/flow_director.h"
#include "native/nic/host.h"
#include "native/nic/interrupts.h"
#include "native/nic/receive.h"
#include "native/nic/settings.h"
#include "native/nic/state.h"
#include "native/nic/transmit.h"

namespace mosbench::nic {

class Card {
  public:
    Card(const Settings &settings, Host &host);

    // BAR 0, 32 bits at a time: of a 64-bit access the low word first. BAR 4: the MSI-X table.
    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);
    uint32_t read_msix(uint32_t offset) const;
    void write_msix(uint32_t offset, uint32_t value);
    // The message control word of the MSI-X capability was written.
    void set_msix(bool on, bool all_masked);
    // The MSI capability was written: one message for all causes.
    void set_msi(bool on, uint64_t address, uint32_t data);

    void frame_in(std::span<const uint8_t> frame);
    // Whether one of so many bytes would not be dropped for want of room.
    bool has_room(size_t bytes) const { return receive_.has_room(bytes); }
    void wake();
    // `data`: what was read. `good`: the address was memory.
    void dma_done(uint32_t token, std::span<const uint8_t> data, bool good);
    // As when power comes on, PCI's part included.
    void power_on();

    std::vector<uint8_t> save() const;
    // False: `saved` is of another version, and the card is as it was.
    bool load(std::span<const uint8_t> saved);

    const State &state() const { return *state_; }
    const Totals &totals() const { return state_->totals; }

  private:
    void reset();
    void run();
    void wake_at(uint64_t ns);
    bool write_queue(uint32_t offset, uint32_t value);
    bool write_control(uint32_t offset, uint32_t value);
    void switch_queue(uint32_t offset, uint32_t queue, uint32_t value);

    const Settings settings_;
    Host &host_;
    const std::unique_ptr<State> state_;
    Interrupts interrupts_;
    FlowDirector director_;
    Transmit transmit_;
    Receive receive_;
    bool running_ = false;
};

} // namespace mosbench::nic

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// A ring of descriptors in guest memory, as the card reads it: some ahead, whole lines where there are as many.
#ifndef MOSBENCH_NATIVE_NIC_RING_H
#define MOSBENCH_NATIVE_NIC_RING_H

#include <cstdint>
#include <span>

#include "native/nic/host.h"
#include "native/nic/state.h"
#include "native/nic/token.h"

namespace mosbench::nic {

// Where the registers of queue 0 are, and what its reads are called.
struct RingPlace {
    uint32_t base_low, base_high, length, head, tail;
    Dma reads;
};
inline constexpr RingPlace kReceiveRing = {reg::RDBAL, reg::RDBAH, reg::RDLEN, reg::RDH, reg::RDT, Dma::receive_descriptors};
inline constexpr RingPlace kTransmitRing = {reg::TDBAL, reg::TDBAH, reg::TDLEN, reg::TDH, reg::TDT, Dma::transmit_descriptors};

inline void set_bit(uint64_t &set, uint32_t n, bool on)
{
    set = on ? set | uint64_t{1} << n : set & ~(uint64_t{1} << n);
}

class RingView {
  public:
    RingView(State &state, const RingPlace &place, Ring &ring, uint32_t queue)
        : state_(state), place_(place), ring_(ring), queue_(queue)
    {
    }

    // In descriptors, a multiple of 8; 0: there is no ring.
    uint32_t size() const { return (state_.queue(place_.length, queue_) & 0xFFF80) / kDescriptorBytes; }
    // It can be read: positions that a driver wrote beyond its end stop it.
    bool usable() const
    {
        return ring_.enabled && !ring_.broken && ring_.known_tail < size() && ring_.next < size() && ring_.head < size();
    }
    uint64_t address(uint32_t index) const
    {
        const uint64_t base = uint64_t{state_.queue(place_.base_high, queue_)} << 32 | state_.queue(place_.base_low, queue_);
        return (base & ~uint64_t{127}) + uint64_t{index} * kDescriptorBytes;
    }
    uint32_t after(uint32_t index, uint32_t count) const { return (index + count) % size(); }
    // The oldest descriptor that was read ahead.
    uint32_t first_cached() const { return after(ring_.next, size() - ring_.cached % size()); }
    const Descriptor &cached(uint32_t n) const { return ring_.cache[(ring_.cached_from + n) % kReadAhead]; }
    void take(uint32_t count)
    {
        ring_.cached_from = (ring_.cached_from + count) % kReadAhead;
        ring_.cached -= count;
    }

    void enable(bool on);
    void tail_written(uint64_t now, uint32_t delay_ns);
    void notice_tail(uint64_t now);
    // Descriptors beyond those read ahead, known or on their way.
    bool more() const { return ring_.reading || ring_.known_tail != ring_.next; }
    // Starts a read if there is something to read and room. False: it did not.
    bool read_ahead(Host &host);
    // The answer to it. False: the memory is not there.
    bool was_read(std::span<const uint8_t> data, bool good);

    void set_head(uint32_t head) { ring_.head = state_.queue(place_.head, queue_) = head; }

  private:
    State &state_;
    const RingPlace &place_;
    Ring &ring_;
    uint32_t queue_;
};

} // namespace mosbench::nic

#endif

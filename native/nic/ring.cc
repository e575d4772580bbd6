// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/ring.h"

#include <algorithm>
#include <cstring>

namespace mosbench::nic {

namespace {

// With enough in hand for any frame the card waits until it can read two lines at once.
constexpr uint32_t kWorthReading = 8;

} // namespace

void RingView::enable(bool on)
{
    const uint8_t generation = ring_.generation;
    const uint32_t head = state_.queue(place_.head, queue_);
    ring_ = {};
    ring_.generation = static_cast<uint8_t>(generation + 1);
    ring_.enabled = on;
    ring_.head = ring_.next = ring_.known_tail = head;
    ring_.notice_ns = kNever;
}

// The first write of several decides when the card looks: a driver that writes often must not put it off.
void RingView::tail_written(uint64_t now, uint32_t delay_ns)
{
    if (ring_.enabled) {
        ring_.notice_ns = std::min(ring_.notice_ns, now + delay_ns);
    }
}

void RingView::notice_tail(uint64_t now)
{
    if (ring_.notice_ns <= now) {
        ring_.notice_ns = kNever;
        ring_.known_tail = state_.queue(place_.tail, queue_);
    }
}

bool RingView::read_ahead(Host &host)
{
    if (!usable() || ring_.reading) {
        return false;
    }
    const uint32_t there = after(ring_.known_tail, size() - ring_.next);
    const uint32_t count = std::min({there, kReadAhead - ring_.cached, size() - ring_.next});
    if (count == 0 || (ring_.cached >= kMaxPieces && count < kWorthReading)) {
        return false;
    }
    ring_.reading = true;
    state_.totals.dma_reads++;
    const Token token{place_.reads, static_cast<uint8_t>(queue_), ring_.generation, state_.generation, 0};
    host.dma_read(address(ring_.next), count * kDescriptorBytes, token.packed());
    return true;
}

bool RingView::was_read(std::span<const uint8_t> data, bool good)
{
    ring_.reading = false;
    const auto count = static_cast<uint32_t>(data.size() / kDescriptorBytes);
    if (!good || ring_.next + count > size() || ring_.cached + count > kReadAhead) {
        ring_.broken = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        std::memcpy(&ring_.cache[(ring_.cached_from + ring_.cached + i) % kReadAhead], &data[i * kDescriptorBytes],
                    kDescriptorBytes);
    }
    ring_.cached += count;
    ring_.next = after(ring_.next, count);
    return true;
}

} // namespace mosbench::nic

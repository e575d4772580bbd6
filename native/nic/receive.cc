// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/receive.h"

#include <algorithm>
#include <bit>

#include "native/nic/counters.h"
#include "native/nic/fifo.h"
#include "native/nic/pace.h"
#include "native/nic/steering.h"

namespace mosbench::nic {

namespace {

constexpr uint32_t kSplit = 2, kSplitAlways = 5; // SRRCTL.DESCTYPE
constexpr uint32_t kAddresses = 16;              // receive addresses that are looked at

// Write-back: word 0 has RSS type 3:0, packet type 15:4 and the header's length 30:21 with the split bit 31; word 2 status and
// errors. The types are bits of the word.
constexpr uint32_t kTypeIp = 0x10, kTypeTcp = 0x100, kTypeUdp = 0x200;
constexpr uint32_t kDone = 1, kEndOfPacket = 2, kDirector = 4, kL4Checked = 1u << 5, kIpChecked = 1u << 6;
constexpr uint32_t kErrorFrame = 1u << 29, kErrorL4 = 1u << 30, kErrorIp = 1u << 31;

uint32_t packet_type(const Headers &headers)
{
    return (headers.ip ? kTypeIp : 0) | (!headers.ports ? 0 : headers.protocol == kTcp ? kTypeTcp : kTypeUdp);
}

uint32_t status_of(const Headers &headers)
{
    uint32_t status = headers.ip ? kIpChecked | (headers.ip_good ? 0 : kErrorIp) : 0;
    if (headers.ports && headers.checked) {
        status |= kL4Checked | (headers.good ? 0 : kErrorL4);
    }
    return status;
}

} // namespace

void Receive::enable(uint32_t queue, bool on)
{
    view(queue).enable(on);
    set_bit(state_.receive_on, queue, on);
    for (uint32_t i = 0; i < state_.receptions_under_way; i++) {
        Reception &reception = state_.receptions[(state_.first_reception + i) % kReceptions];
        reception.abandoned |= reception.queue == queue;
    }
}

bool Receive::accepted(std::span<const uint8_t> frame) const
{
    const uint32_t control = state_.at(reg::FCTRL);
    if (frame[0] & 1) {
        const bool all_ones = std::all_of(frame.begin(), frame.begin() + 6, [](uint8_t byte) { return byte == 0xFF; });
        return control & (all_ones ? bits::FCTRL_BROADCAST | bits::FCTRL_MULTICAST : bits::FCTRL_MULTICAST);
    }
    if (control & bits::FCTRL_UNICAST) {
        return true;
    }
    for (uint32_t i = 0; i < kAddresses; i++) {
        const uint32_t low = state_.at(reg::RAL + i * 8), high = state_.at(reg::RAL + 4 + i * 8);
        const uint64_t address = uint64_t{high & 0xFFFF} << 32 | low; // the first byte on the wire is the lowest
        uint64_t wanted = 0;
        for (uint32_t byte = 6; byte-- > 0;) {
            wanted = wanted << 8 | frame[byte];
        }
        if ((high & bits::RAH_VALID) && address == wanted) {
            return true;
        }
    }
    return false;
}

void Receive::frame_in(std::span<const uint8_t> frame)
{
    Totals &totals = state_.totals;
    if (!(state_.at(reg::RXCTRL) & bits::RXCTRL_RXEN)) {
        totals.dropped_disabled++;
    } else if (frame.size() < kEthernetHeader || frame.size() > kMaxFrame) {
        state_.at(frame.size() > kMaxFrame ? reg::ROC : reg::RUC)++;
        totals.dropped_length++;
    } else if (!accepted(frame)) {
        state_.at(reg::TPR)++;
        totals.dropped_address++;
    } else if (!has_room(frame.size())) {
        state_.at(reg::MPC)++;
        totals.dropped_fifo++;
    } else {
        fifo_put(state_.fifo, frame);
    }
}

bool Receive::has_room(size_t bytes) const
{
    return fifo_fits(state_.fifo, static_cast<uint32_t>(bytes), std::min(settings_.fifo_bytes, state_.at(reg::RXPBSIZE)));
}

uint64_t Receive::run(uint64_t now, bool &progress)
{
    uint64_t next = kNever;
    for (uint64_t rest = state_.receive_on; rest != 0; rest &= rest - 1) {
        const auto queue = static_cast<uint32_t>(std::countr_zero(rest));
        view(queue).notice_tail(now);
        next = std::min(next, state_.receive[queue].notice_ns);
        progress |= view(queue).read_ahead(host_);
    }
    while (state_.fifo.count != 0 && state_.receptions_under_way < kReceptions) {
        if (state_.receive_free_ns > now) {
            next = std::min(next, state_.receive_free_ns);
            break;
        }
        const Taken taken = take_oldest(now);
        if (taken == Taken::waits) {
            break;
        }
        fifo_drop(state_.fifo);
        state_.chosen = false;
        progress = true;
    }
    for (uint32_t i = 0; i < state_.receptions_under_way; i++) {
        const uint32_t slot = (state_.first_reception + i) % kReceptions;
        progress |= advance(state_.receptions[slot], slot);
    }
    while (state_.receptions_under_way != 0 && state_.receptions[state_.first_reception].awaited == 0 &&
           (state_.receptions[state_.first_reception].reported || state_.receptions[state_.first_reception].abandoned)) {
        state_.first_reception = (state_.first_reception + 1) % kReceptions;
        state_.receptions_under_way--;
        progress = true;
    }
    return next;
}

Receive::Taken Receive::take_oldest(uint64_t now)
{
    fifo_look(state_.fifo, frame_);
    const auto bytes = static_cast<uint32_t>(frame_.size());
    const Headers headers = parse(frame_);
    if (!state_.chosen) {
        state_.choice = choose_queue(state_, settings_, director_, headers);
        state_.chosen = true;
    }
    const Choice &choice = state_.choice;
    Ring &ring = state_.receive[choice.queue % kQueues];
    if (choice.drop || !ring.enabled) {
        state_.totals.dropped_filter++;
        return Taken::dropped;
    }
    const Layout how = layout(choice.queue, headers, bytes);
    RingView descriptors = view(choice.queue);
    if (!descriptors.usable() || ring.cached < how.descriptors) {
        const bool coming = descriptors.usable() && descriptors.more() && ring.cached + how.descriptors <= kReadAhead;
        if (coming || !(state_.queue(reg::SRRCTL, choice.queue) & bits::SRRCTL_DROP)) {
            return Taken::waits;
        }
        count_queue_dropped(state_, choice.queue);
        state_.totals.dropped_no_descriptor++;
        return Taken::dropped;
    }
    state_.receive_free_ns = std::max(state_.receive_free_ns, now) +
                             packet_ns(settings_.receive, queues_in_use(state_.receive_in_use, choice.queue, now));
    const uint32_t slot = (state_.first_reception + state_.receptions_under_way++) % kReceptions;
    Reception &reception = state_.receptions[slot];
    reception.queue = choice.queue;
    reception.generation++;
    reception.awaited = reception.failed = reception.abandoned = reception.reported = 0;
    reception.descriptors = static_cast<uint8_t>(how.descriptors);
    reception.first = descriptors.first_cached();
    reception.bytes = bytes;
    count_received(state_, frame_);
    place(how, headers, slot);
    return Taken::yes;
}

Receive::Layout Receive::layout(uint32_t queue, const Headers &headers, uint32_t bytes) const
{
    const uint32_t control = state_.queue(reg::SRRCTL, queue), type = control >> 25 & 7;
    const uint32_t header_room = (control >> 8 & 0x3F) * 64;
    Layout how{};
    how.buffer_bytes = std::max(control & 0x1F, 1u) * 1024;
    how.header_buffer = (type == kSplit || type == kSplitAlways) && header_room != 0;
    how.split = how.header_buffer && headers.ports && headers.bytes <= header_room;
    if (how.split) {
        how.header_bytes = headers.bytes;
    } else if (how.header_buffer && type == kSplitAlways) {
        how.header_bytes = std::min(bytes, header_room);
    }
    how.descriptors = std::max((bytes - how.header_bytes + how.buffer_bytes - 1) / how.buffer_bytes, 1u);
    return how;
}

// Data into the buffers, and what the descriptors will say.
void Receive::place(const Layout &how, const Headers &headers, uint32_t slot)
{
    Reception &reception = state_.receptions[slot];
    RingView ring = view(reception.queue);
    const std::span<const uint8_t> frame(frame_);
    const uint32_t header_info = how.header_bytes << 5 | (how.split ? 1u << 15 : 0);
    uint32_t at = how.header_bytes;
    for (uint32_t i = 0; i < how.descriptors; i++) {
        const uint32_t piece = std::min(how.buffer_bytes, reception.bytes - at);
        const bool last = i + 1 == how.descriptors;
        const uint32_t word0 = state_.choice.rss_type | packet_type(headers) | (i == 0 ? header_info << 16 : 0);
        const uint32_t word2 = kDone | (state_.choice.director ? kDirector : 0) | (last ? kEndOfPacket | status_of(headers) : 0);
        reception.write_back[i] = {uint64_t{state_.choice.rss_hash} << 32 | word0, uint64_t{piece} << 32 | word2};
        at += piece;
    }
    // The writes may be answered at once.
    at = how.header_bytes;
    if (how.header_bytes != 0) {
        write(slot, ring.cached(0).second & ~uint64_t{1}, frame.first(how.header_bytes));
    }
    for (uint32_t i = 0; i < how.descriptors; i++) {
        const uint32_t piece = std::min(how.buffer_bytes, reception.bytes - at);
        if (piece != 0) {
            write(slot, ring.cached(i).first, frame.subspan(at, piece));
        }
        at += piece;
    }
    ring.take(how.descriptors);
}

void Receive::write(uint32_t slot, uint64_t address, std::span<const uint8_t> data)
{
    Reception &reception = state_.receptions[slot];
    reception.awaited++;
    state_.totals.dma_writes++;
    const Token token{Dma::receive_payload, static_cast<uint8_t>(slot), reception.generation, state_.generation, 0};
    host_.dma_write(address, data, token.packed());
}

// The descriptors are written when the data are in memory, and those of a queue in their order.
bool Receive::advance(Reception &reception, uint32_t slot)
{
    if (reception.reported || reception.abandoned || reception.awaited != 0) {
        return false;
    }
    for (uint32_t i = state_.first_reception; i != slot; i = (i + 1) % kReceptions) {
        const Reception &earlier = state_.receptions[i];
        if (earlier.queue == reception.queue && !earlier.abandoned && !(earlier.reported && earlier.awaited == 0)) {
            return false;
        }
    }
    write_back(reception, slot);
    return true;
}

void Receive::write_back(Reception &reception, uint32_t slot)
{
    RingView ring = view(reception.queue);
    reception.reported = true;
    if (ring.size() == 0 || reception.first >= ring.size()) {
        return; // the driver took the ring away
    }
    if (reception.failed) {
        reception.write_back[reception.descriptors - 1u].second |= kErrorFrame;
    }
    const uint32_t before_end = std::min<uint32_t>(reception.descriptors, ring.size() - reception.first);
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(reception.write_back.data()),
                                         reception.descriptors * kDescriptorBytes);
    const Token token{Dma::receive_write_back, static_cast<uint8_t>(slot), reception.generation, state_.generation, 0};
    reception.awaited = before_end == reception.descriptors ? 1 : 2;
    state_.totals.dma_writes += reception.awaited;
    const bool two_parts = reception.awaited == 2;
    host_.dma_write(ring.address(reception.first), bytes.first(before_end * kDescriptorBytes), token.packed());
    if (two_parts) {
        host_.dma_write(ring.address(0), bytes.subspan(before_end * kDescriptorBytes), token.packed());
    }
}

void Receive::descriptors_read(uint32_t queue, std::span<const uint8_t> data, bool good)
{
    if (!view(queue).was_read(data, good)) {
        interrupts_.other(bits::CAUSE_DESCRIPTOR);
    }
}

void Receive::payload_written(uint32_t slot, bool good)
{
    Reception &reception = state_.receptions[slot];
    if (reception.awaited != 0 && !reception.reported) {
        reception.awaited--;
        reception.failed |= !good;
    }
}

void Receive::written_back(uint32_t slot, bool good)
{
    Reception &reception = state_.receptions[slot];
    if (reception.awaited == 0 || !reception.reported || --reception.awaited != 0 || reception.abandoned || !good) {
        return;
    }
    RingView ring = view(reception.queue);
    if (ring.size() != 0) {
        ring.set_head(ring.after(reception.first, reception.descriptors));
    }
    count_queue_received(state_, reception.queue, reception.bytes);
    interrupts_.received(reception.queue);
}

} // namespace mosbench::nic

// SPDX-License-Identifier: BSD-3-Clause
#include "native/nic/transmit.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "native/nic/counters.h"
#include "native/nic/offload.h"
#include "native/nic/pace.h"

namespace mosbench::nic {

namespace {

// What the transmit packet buffer of 160 KB takes at 10 Gbit/s: with as much waiting for the wire, no further packet is begun.
constexpr uint64_t kBacklogNs = 128000;

// Descriptors: word 2 is the command, word 3 the options.
constexpr uint32_t kTypeContext = 2, kTypeData = 3;
constexpr uint32_t kEndOfPacket = 1u << 24, kReportStatus = 1u << 27, kAdvanced = 1u << 29;
constexpr uint64_t kDone = uint64_t{1} << 32;

uint32_t command_of(const Descriptor &descriptor)
{
    return static_cast<uint32_t>(descriptor.second);
}

uint32_t options_of(const Descriptor &descriptor)
{
    return static_cast<uint32_t>(descriptor.second >> 32);
}

} // namespace

void Transmit::enable(uint32_t queue, bool on)
{
    TransmitQueue &q = state_.transmit[queue];
    view(queue).enable(on);
    set_bit(state_.transmit_on, queue, on);
    for (uint32_t i = 0; i < state_.transmissions_under_way; i++) {
        Transmission &packet = state_.transmissions[(state_.first_transmission + i) % kTransmissions];
        if (packet.queue == queue) {
            packet.abandoned = packet.whole = true;
        }
    }
    q.contexts = {};
    q.prelude = q.unreported = 0;
    q.report = q.assembling = false;
    q.reported = q.ring.head;
    q.last_report_ns = 0;
}

bool Transmit::may_begin(uint32_t queue) const
{
    const TransmitQueue &q = state_.transmit[queue];
    return q.ring.enabled && !q.ring.broken && q.ring.cached != 0 &&
           (q.assembling || state_.transmissions_under_way < kTransmissions);
}

uint64_t Transmit::run(uint64_t now, bool &progress)
{
    if (!(state_.at(reg::DMATXCTL) & bits::DMATXCTL_TE)) {
        return kNever;
    }
    uint64_t next = kNever;
    const uint64_t on = state_.transmit_on;
    for (uint64_t rest = on; rest != 0; rest &= rest - 1) {
        const auto queue = static_cast<uint32_t>(std::countr_zero(rest));
        view(queue).notice_tail(now);
        next = std::min(next, state_.transmit[queue].ring.notice_ns);
        progress |= view(queue).read_ahead(host_);
    }
    for (int passed = 0; passed < std::popcount(on);) {
        if (state_.wire_free_ns > now + kBacklogNs) {
            next = std::min(next, state_.wire_free_ns - kBacklogNs);
            break;
        }
        const auto skipped = static_cast<uint32_t>(std::countr_zero(std::rotr(on, static_cast<int>(state_.next_queue))));
        const uint32_t queue = (state_.next_queue + skipped) % kQueues;
        state_.next_queue = (queue + 1) % kQueues;
        if (begin_packet(queue)) {
            progress = true;
            passed = 0;
            while (finish_oldest(now)) {
            }
        } else {
            passed++;
        }
    }
    while (finish_oldest(now)) {
        progress = true;
    }
    for (uint64_t rest = on; rest != 0; rest &= rest - 1) {
        const auto queue = static_cast<uint32_t>(std::countr_zero(rest));
        if (state_.transmit[queue].unreported != 0) {
            next = std::min(next, report(queue, now, progress));
        }
    }
    return next;
}

// The descriptors of one packet, as far as they have been read. False: there is none, or no room.
bool Transmit::begin_packet(uint32_t queue)
{
    bool taken = false;
    while (may_begin(queue)) {
        taken = true;
        if (take_descriptor(queue)) {
            break;
        }
    }
    return taken;
}

// True: it was the last of a packet.
bool Transmit::take_descriptor(uint32_t queue)
{
    TransmitQueue &q = state_.transmit[queue];
    const Descriptor descriptor = view(queue).cached(0);
    const uint32_t command = command_of(descriptor), type = command >> 20 & 15;
    view(queue).take(1);
    if ((command & kAdvanced) && type == kTypeContext && !q.assembling) {
        q.prelude++;
        q.contexts[options_of(descriptor) >> 4 & 1] = {static_cast<uint32_t>(descriptor.first), command, options_of(descriptor)};
        return false;
    }
    Transmission &packet = assembled(queue, descriptor);
    packet.descriptors++;
    packet.report |= (command & kReportStatus) != 0;
    if (!(command & kAdvanced) || type != kTypeData) {
        packet.failed = true; // a legacy descriptor, or a context where none can be
    } else {
        add_piece(q.assembling - 1u, descriptor);
    }
    if (command & kEndOfPacket) {
        packet.whole = true;
        q.assembling = 0;
        return true;
    }
    return false;
}

// The packet of the queue that has begun and not ended; a new one if there is none.
Transmission &Transmit::assembled(uint32_t queue, const Descriptor &descriptor)
{
    TransmitQueue &q = state_.transmit[queue];
    if (q.assembling) {
        return state_.transmissions[q.assembling - 1u];
    }
    const uint32_t slot = (state_.first_transmission + state_.transmissions_under_way++) % kTransmissions;
    Transmission &packet = state_.transmissions[slot];
    packet.queue = static_cast<uint8_t>(queue);
    packet.generation++;
    packet.pieces = packet.awaited = 0;
    packet.whole = packet.failed = packet.abandoned = packet.report = false;
    packet.descriptors = q.prelude;
    packet.command = command_of(descriptor);
    packet.options = options_of(descriptor);
    packet.context = q.contexts[packet.options >> 4 & 1];
    packet.length = 0;
    q.prelude = 0;
    q.assembling = static_cast<uint8_t>(slot + 1);
    return packet;
}

void Transmit::add_piece(uint32_t slot, const Descriptor &descriptor)
{
    Transmission &packet = state_.transmissions[slot];
    const uint32_t bytes = command_of(descriptor) & 0xFFFF;
    if (packet.failed || packet.pieces == kMaxTransmitPieces || packet.length + bytes > kMaxPacket) {
        packet.failed = true;
        return;
    }
    if (bytes == 0) {
        return;
    }
    const uint8_t piece = packet.pieces++;
    packet.piece_at[piece] = packet.length;
    packet.length += bytes;
    packet.awaited++;
    state_.totals.dma_reads++;
    const Token token{Dma::transmit_payload, static_cast<uint8_t>(slot), packet.generation, state_.generation, piece};
    host_.dma_read(descriptor.first, bytes, token.packed());
}

bool Transmit::finish_oldest(uint64_t now)
{
    Transmission &packet = state_.transmissions[state_.first_transmission];
    if (state_.transmissions_under_way == 0 || !packet.whole || packet.awaited != 0) {
        return false;
    }
    if (!packet.abandoned) {
        TransmitQueue &q = state_.transmit[packet.queue];
        RingView ring = view(packet.queue);
        send(packet, now);
        q.unreported += packet.descriptors;
        q.report |= packet.report;
        if (ring.size() != 0) {
            ring.set_head(ring.after(q.ring.head, packet.descriptors));
        }
    }
    state_.first_transmission = (state_.first_transmission + 1) % kTransmissions;
    state_.transmissions_under_way--;
    return true;
}

void Transmit::send(Transmission &packet, uint64_t now)
{
    const Offload what = Offload::from(packet.context, packet.command, packet.options);
    const std::span<uint8_t> data(packet.data.data(), packet.length);
    const uint32_t queue = packet.queue;
    uint32_t frames = 0;
    const auto out = [&](std::span<const uint8_t> frame) {
        frames++;
        put_on_wire(queue, frame, now);
    };
    if (packet.failed || !offload(what, data, out)) {
        state_.totals.bad_packets++;
    }
    state_.totals.segmented_packets += frames > 1;
}

void Transmit::put_on_wire(uint32_t queue, std::span<const uint8_t> frame, uint64_t now)
{
    const uint64_t start = std::max(now, state_.wire_free_ns);
    const uint64_t busy = packet_ns(settings_.transmit, queues_in_use(state_.transmit_in_use, queue, now));
    state_.wire_free_ns = start + std::max(wire_ns(frame.size(), settings_.link_gbits_per_second), busy);
    count_sent(state_, frame);
    count_queue_sent(state_, queue, static_cast<uint32_t>(frame.size()));
    host_.frame_out(frame, start);
}

// Done descriptors are written back when there are as many as TXDCTL.WTHRESH says, or when the vector's moderation interval has
// gone by since the last time: all from the last one that was on, in one go.
uint64_t Transmit::report(uint32_t queue, uint64_t now, bool &progress)
{
    TransmitQueue &q = state_.transmit[queue];
    RingView ring = view(queue);
    const uint32_t threshold = state_.queue(reg::TXDCTL, queue) >> 16 & 0x7F;
    const uint64_t at_last = q.last_report_ns + interrupts_.transmit_interval_ns(queue);
    if (!q.report || !ring.usable() || q.reported >= ring.size() || q.unreported > ring.size()) {
        return kNever;
    }
    if (q.unreported < threshold && now < at_last) {
        return at_last;
    }
    const uint32_t before_end = std::min(q.unreported, ring.size() - q.reported);
    const uint32_t parts[2] = {before_end, q.unreported - before_end};
    const uint32_t from[2] = {q.reported, 0};
    q.reported = ring.after(q.reported, q.unreported);
    q.unreported = 0;
    q.report = false;
    q.last_report_ns = now;
    progress = true;
    for (uint32_t part = 0; part < 2 && parts[part] != 0; part++) {
        const std::vector<Descriptor> done(parts[part], Descriptor{0, kDone});
        const bool last = part == 1 || parts[1] == 0;
        const Token token{Dma::transmit_write_back, static_cast<uint8_t>(queue), q.ring.generation, state_.generation, last};
        state_.totals.dma_writes++;
        host_.dma_write(ring.address(from[part]),
                        {reinterpret_cast<const uint8_t *>(done.data()), done.size() * kDescriptorBytes}, token.packed());
    }
    return kNever;
}

void Transmit::descriptors_read(uint32_t queue, std::span<const uint8_t> data, bool good)
{
    if (view(queue).was_read(data, good)) {
        return;
    }
    interrupts_.other(bits::CAUSE_DESCRIPTOR);
    TransmitQueue &q = state_.transmit[queue];
    if (q.assembling) { // the packet's other descriptors will never come; those behind it, of other queues, must not wait
        Transmission &packet = state_.transmissions[q.assembling - 1u];
        packet.abandoned = packet.whole = true;
        q.assembling = 0;
    }
}

void Transmit::payload_read(uint32_t slot, uint32_t piece, std::span<const uint8_t> data, bool good)
{
    Transmission &packet = state_.transmissions[slot];
    if (packet.awaited == 0 || piece >= packet.pieces) {
        return;
    }
    packet.awaited--;
    if (good && packet.piece_at[piece] + data.size() <= packet.length) {
        std::memcpy(&packet.data[packet.piece_at[piece]], data.data(), data.size());
    } else {
        packet.failed = true;
    }
}

void Transmit::written_back(uint32_t queue, bool last, bool good)
{
    if (last && good) {
        interrupts_.sent(queue);
    }
}

} // namespace mosbench::nic

// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nic/rig.h"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace mosbench::nic::test {

namespace {

constexpr uint32_t kEnable = 1u << 25, kBuffer = 2048, kHeaderBuffer = 256;
constexpr uint32_t kEop = 1u << 24, kIfcs = 1u << 25, kRs = 1u << 27, kDext = 1u << 29;

void put16(Frame &frame, size_t at, uint32_t value)
{
    frame[at] = static_cast<uint8_t>(value >> 8);
    frame[at + 1] = static_cast<uint8_t>(value);
}

void put32(Frame &frame, size_t at, uint32_t value)
{
    put16(frame, at, value >> 16);
    put16(frame, at + 2, value);
}

uint32_t word(const Frame &frame, size_t at)
{
    return static_cast<uint32_t>(frame[at]) * 256 + (at + 1 < frame.size() ? frame[at + 1] : 0);
}

// What is missing from 0xFFFF.
uint16_t remainder(uint32_t sum, const Frame &frame, size_t from, size_t to)
{
    for (size_t i = from; i < to; i += 2) {
        sum += i + 1 < to ? word(frame, i) : frame[i] * 256u;
        sum = sum % 65536 + sum / 65536;
    }
    return static_cast<uint16_t>(65535 - sum);
}

Frame ip_frame(const Flow &flow, uint8_t protocol, size_t l4_bytes)
{
    Frame frame(34 + l4_bytes);
    const uint8_t to[] = {0x02, 0, 0, 0, 0, 0x01}, from[] = {0x02, 0, 0, 0, 1, 0x01};
    std::copy(to, to + 6, frame.begin());
    std::copy(from, from + 6, frame.begin() + 6);
    put16(frame, 12, 0x0800);
    frame[14] = 0x45;
    put16(frame, 16, static_cast<uint32_t>(20 + l4_bytes));
    put16(frame, 18, 0x1234);
    frame[22] = 64;
    frame[23] = protocol;
    put32(frame, 26, flow.source);
    put32(frame, 30, flow.destination);
    put16(frame, 34, flow.source_port);
    put16(frame, 36, flow.destination_port);
    put16(frame, 24, ip_remainder(frame));
    return frame;
}

} // namespace

uint16_t ip_remainder(const Frame &frame)
{
    return remainder(0, frame, 14, 14 + (frame[14] & 15) * 4u);
}

uint16_t l4_remainder(const Frame &frame)
{
    const size_t l4 = 14 + (frame[14] & 15) * 4u, end = 14 + word(frame, 16);
    const auto length = static_cast<uint32_t>(end - l4);
    return remainder(word(frame, 26) + word(frame, 28) + word(frame, 30) + word(frame, 32) + frame[23] + length, frame, l4, end);
}

Frame tcp_frame(const Flow &flow, std::span<const uint8_t> payload, uint8_t flags, uint32_t sequence)
{
    Frame frame = ip_frame(flow, 6, 20 + payload.size());
    put32(frame, 38, sequence);
    frame[46] = 5 << 4;
    frame[47] = flags;
    put16(frame, 48, 1000);
    std::copy(payload.begin(), payload.end(), frame.begin() + 54);
    put16(frame, 50, l4_remainder(frame));
    return frame;
}

Frame udp_frame(const Flow &flow, std::span<const uint8_t> payload)
{
    Frame frame = ip_frame(flow, 17, 8 + payload.size());
    put16(frame, 38, static_cast<uint32_t>(8 + payload.size()));
    std::copy(payload.begin(), payload.end(), frame.begin() + 42);
    put16(frame, 40, l4_remainder(frame));
    return frame;
}

Frame some_bytes(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    Frame bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
    return bytes;
}

void ToyHost::start(Operation operation)
{
    under_way.push_back(std::move(operation));
    if (at_once) {
        answer(under_way.size() - 1);
    }
}

void ToyHost::answer(size_t which)
{
    const Operation operation = std::move(under_way.at(which));
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
    if (!inside(operation.address, operation.bytes)) {
        refused++;
        card->dma_done(operation.token, {}, false);
        return;
    }
    uint8_t *const place = memory.data() + (operation.address - kMemoryBase);
    if (operation.write) {
        std::copy(operation.data.begin(), operation.data.end(), place);
        card->dma_done(operation.token, {}, true);
    } else {
        const std::vector<uint8_t> data(place, place + operation.bytes);
        card->dma_done(operation.token, data, true);
    }
}

Rig::Rig(const Settings &settings, size_t memory) : host(memory), card(settings, host)
{
    host.card = &card;
}

uint64_t Rig::allocate(uint64_t bytes, uint64_t alignment)
{
    const uint64_t at = (next_free_ + alignment - 1) / alignment * alignment;
    next_free_ = at + bytes;
    if (!host.inside(at, bytes)) {
        throw std::runtime_error("the toy machine's memory is too small");
    }
    return at;
}

void Rig::up(const RingSetup &wanted)
{
    setup = wanted;
    data_bytes_ = 1 << 20;
    data_ = allocate(data_bytes_);
    write(reg::FCTRL, bits::FCTRL_BROADCAST);
    for (uint32_t n = 0; n < setup.queues; n++) {
        for (const bool to_send : {false, true}) {
            Ring ring{.base = allocate(uint64_t{setup.descriptors} * kDescriptor), .size = setup.descriptors};
            const uint32_t first = to_send ? 0x6000 : 0x1000;
            write_queue(first, n, static_cast<uint32_t>(ring.base));
            write_queue(first + 4, n, static_cast<uint32_t>(ring.base >> 32));
            write_queue(first + 8, n, setup.descriptors * kDescriptor);
            write_queue(first + 0x10, n, 0);
            write_queue(first + 0x18, n, 0);
            if (!to_send) {
                ring.buffers = allocate(uint64_t{setup.descriptors} * (kBuffer + kHeaderBuffer));
                const uint32_t type = setup.header_split ? 5 : 1;
                const uint32_t control = type << 25 | (kHeaderBuffer / 64) << 8 | kBuffer / 1024 | (setup.drop ? 1u << 28 : 0);
                write(n < 16 ? 0x2100 + 4 * n : 0x1014 + 0x40 * n, control);
            }
            write_queue(first + 0x28, n, kEnable);
            (to_send ? transmit : receive).push_back(ring);
        }
    }
    write(reg::DMATXCTL, 1);
    write(reg::RXCTRL, 1);
    for (uint32_t n = 0; n < setup.queues; n++) {
        refill(n, setup.descriptors - 1);
    }
    run(1000);
}

void Rig::write_ivar(uint32_t queue, uint32_t vector)
{
    const uint32_t offset = reg::IVAR + queue / 2 * 4, shift = queue % 2 * 16;
    const uint32_t both = (0x80 | vector) << 8 | 0x80 | vector;
    write(offset, (read(offset) & ~(0xFFFFu << shift)) | both << shift);
}

void Rig::interrupts(uint32_t vectors, uint32_t eitr)
{
    write(reg::GPIE, bits::GPIE_MSIX | bits::GPIE_OCD | bits::GPIE_EIAME | 1u << 31);
    write(reg::EIAM_EX, UINT32_MAX);
    write(reg::EIAM_EX + 4, UINT32_MAX);
    for (uint32_t v = 0; v < vectors; v++) {
        card.write_msix(v * 16, 0xFEE00000 | v << 12);
        card.write_msix(v * 16 + 8, 0x4000 + v);
        card.write_msix(v * 16 + 12, 0);
        if (v < setup.queues) {
            write_ivar(v, v);
        }
        write_eitr(v, eitr);
    }
    write(reg::IVAR_MISC, (0x80u | (vectors - 1)) << 8);
    write(reg::EIAC, 0xFFFF);
    card.set_msix(true, false);
    write(reg::EIMS, 0x7FFF0000);
    write(reg::EIMS_EX, UINT32_MAX);
    write(reg::EIMS_EX + 4, UINT32_MAX);
    run(2000);
    host.messages.clear();
}

void Rig::run(uint64_t ns)
{
    const uint64_t end = host.now + ns;
    while (host.wake_ns <= end) {
        host.now = std::max(host.now, host.wake_ns);
        host.wake_ns = kNever;
        card.wake();
    }
    host.now = end;
}

void Rig::send(uint32_t queue, const Packet &packet, bool bell)
{
    Ring &ring = transmit.at(queue);
    const auto put = [&](uint64_t first, uint32_t command, uint32_t options) {
        const uint64_t at = ring.base + ring.tail * kDescriptor;
        host.put(at, first);
        host.put(at + 8, command);
        host.put(at + 12, options);
        ring.tail = (ring.tail + 1) % ring.size;
    };
    if (packet.context) {
        put(packet.vlan_maclen_iplen, packet.type | 2u << 20 | kDext, packet.mss_l4len);
    }
    if (data_at_ + packet.bytes.size() > data_bytes_) {
        data_at_ = 0;
    }
    uint64_t at = data_ + data_at_;
    std::copy(packet.bytes.begin(), packet.bytes.end(), host.memory.begin() + static_cast<std::ptrdiff_t>(at - kMemoryBase));
    data_at_ += packet.bytes.size();
    const std::vector<uint32_t> pieces =
        packet.pieces.empty() ? std::vector{static_cast<uint32_t>(packet.bytes.size())} : packet.pieces;
    for (size_t i = 0; i < pieces.size(); i++) {
        put(at, pieces[i] | 3u << 20 | kDext | kIfcs | packet.command | (i + 1 == pieces.size() ? kEop | kRs : 0),
            static_cast<uint32_t>(packet.bytes.size()) << 14 | packet.options);
        at += pieces[i];
    }
    if (bell) {
        ring_bell(queue);
    }
}

void Rig::refill(uint32_t queue, uint32_t count)
{
    Ring &ring = receive.at(queue);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t buffer = ring.buffers + uint64_t{ring.tail} * (kBuffer + kHeaderBuffer);
        host.put(ring.base + ring.tail * kDescriptor, buffer);
        host.put(ring.base + ring.tail * kDescriptor + 8, buffer + kBuffer);
        ring.tail = (ring.tail + 1) % ring.size;
    }
    write_queue(reg::RDT, queue, ring.tail);
}

std::vector<Rig::Received> Rig::take(uint32_t queue)
{
    Ring &ring = receive.at(queue);
    std::vector<Received> found;
    bool fresh = true;
    for (; ring.head != ring.tail; ring.head = (ring.head + 1) % ring.size) {
        const uint64_t at = ring.base + ring.head * kDescriptor;
        const auto word2 = host.get<uint32_t>(at + 8);
        // A descriptor that waits holds the address of the header's buffer there, which is even.
        if (!(word2 & 1)) {
            break;
        }
        const uint64_t buffer = ring.buffers + uint64_t{ring.head} * (kBuffer + kHeaderBuffer);
        const auto length = host.get<uint16_t>(at + 12);
        const auto word0 = host.get<uint32_t>(at);
        if (fresh) {
            found.push_back({{}, {}, word0, host.get<uint32_t>(at + 4), 0, 0, 0});
        }
        Received &one = found.back();
        const auto bytes = [&](uint64_t from, uint32_t count) {
            const auto begin = host.memory.begin() + static_cast<std::ptrdiff_t>(from - kMemoryBase);
            return Frame(begin, begin + count);
        };
        if (fresh && setup.header_split) {
            one.header = bytes(buffer + kBuffer, word0 >> 21 & 0x3FF);
        }
        const Frame more = bytes(buffer, length);
        one.payload.insert(one.payload.end(), more.begin(), more.end());
        one.status = word2 & 0xFFFFF;
        one.errors = word2 >> 20;
        one.length = length;
        fresh = word2 & 2;
    }
    return found;
}

bool Rig::transmit_done(uint32_t queue, uint32_t index) const
{
    return host.get<uint32_t>(transmit.at(queue).base + index * kDescriptor + 12) & 1;
}

} // namespace mosbench::nic::test

// SPDX-License-Identifier: BSD-3-Clause
//
// A card in a toy machine: memory that ends somewhere, a clock that jumps from event to event, and a driver that sets registers
// in the order of ixgbe's.
#ifndef MOSBENCH_TESTS_NIC_RIG_H
#define MOSBENCH_TESTS_NIC_RIG_H

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "native/nic/card.h"

namespace mosbench::nic::test {

inline constexpr uint64_t kMemoryBase = 1 << 20; // nothing is below
inline constexpr uint32_t kDescriptor = 16;

using Frame = std::vector<uint8_t>;

struct ToyHost : Host {
    struct Operation {
        bool write;
        uint64_t address;
        uint32_t bytes, token;
        std::vector<uint8_t> data;
    };
    struct SentMessage {
        uint64_t ns, address;
        uint32_t data;
    };
    struct SentFrame {
        uint64_t ns;
        Frame bytes;
    };

    explicit ToyHost(size_t bytes) : memory(bytes) {}

    uint64_t now_ns() const override { return now; }
    void call_me_at(uint64_t ns) override { wake_ns = ns; }
    void dma_read(uint64_t address, uint32_t bytes, uint32_t token) override { start({false, address, bytes, token, {}}); }
    void dma_write(uint64_t address, std::span<const uint8_t> data, uint32_t token) override
    {
        start({true, address, static_cast<uint32_t>(data.size()), token, {data.begin(), data.end()}});
    }
    void message(uint64_t address, uint32_t data) override { messages.push_back({now, address, data}); }
    void frame_out(std::span<const uint8_t> frame, uint64_t ns) override { frames.push_back({ns, {frame.begin(), frame.end()}}); }

    // Answers the operation that started `which` places after the oldest one.
    void answer(size_t which = 0);
    bool inside(uint64_t address, uint64_t bytes) const
    {
        return address >= kMemoryBase && address - kMemoryBase <= memory.size() &&
               bytes <= memory.size() - (address - kMemoryBase);
    }
    template <typename T> T get(uint64_t address) const
    {
        T value;
        std::memcpy(&value, &memory.at(address - kMemoryBase), sizeof value);
        return value;
    }
    template <typename T> void put(uint64_t address, T value)
    {
        std::memcpy(&memory.at(address - kMemoryBase), &value, sizeof value);
    }

    Card *card = nullptr;
    std::vector<uint8_t> memory;
    bool at_once = true; // DMA is answered in the call itself
    uint64_t now = 1000, wake_ns = kNever;
    std::deque<Operation> under_way;
    std::vector<SentMessage> messages;
    std::vector<SentFrame> frames;
    uint64_t refused = 0; // DMA outside of memory

  private:
    void start(Operation operation);
};

struct RingSetup {
    uint32_t queues = 1, descriptors = 64;
    bool header_split = false, drop = false;
};

// One packet to transmit: its pieces, and a context before it if `context` is set.
struct Packet {
    Frame bytes;
    std::vector<uint32_t> pieces = {}; // empty: one
    bool context = false;
    uint32_t vlan_maclen_iplen = 0, type = 0, mss_l4len = 0;
    uint32_t command = 0, options = 0; // more bits
};

class Rig {
  public:
    explicit Rig(const Settings &settings = {}, size_t memory = 8 << 20);

    // As at "ip link up": rings, vectors, receive and transmit on.
    void up(const RingSetup &setup);
    void interrupts(uint32_t vectors, uint32_t eitr = 0);

    // Let `ns` go by.
    void run(uint64_t ns = 100000);
    // Writes the descriptors and, unless told not to, the tail.
    void send(uint32_t queue, const Packet &packet, bool ring_bell = true);
    void ring_bell(uint32_t queue) { write_queue(reg::TDT, queue, transmit[queue].tail); }
    // Gives the card `count` buffers.
    void refill(uint32_t queue, uint32_t count);

    struct Received {
        Frame header, payload;
        uint32_t word0, hash, status, errors;
        uint16_t length;
    };
    // The frames that the card has given to the driver since the last call; their descriptors are taken, not refilled.
    std::vector<Received> take(uint32_t queue);
    bool transmit_done(uint32_t queue, uint32_t index) const;

    uint32_t read(uint32_t offset) { return card.read(offset); }
    void write(uint32_t offset, uint32_t value) { card.write(offset, value); }
    uint32_t read_queue(uint32_t offset, uint32_t queue) { return card.read(offset + queue * 0x40); }
    void write_queue(uint32_t offset, uint32_t queue, uint32_t value) { card.write(offset + queue * 0x40, value); }
    void write_ivar(uint32_t queue, uint32_t vector);
    void write_eitr(uint32_t vector, uint32_t value)
    {
        card.write(vector < 24 ? 0x820 + vector * 4 : 0x12300 + (vector - 24) * 4, value);
    }
    uint64_t allocate(uint64_t bytes, uint64_t alignment = 128);
    void forget_memory() { next_free_ = kMemoryBase; }

    struct Ring {
        uint64_t base = 0, buffers = 0;
        uint32_t size = 0, tail = 0, head = 0; // head: of what the driver has seen
    };
    ToyHost host;
    Card card;
    RingSetup setup;
    std::vector<Ring> receive, transmit;

  private:
    uint64_t next_free_ = kMemoryBase;
    uint64_t data_ = 0, data_bytes_ = 0, data_at_ = 0; // packets to be sent
};

// Frames for tests.
struct Flow {
    uint32_t source, destination;
    uint16_t source_port, destination_port;
};
inline constexpr uint32_t address(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return a << 24 | b << 16 | c << 8 | d;
}
inline constexpr Flow kFlow = {address(10, 0, 0, 2), address(10, 0, 0, 1), 40000, 80};
Frame tcp_frame(const Flow &flow, std::span<const uint8_t> payload, uint8_t flags = 0x10, uint32_t sequence = 1000);
Frame udp_frame(const Flow &flow, std::span<const uint8_t> payload);
Frame some_bytes(size_t count, uint32_t seed = 1);
// The internet checksum of a frame's IP header, and of what IP carries with its pseudo-header: 0 where it is right. Written apart
// from the card's.
uint16_t ip_remainder(const Frame &frame);
uint16_t l4_remainder(const Frame &frame);

} // namespace mosbench::nic::test

#endif

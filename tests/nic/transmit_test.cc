// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "tests/nic/rig.h"

namespace mosbench::nic::test {
namespace {

constexpr uint32_t kTcpContext = 1u << 11 | 1u << 10, kUdpContext = 1u << 10;
constexpr uint32_t kIpSum = 1u << 8, kL4Sum = 1u << 9, kSegment = 1u << 31;

Packet plain(size_t payload, uint32_t seed = 1)
{
    return {.bytes = udp_frame(kFlow, some_bytes(payload, seed))};
}

// The pseudo-header's sum, as Linux leaves it in the checksum's field.
uint32_t pseudo_sum(const Frame &frame, uint32_t length)
{
    uint32_t sum = frame[23] + length;
    for (size_t i = 26; i < 34; i += 2) {
        sum += frame[i] * 256u + frame[i + 1];
    }
    while (sum >> 16) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

void put16(Frame &frame, size_t at, uint32_t value)
{
    frame[at] = static_cast<uint8_t>(value >> 8);
    frame[at + 1] = static_cast<uint8_t>(value);
}

// One packet of `payload` bytes with headers as the drivers hand it over for segmentation.
Packet large(const Frame &payload, uint32_t mss, uint8_t flags)
{
    Frame bytes = tcp_frame(kFlow, payload, flags, 0xFFFFFF00);
    put16(bytes, 16, 0);
    put16(bytes, 24, 0);
    put16(bytes, 50, pseudo_sum(bytes, 0));
    return {.bytes = bytes,
            .context = true,
            .vlan_maclen_iplen = 14u << 9 | 20,
            .type = kTcpContext,
            .mss_l4len = mss << 16 | 20u << 8,
            .command = kSegment,
            .options = kIpSum | kL4Sum};
}

// What TCP and IP in software would have made of it (RFC 9293, RFC 791).
std::vector<Frame> in_software(const Frame &payload, uint32_t mss, uint8_t flags)
{
    std::vector<Frame> frames;
    uint32_t id = 0x1234, sequence = 0xFFFFFF00;
    for (size_t at = 0; at < payload.size(); at += mss) {
        const bool first = at == 0, last = at + mss >= payload.size();
        const Frame piece(payload.begin() + static_cast<std::ptrdiff_t>(at),
                          last ? payload.end() : payload.begin() + static_cast<std::ptrdiff_t>(at + mss));
        uint8_t piece_flags = flags;
        if (!last) {
            piece_flags &= 0xF6;
        }
        if (!first) {
            piece_flags &= 0x7F;
        }
        Frame frame = tcp_frame(kFlow, piece, piece_flags, sequence);
        put16(frame, 18, id);
        put16(frame, 24, 0);
        put16(frame, 24, ip_remainder(frame));
        frame.resize(std::max<size_t>(frame.size(), 60));
        frames.push_back(frame);
        id = (id + 1) & 0xFFFF;
        sequence += mss;
    }
    return frames;
}

struct RingWrapTest : testing::TestWithParam<uint32_t> {};

TEST_P(RingWrapTest, EveryPacketOnceAndInOrder)
{
    const uint32_t size = GetParam();
    Rig rig({}, 64 << 20);
    rig.up({.queues = 1, .descriptors = size});
    uint32_t sent = 0;
    for (uint32_t round = 0; sent < 3 * size; round++) {
        const uint32_t burst = std::min(round % 37 + 1, size - 1);
        for (uint32_t i = 0; i < burst; i++) {
            Frame bytes = udp_frame(kFlow, some_bytes(18));
            bytes[42] = static_cast<uint8_t>(sent);
            bytes[43] = static_cast<uint8_t>(sent >> 8);
            sent++;
            rig.send(0, {.bytes = bytes}, i + 1 == burst);
        }
        rig.run(20000);
        ASSERT_EQ(rig.read_queue(reg::TDH, 0), rig.transmit[0].tail);
    }
    ASSERT_EQ(rig.host.frames.size(), sent);
    for (uint32_t i = 0; i < sent; i++) {
        ASSERT_EQ(rig.host.frames[i].bytes[42] | rig.host.frames[i].bytes[43] << 8, static_cast<int>(i & 0xFFFF));
    }
    EXPECT_EQ(rig.read(reg::GPTC), sent);
    EXPECT_EQ(rig.host.refused, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RingWrapTest, testing::Values(64, 4096));

TEST(TransmitTest, NothingHappensInTheRegisterWriteItself)
{
    Rig rig;
    rig.up({});
    rig.send(0, plain(100));
    EXPECT_TRUE(rig.host.frames.empty());
    const uint64_t rung = rig.host.now;
    rig.run();
    ASSERT_EQ(rig.host.frames.size(), 1u);
    EXPECT_GE(rig.host.frames[0].ns, rung + Settings{}.doorbell_ns);
}

TEST(TransmitTest, ADriverThatRingsOftenDoesNotPutTheCardOff)
{
    Rig rig;
    rig.up({.queues = 1, .descriptors = 512});
    for (int i = 0; i < 100; i++) {
        rig.send(0, plain(100));
        rig.run(200);
    }
    EXPECT_GE(rig.host.frames.size(), 90u);
}

TEST(TransmitTest, PiecesAreOneFrame)
{
    Rig rig;
    rig.up({});
    Packet packet = plain(1000);
    packet.pieces = {14, 28, 500, 500};
    rig.send(0, packet);
    rig.run();
    ASSERT_EQ(rig.host.frames.size(), 1u);
    EXPECT_EQ(rig.host.frames[0].bytes, packet.bytes);
    EXPECT_TRUE(rig.transmit_done(0, 3));
}

TEST(TransmitTest, FramesFollowEachOtherOnTheWire)
{
    Rig rig;
    rig.up({});
    rig.send(0, plain(1000 - 42), false);
    rig.send(0, plain(1000 - 42));
    rig.run();
    ASSERT_EQ(rig.host.frames.size(), 2u);
    EXPECT_EQ(rig.host.frames[1].ns - rig.host.frames[0].ns, 819u); // (1000 + 24) x 0.8 ns
}

TEST(TransmitTest, QueuesTakeTurns)
{
    Rig rig;
    rig.up({.queues = 3});
    for (uint32_t queue = 0; queue < 3; queue++) {
        for (uint32_t i = 0; i < 4; i++) {
            Packet packet = plain(20);
            packet.bytes[50] = static_cast<uint8_t>(queue);
            rig.send(queue, packet, i == 3);
        }
    }
    rig.run();
    ASSERT_EQ(rig.host.frames.size(), 12u);
    for (size_t i = 3; i < 12; i++) {
        EXPECT_EQ(rig.host.frames[i].bytes[50], rig.host.frames[i - 3].bytes[50]);
        EXPECT_NE(rig.host.frames[i].bytes[50], rig.host.frames[i - 1].bytes[50]);
    }
}

TEST(TransmitTest, TheMoreQueuesAreUsedTheFewerPackets)
{
    Settings settings;
    settings.transmit = {.ns = 500, .ns_per_queue = 100};
    Rig rig(settings);
    rig.up({.queues = 8});
    rig.send(0, plain(20), false);
    rig.send(0, plain(20));
    rig.run();
    ASSERT_EQ(rig.host.frames.size(), 2u);
    EXPECT_EQ(rig.host.frames[1].ns - rig.host.frames[0].ns, 600u);
    for (uint32_t queue = 0; queue < 8; queue++) {
        rig.send(queue, plain(20), false);
        rig.send(queue, plain(20));
    }
    rig.run();
    ASSERT_EQ(rig.host.frames.size(), 18u);
    EXPECT_EQ(rig.host.frames[17].ns - rig.host.frames[16].ns, 500u + 8 * 100);
}

TEST(TransmitTest, FromSomeNumberOfQueuesOnAPacketTakesNoLonger)
{
    Settings settings;
    settings.transmit = {.ns = 500, .ns_per_queue = 100, .most_queues = 4};
    Rig rig(settings);
    rig.up({.queues = 8});
    for (uint32_t queue = 0; queue < 8; queue++) {
        rig.send(queue, plain(20), false);
        rig.send(queue, plain(20));
    }
    rig.run();
    ASSERT_EQ(rig.host.frames.size(), 16u);
    for (size_t i = 8; i < 16; i++) {
        EXPECT_EQ(rig.host.frames[i].ns - rig.host.frames[i - 1].ns, 500u + 4 * 100) << i;
    }
}

TEST(WriteBackTest, ByTheThresholdOrWhenTheIntervalIsOver)
{
    Rig rig;
    rig.up({.queues = 1});
    rig.interrupts(2, 1000 << 3 & 0xFF8); // some interval
    const uint64_t interval = (rig.read(reg::EITR) & 0xFF8) * 256;
    ASSERT_GT(interval, 100000u);
    rig.write_queue(reg::TXDCTL, 0, 1u << 25 | 8u << 16);
    rig.run(2 * interval);
    rig.send(0, plain(20));
    rig.run(5000);
    EXPECT_TRUE(rig.transmit_done(0, 0)); // the interval was over long ago
    for (int i = 0; i < 7; i++) {
        rig.send(0, plain(20));
    }
    rig.run(5000);
    EXPECT_FALSE(rig.transmit_done(0, 1));
    EXPECT_EQ(rig.host.frames.size(), 8u);
    rig.send(0, plain(20));
    rig.run(5000);
    EXPECT_TRUE(rig.transmit_done(0, 1));
    EXPECT_TRUE(rig.transmit_done(0, 8));
    rig.send(0, plain(20));
    rig.run(5000);
    EXPECT_FALSE(rig.transmit_done(0, 9));
    rig.run(interval);
    EXPECT_TRUE(rig.transmit_done(0, 9));
}

TEST(ChecksumTest, OfIpTcpAndUdp)
{
    for (const bool tcp : {true, false}) {
        for (const size_t payload : {0u, 1u, 2u, 777u, 1400u}) {
            const Frame right = tcp ? tcp_frame(kFlow, some_bytes(payload)) : udp_frame(kFlow, some_bytes(payload));
            Packet packet{.bytes = right};
            packet.context = true;
            packet.vlan_maclen_iplen = 14u << 9 | 20;
            packet.type = tcp ? kTcpContext : kUdpContext;
            packet.options = kIpSum | kL4Sum;
            put16(packet.bytes, 24, 0);
            put16(packet.bytes, tcp ? 50 : 40, pseudo_sum(right, static_cast<uint32_t>(right.size() - 34)));
            Rig rig;
            rig.up({});
            rig.send(0, packet);
            rig.run();
            ASSERT_EQ(rig.host.frames.size(), 1u);
            Frame sent = rig.host.frames[0].bytes;
            EXPECT_GE(sent.size(), 60u);
            sent.resize(right.size());
            EXPECT_EQ(sent, right) << tcp << " " << payload;
        }
    }
}

struct SegmentationTest : testing::TestWithParam<std::pair<uint32_t, uint32_t>> {};

TEST_P(SegmentationTest, IsAsInSoftware)
{
    const auto [bytes, mss] = GetParam();
    const Frame payload = some_bytes(bytes, 7);
    constexpr uint8_t kFlags = 0x99; // FIN, PSH, ACK, CWR
    Rig rig;
    rig.up({});
    Packet packet = large(payload, mss, kFlags);
    for (size_t rest = packet.bytes.size(); rest != 0;) { // the headers, then pieces as of pages
        const auto piece = static_cast<uint32_t>(std::min<size_t>(packet.pieces.empty() ? 54 : 4096, rest));
        packet.pieces.push_back(piece);
        rest -= piece;
    }
    rig.send(0, packet);
    rig.run(1000000);
    const std::vector<Frame> wanted = in_software(payload, mss, kFlags);
    ASSERT_EQ(rig.host.frames.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); i++) {
        ASSERT_EQ(rig.host.frames[i].bytes, wanted[i]) << i;
        ASSERT_EQ(l4_remainder(rig.host.frames[i].bytes), 0) << i;
    }
    EXPECT_EQ(rig.card.totals().segmented_packets, wanted.size() > 1 ? 1u : 0u);
    EXPECT_TRUE(rig.transmit_done(0, static_cast<uint32_t>(packet.pieces.size())));
}

INSTANTIATE_TEST_SUITE_P(Sizes, SegmentationTest,
                         testing::Values(std::pair(1u, 1448u), std::pair(1448u, 1448u), std::pair(1449u, 1448u),
                                         std::pair(2896u, 1448u), std::pair(65482u, 1460u), std::pair(5000u, 536u),
                                         std::pair(999u, 1u)));

TEST(BadDescriptorsTest, EndInCountersAndTheQueueGoesOn)
{
    const Frame payload = some_bytes(100);
    Packet no_size = large(payload, 0, 0x10);       // segments of nothing
    Packet no_headers = large(payload, 1000, 0x10); // headers beyond the packet
    no_headers.vlan_maclen_iplen = 127u << 9 | 500;
    Packet outside = plain(100); // the sum's place is not in the packet
    outside.context = true;
    outside.vlan_maclen_iplen = 14u << 9 | 200;
    outside.options = kL4Sum;
    for (const Packet &bad : {no_size, no_headers, outside}) {
        Rig rig;
        rig.up({});
        rig.send(0, bad);
        rig.send(0, plain(100));
        rig.run();
        EXPECT_EQ(rig.card.totals().bad_packets, 1u);
        ASSERT_EQ(rig.host.frames.size(), 1u);
        EXPECT_EQ(rig.host.frames[0].bytes.size(), 142u);
    }
}

TEST(BadDescriptorsTest, DataOutsideOfMemoryAreAnErrorAndTheNextPacketGoes)
{
    Rig rig;
    rig.up({});
    rig.send(0, plain(100), false);
    rig.host.put<uint64_t>(rig.transmit[0].base, 16);
    rig.send(0, plain(50));
    rig.run();
    EXPECT_EQ(rig.card.totals().dma_errors, 1u);
    EXPECT_EQ(rig.card.totals().bad_packets, 1u);
    ASSERT_EQ(rig.host.frames.size(), 1u);
    EXPECT_EQ(rig.host.frames[0].bytes.size(), 92u);
    EXPECT_TRUE(rig.transmit_done(0, 0));
}

TEST(BadDescriptorsTest, ARingOutsideOfMemoryStopsItsQueueOnly)
{
    Rig rig;
    rig.up({.queues = 2});
    rig.write_queue(reg::TDBAL, 0, 0);
    rig.send(0, plain(100));
    rig.send(1, plain(100));
    rig.run();
    EXPECT_EQ(rig.card.totals().dma_errors, 1u);
    EXPECT_EQ(rig.host.frames.size(), 1u);
    EXPECT_TRUE(rig.read(reg::EICS) & bits::CAUSE_DESCRIPTOR);
}

TEST(BadDescriptorsTest, ARingThatEndsInAPacketStopsItsQueueOnly)
{
    Rig rig;
    rig.up({.queues = 2});
    Packet whole = plain(100);
    whole.pieces = {40, 60};
    rig.send(0, whole, false);
    rig.write_queue(reg::TDT, 0, 1);
    rig.run();
    rig.write_queue(reg::TDBAL, 0, 0);
    rig.ring_bell(0);
    rig.send(1, plain(100));
    rig.run();
    EXPECT_EQ(rig.card.totals().dma_errors, 1u);
    ASSERT_EQ(rig.host.frames.size(), 1u);
    EXPECT_TRUE(rig.transmit_done(1, 0));
    EXPECT_FALSE(rig.transmit_done(0, 0));
}

} // namespace
} // namespace mosbench::nic::test

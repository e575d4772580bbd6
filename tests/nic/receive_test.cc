// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>

#include "tests/nic/rig.h"

namespace mosbench::nic::test {
namespace {

constexpr uint32_t kEop = 2, kFlm = 4, kL4Checked = 0x20, kIpChecked = 0x40;
constexpr uint32_t kErrorL4 = 1u << 10, kErrorIp = 1u << 11, kErrorFrame = 1u << 9; // of Received::errors

TEST(ReceiveTest, OneBuffer)
{
    Rig rig;
    rig.up({});
    const Frame frame = tcp_frame(kFlow, some_bytes(900));
    rig.card.frame_in(frame);
    rig.run();
    const auto got = rig.take(0);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].payload, frame);
    EXPECT_EQ(got[0].length, frame.size());
    EXPECT_EQ(got[0].word0, 0x110u); // IXGBE_RXDADV_PKTTYPE_IPV4 and _TCP of the driver
    EXPECT_EQ(got[0].status, 1 | kEop | kL4Checked | kIpChecked);
    EXPECT_EQ(got[0].errors, 0u);
    EXPECT_EQ(rig.read_queue(reg::RDH, 0), 1u);
}

TEST(ReceiveTest, SplitHeaders)
{
    Rig rig;
    rig.up({.header_split = true});
    const Frame payload = some_bytes(900);
    rig.card.frame_in(tcp_frame(kFlow, payload));
    rig.card.frame_in(tcp_frame(kFlow, {})); // a bare ACK
    const Frame other = some_bytes(60);      // no type that the card knows
    Frame arp = other;
    arp[0] = 2;
    std::copy_n(std::array<uint8_t, 6>{2, 0, 0, 0, 0, 1}.begin(), 6, arp.begin());
    arp[12] = 8;
    arp[13] = 6;
    rig.card.frame_in(arp);
    rig.run();
    const auto got = rig.take(0);
    ASSERT_EQ(got.size(), 3u);
    EXPECT_EQ(got[0].word0 >> 31, 1u);
    EXPECT_EQ(got[0].header.size(), 54u);
    EXPECT_EQ(got[0].payload, payload);
    EXPECT_EQ(got[1].word0 >> 31, 1u);
    EXPECT_EQ(got[1].length, 0u);
    EXPECT_EQ(got[2].word0 >> 31, 0u);
    EXPECT_EQ(got[2].header, arp);
    EXPECT_EQ(got[2].length, 0u);
    EXPECT_EQ(got[2].status, 1 | kEop);
}

TEST(ReceiveTest, AFrameInSeveralBuffers)
{
    Rig rig;
    rig.up({});
    const Frame frame = udp_frame(kFlow, some_bytes(9000 - 28));
    for (int i = 0; i < 40; i++) { // once round the ring, so that one frame lies over its end
        rig.card.frame_in(frame);
        rig.run(10000);
        const auto got = rig.take(0);
        ASSERT_EQ(got.size(), 1u);
        ASSERT_EQ(got[0].payload, frame);
        ASSERT_TRUE(got[0].status & kEop);
        rig.refill(0, 5);
    }
}

TEST(ReceiveTest, WrongChecksumsAreSaid)
{
    Rig rig;
    rig.up({});
    Frame ip = tcp_frame(kFlow, some_bytes(100)), l4 = ip, cut = ip;
    ip[24] ^= 1;
    l4[60] ^= 1;
    cut[17] += 1; // IP says that it is longer than the frame
    Frame without = udp_frame(kFlow, some_bytes(100));
    without[40] = without[41] = 0;
    for (const Frame &frame : {ip, l4, cut, without}) {
        rig.card.frame_in(frame);
    }
    rig.run();
    const auto got = rig.take(0);
    ASSERT_EQ(got.size(), 4u);
    EXPECT_EQ(got[0].errors, kErrorIp);
    EXPECT_EQ(got[1].errors, kErrorL4);
    EXPECT_EQ(got[2].status & (kL4Checked | kIpChecked), 0u);
    EXPECT_EQ(got[3].status & (kL4Checked | kIpChecked), kIpChecked);
}

TEST(ReceiveTest, OnlyWhatIsForTheCard)
{
    Rig rig;
    rig.up({});
    Frame stranger = tcp_frame(kFlow, some_bytes(100)), everybody = stranger, group = stranger;
    stranger[5] = 9;
    std::fill_n(everybody.begin(), 6, 0xFF);
    group[0] = 1;
    for (const Frame &frame : {stranger, everybody, group, Frame(10), Frame(20000)}) {
        rig.card.frame_in(frame);
    }
    rig.run();
    EXPECT_EQ(rig.take(0).size(), 1u);
    EXPECT_EQ(rig.card.totals().dropped_address, 2u);
    EXPECT_EQ(rig.card.totals().dropped_length, 2u);
    rig.write(reg::FCTRL, bits::FCTRL_UNICAST | bits::FCTRL_MULTICAST);
    rig.card.frame_in(stranger);
    rig.card.frame_in(group);
    rig.run();
    EXPECT_EQ(rig.take(0).size(), 2u);
    rig.write(reg::RXCTRL, 0);
    rig.card.frame_in(everybody);
    EXPECT_EQ(rig.card.totals().dropped_disabled, 1u);
}

struct ReceiveWrapTest : testing::TestWithParam<uint32_t> {};

TEST_P(ReceiveWrapTest, EveryFrameOnceAndInOrder)
{
    const uint32_t size = GetParam();
    Rig rig({}, 64 << 20);
    rig.up({.queues = 1, .descriptors = size});
    uint32_t sent = 0, seen = 0;
    for (uint32_t round = 0; seen < 3 * size; round++) {
        for (uint32_t i = 0; i < round % 29 + 1; i++, sent++) {
            Frame frame = udp_frame(kFlow, some_bytes(18));
            frame[50] = static_cast<uint8_t>(sent);
            frame[51] = static_cast<uint8_t>(sent >> 8);
            rig.card.frame_in(frame);
        }
        rig.run(2000);
        const auto got = rig.take(0);
        for (const auto &one : got) {
            ASSERT_EQ(one.payload[50] | one.payload[51] << 8, static_cast<int>(seen++ & 0xFFFF));
        }
        rig.refill(0, static_cast<uint32_t>(got.size()));
    }
    EXPECT_EQ(seen, sent);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ReceiveWrapTest, testing::Values(64, 4096));

TEST(ReceiveTest, DescriptorsComeAfterTheDataWhateverTheOrderOfTheAnswers)
{
    Rig rig;
    rig.up({});
    rig.host.at_once = false;
    for (int i = 0; i < 3; i++) {
        rig.card.frame_in(udp_frame(kFlow, some_bytes(100)));
    }
    rig.run();
    ASSERT_EQ(rig.host.under_way.size(), 3u); // payloads; the ring was read before
    rig.host.answer(2);
    EXPECT_EQ(rig.host.under_way.size(), 2u); // the last frame has to wait for the first two
    rig.host.answer(0);
    ASSERT_EQ(rig.host.under_way.size(), 2u);
    EXPECT_EQ(rig.host.under_way[1].address, rig.receive[0].base);
    rig.host.answer(0);
    rig.host.answer(0);
    while (!rig.host.under_way.empty()) {
        rig.host.answer();
    }
    EXPECT_EQ(rig.take(0).size(), 3u);
}

TEST(FifoTest, AFullOneDropsAndCounts)
{
    Rig rig;
    rig.up({.queues = 1, .descriptors = 64});
    rig.write(reg::RXPBSIZE, 16 << 10);
    const Frame frame = udp_frame(kFlow, some_bytes(1000 - 42)); // 1024 bytes of the FIFO
    for (int i = 0; i < 63 + 16 + 5; i++) {
        EXPECT_EQ(rig.card.has_room(frame.size()), i < 63 + 16) << i;
        rig.card.frame_in(frame);
        rig.run(2000);
    }
    EXPECT_EQ(rig.take(0).size(), 63u);
    EXPECT_EQ(rig.read(reg::MPC), 5u);
    EXPECT_EQ(rig.card.totals().dropped_fifo, 5u);
    rig.refill(0, 63);
    rig.run();
    EXPECT_EQ(rig.take(0).size(), 16u);
}

TEST(FifoTest, ItIsAsLargeAsTheMachineSays)
{
    Settings settings;
    settings.fifo_bytes = 4096;
    Rig rig(settings);
    rig.up({.queues = 1});
    const Frame frame = udp_frame(kFlow, some_bytes(1000 - 42)); // 1024 bytes of the FIFO
    rig.write_queue(reg::RXDCTL, 0, 0);
    rig.write_queue(reg::RXDCTL, 0, bits::DCTL_ENABLE); // its descriptors are not read yet
    for (int i = 0; i < 6; i++) {
        rig.card.frame_in(frame);
    }
    EXPECT_EQ(rig.read(reg::MPC), 2u);
}

TEST(QueueTest, ThereAreAsManyAsTheMachineSays)
{
    Settings settings;
    settings.queues = 2;
    Rig rig(settings);
    for (uint32_t queue = 0; queue < 3; queue++) {
        rig.write_queue(reg::RXDCTL, queue, bits::DCTL_ENABLE);
        rig.write_queue(reg::TXDCTL, queue, bits::DCTL_ENABLE);
        EXPECT_EQ(rig.read_queue(reg::RXDCTL, queue), queue < 2 ? bits::DCTL_ENABLE : 0) << queue;
        EXPECT_EQ(rig.read_queue(reg::TXDCTL, queue), queue < 2 ? bits::DCTL_ENABLE : 0) << queue;
    }
}

TEST(FifoTest, AQueueWithoutDescriptorsHoldsUpTheOthersUnlessItMayDrop)
{
    for (const bool drop : {false, true}) {
        Settings settings;
        settings.steering = Steering::port;
        settings.first_port = 80;
        Rig rig(settings);
        rig.up({.queues = 2, .descriptors = 64, .drop = drop});
        for (int i = 0; i < 64; i++) {
            rig.card.frame_in(udp_frame(kFlow, some_bytes(20)));
        }
        Flow second = kFlow;
        second.destination_port = 81;
        rig.card.frame_in(udp_frame(second, some_bytes(20)));
        rig.run();
        EXPECT_EQ(rig.take(0).size(), 63u);
        EXPECT_EQ(rig.take(1).size(), drop ? 1u : 0u);
        EXPECT_EQ(rig.read(reg::QPRDC), drop ? 1u : 0u);
        rig.refill(0, 10);
        rig.run();
        EXPECT_EQ(rig.take(1).size(), drop ? 0u : 1u);
    }
}

TEST(FifoTest, TheMoreQueuesAreUsedTheFewerPackets)
{
    Settings settings;
    settings.receive = {.ns = 200, .ns_per_queue = 10};
    settings.steering = Steering::port;
    settings.first_port = 80;
    Rig rig(settings);
    rig.up({.queues = 8});
    for (uint16_t i = 0; i < 100; i++) {
        Flow flow = kFlow;
        flow.destination_port = static_cast<uint16_t>(80 + i % 8);
        rig.card.frame_in(udp_frame(flow, some_bytes(20)));
    }
    rig.run(50 * 280);
    size_t taken = 0;
    for (uint32_t queue = 0; queue < 8; queue++) {
        taken += rig.take(queue).size();
    }
    EXPECT_NEAR(static_cast<double>(taken), 51, 2);
}

TEST(SteeringTest, SpreadReachesAllQueuesEvenly)
{
    Settings settings;
    settings.steering = Steering::spread;
    Rig rig(settings, 64 << 20);
    rig.up({.queues = 48, .descriptors = 256});
    for (uint32_t i = 0; i < 4800; i++) {
        rig.card.frame_in(
            tcp_frame({address(10, 0, 1, i % 25), address(10, 0, 0, 1), static_cast<uint16_t>(20000 + i / 25), 80}, {}));
        rig.run(100);
    }
    for (uint32_t queue = 0; queue < 48; queue++) {
        const size_t got = rig.take(queue).size();
        EXPECT_GT(got, 60u) << queue;
        EXPECT_LT(got, 140u) << queue;
    }
}

TEST(BadDescriptorsTest, ABufferOutsideOfMemoryIsAnErrorInItsDescriptor)
{
    Rig rig;
    rig.up({});
    rig.host.put<uint64_t>(rig.receive[0].base + 0x200, 8); // the 33rd: not read yet
    for (int i = 0; i < 40; i++) {
        rig.card.frame_in(udp_frame(kFlow, some_bytes(20)));
        rig.run(1000);
    }
    const auto got = rig.take(0);
    ASSERT_EQ(got.size(), 40u);
    EXPECT_EQ(got[31].errors, 0u);
    EXPECT_EQ(got[32].errors, kErrorFrame);
    EXPECT_EQ(got[33].errors, 0u);
    EXPECT_EQ(rig.card.totals().dma_errors, 1u);
}

// ---- Flow Director on the way in ----

uint32_t add_signature(Rig &rig, const Flow &flow, uint32_t queue)
{
    const uint32_t hash = flow_hash(2, flow.source, flow.destination, flow.source_port, flow.destination_port);
    rig.write(reg::FDIRHASH, hash);
    rig.write(reg::FDIRCMD, 1 | 1u << 3 | 2u << 5 | 1u << 11 | 1u << 15 | queue << 16);
    return hash;
}

TEST(FlowDirectorTest, ASampledFlowFollows)
{
    Rig rig;
    rig.up({.queues = 8});
    rig.write(reg::FDIRCTRL, 4u << 28 | 1);
    EXPECT_TRUE(rig.read(reg::FDIRCTRL) & bits::FDIRCTRL_DONE);
    rig.card.frame_in(tcp_frame(kFlow, {}));
    add_signature(rig, kFlow, 5);
    EXPECT_EQ(rig.read(reg::FDIRCMD) & 3, 0u);
    rig.card.frame_in(tcp_frame(kFlow, {}));
    add_signature(rig, kFlow, 6); // the process has moved
    rig.card.frame_in(tcp_frame(kFlow, {}));
    rig.card.frame_in(udp_frame(kFlow, {})); // another protocol
    rig.run();
    EXPECT_EQ(rig.take(0).size(), 2u);
    const auto got = rig.take(5);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].status & kFlm);
    EXPECT_EQ(rig.take(6).size(), 1u);
    EXPECT_EQ(rig.read(reg::FDIRMATCH), 2u);
    EXPECT_EQ(rig.read(reg::FDIRMISS), 2u);
    EXPECT_EQ(rig.read(reg::FDIRFREE), 8190u);
    EXPECT_EQ(rig.read(reg::FDIRUSTAT), 2u);
}

TEST(FlowDirectorTest, ANearlyFullTableIsSaidAndAClearedOneIsEmpty)
{
    Rig rig;
    rig.up({.queues = 2});
    rig.interrupts(3);
    rig.write(reg::FDIRCTRL, 4u << 28 | 1);
    Flow flow = kFlow;
    uint32_t added = 0;
    for (; !(rig.read(reg::EICS) & bits::CAUSE_FLOW_DIRECTOR) && added < 20000; added++) {
        flow.source = address(10, 0, added >> 8, added);
        add_signature(rig, flow, 1);
    }
    EXPECT_EQ(rig.read(reg::FDIRFREE), 64u);
    rig.run();
    ASSERT_EQ(rig.host.messages.size(), 1u);
    EXPECT_EQ(rig.host.messages[0].data, 0x4002u);
    rig.card.frame_in(tcp_frame(flow, {}));
    for (uint32_t i = 0; i < 200; i++) {
        flow.source = address(10, 9, i >> 8, i);
        add_signature(rig, flow, 1);
    }
    EXPECT_EQ(rig.read(reg::FDIRFREE), 0u);
    EXPECT_GE(rig.read(reg::FDIRFSTAT), 100u);
    rig.write(reg::FDIRCMD, bits::FDIRCMD_CLEAR);
    rig.write(reg::FDIRCMD, 0);
    EXPECT_EQ(rig.read(reg::FDIRFREE), 8191u);
    rig.card.frame_in(tcp_frame(flow, {}));
    rig.run();
    EXPECT_EQ(rig.take(1).size(), 1u);
    EXPECT_EQ(rig.take(0).size(), 1u);
}

TEST(FlowDirectorTest, ARemovedFilterDoesNotHideOthers)
{
    Rig rig;
    rig.write(reg::FDIRCTRL, 1);
    std::vector<Flow> flows;
    for (uint32_t i = 0; i < 6000; i++) {
        flows.push_back({address(10, 1, i >> 8, i), kFlow.destination, 1, 2});
        add_signature(rig, flows.back(), i % 64);
    }
    const uint32_t there = 8191 - rig.read(reg::FDIRFREE);
    for (size_t i = 0; i < flows.size(); i += 2) {
        const Flow &flow = flows[i];
        rig.write(reg::FDIRHASH, flow_hash(2, flow.source, flow.destination, 1, 2));
        rig.write(reg::FDIRCMD, 2 | 2u << 5);
    }
    const uint32_t left = 8191 - rig.read(reg::FDIRFREE);
    EXPECT_NEAR(left, there / 2, 50);
    uint32_t found = 0;
    for (size_t i = 1; i < flows.size(); i += 2) {
        const Flow &flow = flows[i];
        rig.write(reg::FDIRHASH, flow_hash(2, flow.source, flow.destination, 1, 2));
        rig.write(reg::FDIRCMD, 3 | 2u << 5);
        found += rig.read(reg::FDIRCMD) >> 2 & 1;
    }
    EXPECT_GE(found, 2900u); // but those that share a hash with a removed one
}

TEST(FlowDirectorTest, PerfectFiltersByPort)
{
    Rig rig;
    rig.up({.queues = 8});
    rig.write(reg::FDIRCTRL, bits::FDIRCTRL_PERFECT | 1);
    rig.write(reg::FDIRM, 0x37); // all but layer 4
    rig.write(reg::FDIRSIP4M, UINT32_MAX);
    rig.write(reg::FDIRDIP4M, UINT32_MAX);
    rig.write(reg::FDIRUDPM, 0x0000FFFF); // any source port
    rig.write(reg::FDIRTCPM, 0x0000FFFF);
    for (uint32_t i = 0; i < 8; i++) {
        rig.write(reg::FDIRPORT, (11211 + i) << 16);
        rig.write(reg::FDIRHASH, i << 16 | i);
        rig.write(reg::FDIRCMD, 1 | 1u << 5 | 1u << 15 | i << 16);
    }
    Flow flow = kFlow;
    flow.destination_port = 11214;
    rig.card.frame_in(udp_frame(flow, {}));
    rig.card.frame_in(tcp_frame(flow, {}));
    rig.run();
    EXPECT_EQ(rig.take(3).size(), 1u);
    EXPECT_EQ(rig.take(0).size(), 1u);
    rig.write(reg::FDIRHASH, 3u << 16 | 3);
    rig.write(reg::FDIRCMD, 3);
    EXPECT_TRUE(rig.read(reg::FDIRCMD) & bits::FDIRCMD_VALID);
    rig.write(reg::FDIRCMD, 2);
    rig.card.frame_in(udp_frame(flow, {}));
    rig.run();
    EXPECT_EQ(rig.take(0).size(), 1u);
    EXPECT_EQ(rig.read(reg::FDIRUSTAT), 1u << 16 | 8);
}

TEST(FlowDirectorTest, AMaskOfThePortsLowBitsIsReversed)
{
    Rig rig;
    rig.up({.queues = 8});
    rig.write(reg::FDIRCTRL, bits::FDIRCTRL_PERFECT | 1);
    rig.write(reg::FDIRM, 0x37);
    rig.write(reg::FDIRSIP4M, UINT32_MAX);
    rig.write(reg::FDIRDIP4M, UINT32_MAX);
    rig.write(reg::FDIRTCPM, 0xFFFF0000 | 0x03FF); // source ports by their low six bits: bits 15:6 ignored, written mirrored
    rig.write(reg::FDIRPORT, 5);
    rig.write(reg::FDIRHASH, 1);
    rig.write(reg::FDIRCMD, 1 | 2u << 5 | 1u << 15 | 4u << 16);
    Flow flow = kFlow;
    flow.source_port = 64 * 321 + 5;
    rig.card.frame_in(tcp_frame(flow, {}));
    flow.source_port = 64 * 321 + 6;
    rig.card.frame_in(tcp_frame(flow, {}));
    rig.run();
    EXPECT_EQ(rig.take(4).size(), 1u);
    EXPECT_EQ(rig.take(0).size(), 1u);
}

} // namespace
} // namespace mosbench::nic::test

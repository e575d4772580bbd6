// SPDX-License-Identifier: BSD-3-Clause
//
// Registers as the drivers meet them between probe and link up, and reset.
#include <gtest/gtest.h>

#include "tests/nic/rig.h"

namespace mosbench::nic::test {
namespace {

TEST(RegistersTest, WhatADriverReadsBeforeTheLinkIsUp)
{
    Rig rig;
    EXPECT_EQ(rig.read(reg::STATUS), 0u);
    EXPECT_EQ(rig.read(reg::EEC), 0x2300u);
    EXPECT_EQ(rig.read(reg::FWSM), 0x8000u);
    EXPECT_EQ(rig.read(reg::AUTOC), 0x2300u);
    EXPECT_EQ(rig.read(reg::LINKS), 0x70000000u);
    EXPECT_EQ(rig.read(reg::SECRXSTAT), 1u);
    EXPECT_EQ(rig.read(reg::RXPBSIZE), 0x80000u);
    rig.write(reg::CTRL, bits::CTRL_GIO_DIS);
    EXPECT_EQ(rig.read(reg::CTRL), bits::CTRL_GIO_DIS);
    rig.write(reg::CTRL, bits::CTRL_RST);
    EXPECT_EQ(rig.read(reg::CTRL), 0u);
    rig.write(reg::MSCA, 1u << 30 | 5);
    EXPECT_EQ(rig.read(reg::MSCA), 5u);
    for (const uint32_t offset : {reg::STATUS, reg::EEC, reg::FWSM, reg::HICR, reg::LINKS}) {
        const uint32_t before = rig.read(offset);
        rig.write(offset, ~before);
        EXPECT_EQ(rig.read(offset), before) << std::hex << offset;
    }
}

TEST(RegistersTest, AnUnknownOneKeepsWhatIsWrittenAndIsNeverAllOnes)
{
    Rig rig;
    for (uint32_t offset = 0; offset < kRegisterBytes; offset += 4) {
        ASSERT_NE(rig.read(offset), UINT32_MAX) << std::hex << offset;
    }
    rig.write(0x1F000, 0x1234);
    EXPECT_EQ(rig.read(0x1F000), 0x1234u);
}

TEST(RegistersTest, TheEepromsChecksumIsRight)
{
    Rig rig;
    uint32_t sum = 0;
    for (uint32_t word = 0; word <= 0x3F; word++) {
        rig.write(reg::EERD, word << 2 | 1);
        const uint32_t answer = rig.read(reg::EERD);
        ASSERT_TRUE(answer & 2);
        sum += answer >> 16;
    }
    EXPECT_EQ(sum & 0xFFFF, 0xBABAu);
}

TEST(RegistersTest, OnesWithTwoAddresses)
{
    Rig rig;
    rig.write(0x2100 + 4 * 15, 0x1234);
    EXPECT_EQ(rig.read(0x1014 + 0x40 * 15), 0x1234u);
    EXPECT_EQ(rig.read(0x5400), rig.read(0xA200));
    EXPECT_EQ(rig.read(0x5404), 0x80000100u);
    rig.write(0x5400, 0x77);
    EXPECT_EQ(rig.read(0xA200), 0x77u);
    rig.write(reg::CTRL, bits::CTRL_RST);
    EXPECT_EQ(rig.read(0xA200), 0x2u); // 02:00:00:00:00:01 again
}

TEST(RegistersTest, QueueSwitchesReadBackAtOnce)
{
    Rig rig;
    for (const uint32_t offset : {reg::RXDCTL, reg::TXDCTL}) {
        rig.write_queue(offset, 63, 1u << 25 | 1u << 26 | 8u << 16);
        EXPECT_EQ(rig.read_queue(offset, 63), 1u << 25 | 8u << 16);
    }
}

TEST(RegistersTest, CountersAreClearedByARead)
{
    Rig rig;
    rig.up({});
    for (int i = 0; i < 3; i++) {
        rig.card.frame_in(tcp_frame(kFlow, some_bytes(100)));
    }
    rig.run();
    EXPECT_EQ(rig.read(reg::GORCL), 3u * 158);
    EXPECT_EQ(rig.read(reg::GORCL), 0u);
    EXPECT_EQ(rig.read(reg::GPRC), 3u);
    EXPECT_EQ(rig.read(reg::GPRC), 0u);
    EXPECT_EQ(rig.read(reg::PRC64 + 8), 3u);
    EXPECT_EQ(rig.read(reg::QPRC), 3u);
    EXPECT_EQ(rig.card.totals().received_frames, 3u);
}

TEST(ResetTest, WithDmaUnderWayNothingFollows)
{
    Rig rig;
    rig.up({.queues = 2});
    rig.interrupts(3);
    rig.host.at_once = false;
    rig.card.frame_in(tcp_frame(kFlow, some_bytes(500)));
    rig.send(1, {.bytes = tcp_frame(kFlow, some_bytes(500))});
    rig.run(1000);
    ASSERT_GE(rig.host.under_way.size(), 2u);
    rig.write(reg::CTRL, bits::CTRL_RST);
    while (!rig.host.under_way.empty()) {
        rig.host.answer();
    }
    rig.run();
    EXPECT_TRUE(rig.host.under_way.empty());
    EXPECT_TRUE(rig.host.frames.empty());
    EXPECT_TRUE(rig.host.messages.empty());
    EXPECT_TRUE(rig.take(0).empty());
    EXPECT_EQ(rig.host.wake_ns, kNever);
    // And it works again.
    rig.host.at_once = true;
    rig.receive.clear();
    rig.transmit.clear();
    rig.up({});
    rig.card.frame_in(tcp_frame(kFlow, some_bytes(10)));
    rig.send(0, {.bytes = tcp_frame(kFlow, some_bytes(10))});
    rig.run();
    EXPECT_EQ(rig.take(0).size(), 1u);
    EXPECT_EQ(rig.host.frames.size(), 1u);
}

TEST(ResetTest, AQueueThatIsSwitchedOffLosesItsPacketsAndNoOthers)
{
    Rig rig;
    rig.up({.queues = 2});
    rig.host.at_once = false;
    rig.send(0, {.bytes = tcp_frame(kFlow, some_bytes(100))});
    rig.send(1, {.bytes = tcp_frame(kFlow, some_bytes(200))});
    rig.run(1000);
    rig.host.answer();
    rig.host.answer(); // both rings' descriptors
    ASSERT_EQ(rig.host.under_way.size(), 2u);
    rig.write_queue(reg::TXDCTL, 0, 0);
    while (!rig.host.under_way.empty()) {
        rig.host.answer();
    }
    ASSERT_EQ(rig.host.frames.size(), 1u);
    EXPECT_EQ(rig.host.frames[0].bytes.size(), 254u);
    EXPECT_FALSE(rig.transmit_done(0, 0));
    EXPECT_TRUE(rig.transmit_done(1, 0));
}

TEST(ResetTest, TheMsixTableStays)
{
    Rig rig;
    rig.up({});
    rig.interrupts(2);
    rig.write(reg::CTRL, bits::CTRL_RST);
    EXPECT_EQ(rig.card.read_msix(16), 0xFEE01000u);
    EXPECT_EQ(rig.card.read_msix(24), 0x4001u);
}

} // namespace
} // namespace mosbench::nic::test

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "tests/nic/rig.h"

namespace mosbench::nic::test {
namespace {

constexpr Flow kDatagram = {address(10, 0, 0, 2), address(10, 0, 0, 1), 40000, 11211};

// One datagram for queue `n`, with steering by port.
Frame for_queue(uint32_t n)
{
    Flow flow = kDatagram;
    flow.destination_port = static_cast<uint16_t>(flow.destination_port + n);
    return udp_frame(flow, some_bytes(20));
}

struct InterruptsTest : testing::Test {
    static Settings by_port()
    {
        Settings settings;
        settings.steering = Steering::port;
        return settings;
    }
    Rig rig{by_port(), 64 << 20};
    std::vector<ToyHost::SentMessage> &messages = rig.host.messages;

    void enable(uint32_t vector) { rig.write(reg::EIMS_EX + vector / 32 * 4, 1u << vector % 32); }
};

TEST_F(InterruptsTest, EveryVectorHasItsOwnMessage)
{
    rig.up({.queues = 48});
    rig.interrupts(49);
    for (uint32_t n = 0; n < 48; n++) {
        rig.card.frame_in(for_queue(n));
        rig.run();
        ASSERT_EQ(messages.size(), 1u) << n;
        EXPECT_EQ(messages[0].address, 0xFEE00000u | n << 12);
        EXPECT_EQ(messages[0].data, 0x4000u + n);
        messages.clear();
    }
}

TEST_F(InterruptsTest, AVectorIsSilentUntilTheDriverHasLooked)
{
    rig.up({.queues = 48});
    rig.interrupts(49);
    for (const uint32_t n : {0u, 15u, 16u, 40u}) {
        for (int i = 0; i < 3; i++) {
            rig.card.frame_in(for_queue(n));
            rig.run();
        }
        EXPECT_EQ(messages.size(), 1u) << n;
        enable(n); // a cause that came meanwhile fires now
        rig.run();
        EXPECT_EQ(messages.size(), 2u) << n;
        enable(n);
        rig.run();
        EXPECT_EQ(messages.size(), 2u) << n;
        messages.clear();
    }
}

TEST_F(InterruptsTest, ModerationKeepsMessagesApart)
{
    rig.up({.queues = 32, .descriptors = 128});
    rig.interrupts(33, 0x3D0); // 8 us x 31.25: 250 us
    const uint64_t interval = 0x3D0 * 256;
    for (const uint32_t n : {3u, 30u}) {
        messages.clear();
        for (int i = 0; i < 100; i++) {
            rig.card.frame_in(for_queue(n));
            rig.run(10000);
            enable(n);
        }
        ASSERT_GE(messages.size(), 4u) << n;
        ASSERT_LE(messages.size(), 6u) << n;
        for (size_t i = 1; i < messages.size(); i++) {
            EXPECT_GE(messages[i].ns - messages[i - 1].ns, interval);
            EXPECT_LE(messages[i].ns - messages[i - 1].ns, interval + 11000);
        }
    }
}

TEST_F(InterruptsTest, ANewIntervalLeavesTheRunningOneWhereItSaysSo)
{
    rig.up({.queues = 1});
    rig.interrupts(2, 0x3D0);
    rig.run(1000000);
    rig.card.frame_in(for_queue(0));
    rig.run(1000);
    ASSERT_EQ(messages.size(), 1u);
    rig.write_eitr(0, 1u << 31);
    enable(0);
    rig.card.frame_in(for_queue(0));
    rig.run(100000);
    EXPECT_EQ(messages.size(), 1u);
    rig.write_eitr(0, 0);
    rig.run(1000);
    EXPECT_EQ(messages.size(), 2u);
}

TEST_F(InterruptsTest, AMaskedVectorIsPendingAndSendsWhenUnmasked)
{
    rig.up({.queues = 48});
    rig.interrupts(49);
    for (const uint32_t n : {2u, 47u}) {
        rig.card.write_msix(n * 16 + 12, 1);
        rig.card.frame_in(for_queue(n));
        rig.run();
        EXPECT_TRUE(messages.empty());
        EXPECT_EQ(rig.card.read_msix(0x2000 + n / 32 * 4), 1u << n % 32);
        rig.card.write_msix(n * 16, 0xFEE00000 | 77u << 12); // it has moved
        rig.card.write_msix(n * 16 + 12, 0);
        rig.run();
        ASSERT_EQ(messages.size(), 1u);
        EXPECT_EQ(messages[0].address, 0xFEE00000u | 77u << 12);
        EXPECT_EQ(rig.card.read_msix(0x2000 + n / 32 * 4), 0u);
        messages.clear();
    }
    rig.card.set_msix(true, true);
    rig.card.frame_in(for_queue(5));
    rig.run();
    EXPECT_TRUE(messages.empty());
    rig.card.set_msix(true, false);
    rig.run();
    EXPECT_EQ(messages.size(), 1u);
}

TEST_F(InterruptsTest, TheDriverCanRaiseVectorsItself)
{
    rig.up({.queues = 48});
    rig.interrupts(49);
    rig.write(reg::EICS_EX, UINT32_MAX);
    rig.write(reg::EICS_EX + 4, 0xFFFF);
    rig.run();
    EXPECT_EQ(messages.size(), 48u);
}

TEST_F(InterruptsTest, OtherCausesHaveAVectorAndAreReadFromEics)
{
    rig.up({.queues = 2});
    rig.interrupts(3);
    rig.write(reg::EICS, 1u << 20);
    rig.run();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].data, 0x4002u);
    EXPECT_EQ(rig.read(reg::EICS), 1u << 20);
    EXPECT_EQ(rig.read(reg::EICS), 1u << 20);
    rig.write(reg::EICR, 1u << 20);
    EXPECT_EQ(rig.read(reg::EICS), 0u);
    rig.write(reg::EIMC, 1u << 20);
    rig.write(reg::EICS, 1u << 20);
    rig.run();
    EXPECT_EQ(messages.size(), 1u);
    rig.write(reg::EIMS, 1u << 20);
    rig.run();
    EXPECT_EQ(messages.size(), 2u);
}

TEST_F(InterruptsTest, WithoutMsixTheCardIsSilentAndForgetsNothing)
{
    rig.up({.queues = 2});
    rig.interrupts(3);
    rig.card.set_msix(false, false);
    rig.card.frame_in(for_queue(0));
    rig.run();
    EXPECT_TRUE(messages.empty());
    rig.card.set_msix(true, false);
    rig.run();
    EXPECT_EQ(messages.size(), 1u);
}

TEST_F(InterruptsTest, OneMessageForAllCausesByMsi)
{
    rig.up({.queues = 1});
    rig.write_ivar(0, 0);
    rig.write(reg::GPIE, 0);
    rig.write(reg::EIAM, bits::CAUSE_VECTORS);
    rig.write(reg::EIMS, bits::CAUSE_VECTORS);
    rig.card.set_msi(true, 0x1FEE02000, 0x4061);
    rig.card.frame_in(for_queue(0));
    rig.run();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].address, 0x1FEE02000u);
    EXPECT_EQ(messages[0].data, 0x4061u);
    EXPECT_EQ(rig.read(reg::EICR), 1u); // says what it was for, and disables it
    EXPECT_EQ(rig.read(reg::EICR), 0u);
    rig.card.frame_in(for_queue(0));
    rig.run();
    EXPECT_EQ(messages.size(), 1u);
    rig.write(reg::EIMS, bits::CAUSE_VECTORS); // as when polling ends
    rig.run();
    EXPECT_EQ(messages.size(), 2u);

    rig.read(reg::EICR);
    rig.write_eitr(0, 1000 << 3 & bits::EITR_INTERVAL);
    for (int i = 0; i < 2; i++) {
        rig.write(reg::EIMS, bits::CAUSE_VECTORS);
        rig.card.frame_in(for_queue(0));
        rig.run(10000);
        rig.read(reg::EICR);
    }
    EXPECT_EQ(messages.size(), 3u); // the second has to wait for the interval
    rig.card.set_msi(false, 0, 0);
    rig.write(reg::EICS, 1);
    rig.run();
    EXPECT_EQ(messages.size(), 3u);
}

TEST_F(InterruptsTest, SendingRaisesTheQueuesVectorAfterTheWriteBack)
{
    rig.up({.queues = 48});
    rig.interrupts(49);
    rig.host.at_once = false;
    rig.send(33, {.bytes = for_queue(0)});
    rig.run();
    while (!rig.host.under_way.empty()) {
        EXPECT_TRUE(messages.empty());
        rig.host.answer();
    }
    rig.run();
    EXPECT_TRUE(rig.transmit_done(33, 0));
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].data, 0x4000u + 33);
}

} // namespace
} // namespace mosbench::nic::test

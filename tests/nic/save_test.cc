// SPDX-License-Identifier: BSD-3-Clause
//
// A card that is saved and loaded into another at any step behaves as if nothing had happened.
#include <gtest/gtest.h>

#include "tests/nic/rig.h"

namespace mosbench::nic::test {
namespace {

Settings by_port()
{
    Settings settings;
    settings.steering = Steering::port;
    settings.receive = {.ns = 100, .ns_per_queue = 10};
    return settings;
}

// Traffic both ways with DMA that is answered one at a time; `at_step` is called before each step.
struct Traffic {
    Rig rig{by_port()};
    Card other{by_port(), rig.host};
    uint32_t steps = 0;

    template <typename Step> void drive(Step at_step)
    {
        rig.up({.queues = 4});
        rig.interrupts(5, 0x50);
        rig.write(reg::FDIRCTRL, 4u << 28 | 1);
        rig.host.at_once = false;
        Flow flow = {address(10, 0, 0, 2), address(10, 0, 0, 1), 40000, 11211};
        for (uint32_t i = 0; i < 12; i++) {
            flow.destination_port = static_cast<uint16_t>(11211 + i % 4);
            rig.host.card->frame_in(udp_frame(flow, some_bytes(100 + i, i)));
            send(i % 4, udp_frame(flow, some_bytes(200 + i, i)));
            rig.host.card->write(reg::EIMS_EX, UINT32_MAX);
            for (uint32_t step = 0; step < 6; step++, steps++) {
                at_step(*this);
                if (rig.host.under_way.size() > step % 3) {
                    rig.host.answer(step % 3);
                }
                pass(150);
            }
        }
        while (!rig.host.under_way.empty() || rig.host.wake_ns != kNever) {
            at_step(*this);
            steps++;
            if (!rig.host.under_way.empty()) {
                rig.host.answer();
            }
            pass(500);
        }
    }

    void send(uint32_t queue, const Frame &frame)
    {
        rig.send(queue, {.bytes = frame}, false);
        rig.host.card->write(reg::TDT + queue * 0x40, rig.transmit[queue].tail);
    }
    void pass(uint64_t ns)
    {
        const uint64_t end = rig.host.now + ns;
        while (rig.host.wake_ns <= end) {
            rig.host.now = std::max(rig.host.now, rig.host.wake_ns);
            rig.host.wake_ns = kNever;
            rig.host.card->wake();
        }
        rig.host.now = end;
    }
    // The other card goes on from here.
    void change()
    {
        Card &from = *rig.host.card, &to = &from == &rig.card ? other : rig.card;
        const std::vector<uint8_t> saved = from.save();
        from.power_on();
        ASSERT_TRUE(to.load(saved));
        rig.host.card = &to;
    }
};

void expect_same(Traffic &a, Traffic &b)
{
    ASSERT_EQ(a.rig.host.frames.size(), b.rig.host.frames.size());
    for (size_t i = 0; i < a.rig.host.frames.size(); i++) {
        ASSERT_EQ(a.rig.host.frames[i].ns, b.rig.host.frames[i].ns) << i;
        ASSERT_EQ(a.rig.host.frames[i].bytes, b.rig.host.frames[i].bytes) << i;
    }
    ASSERT_EQ(a.rig.host.messages.size(), b.rig.host.messages.size());
    for (size_t i = 0; i < a.rig.host.messages.size(); i++) {
        ASSERT_EQ(a.rig.host.messages[i].ns, b.rig.host.messages[i].ns) << i;
        ASSERT_EQ(a.rig.host.messages[i].data, b.rig.host.messages[i].data) << i;
    }
    ASSERT_EQ(a.rig.host.memory, b.rig.host.memory);
    ASSERT_EQ(a.rig.host.card->totals().received_frames, b.rig.host.card->totals().received_frames);
}

TEST(SaveTest, AtEachStep)
{
    Traffic straight;
    straight.drive([](Traffic &) {});
    ASSERT_EQ(straight.rig.host.frames.size(), 12u);
    ASSERT_EQ(straight.rig.host.card->totals().received_frames, 12u);
    ASSERT_GE(straight.rig.host.messages.size(), 8u);
    Traffic changing;
    changing.drive([](Traffic &traffic) { traffic.change(); });
    expect_same(straight, changing);
    for (uint32_t once = 0; once < straight.steps; once += 7) {
        Traffic traffic;
        traffic.drive([once](Traffic &t) {
            if (t.steps == once) {
                t.change();
            }
        });
        expect_same(straight, traffic);
    }
}

TEST(SaveTest, WhatIsNoSavedCardIsRefused)
{
    Rig rig;
    rig.write(0x1F000, 0x1234);
    std::vector<uint8_t> saved = rig.card.save();
    EXPECT_FALSE(rig.card.load({}));
    EXPECT_FALSE(rig.card.load(std::span(saved).first(saved.size() - 1)));
    saved[0] ^= 1;
    EXPECT_FALSE(rig.card.load(saved));
    EXPECT_EQ(rig.read(0x1F000), 0x1234u);
}

} // namespace
} // namespace mosbench::nic::test

// SPDX-License-Identifier: GPL-2.0-or-later
//
// Guest time: nanoseconds of cycles and back, the next timer, the jump to it.
#include <gtest/gtest.h>

#include <random>

#include "fast-engine/qemu/files/accel/tcg/mosbench/logic/guest_time.h"

namespace mosbench::test {
namespace {

struct Clock : testing::Test {
    Clock() { time.deadline = NEVER; }

    GuestTime time{};
};

TEST_F(Clock, CountsNanosecondsOfCycles)
{
    guest_time_set_clock(&time, 0, 0.1);
    EXPECT_EQ(guest_time_ns(&time, 0), 0);
    EXPECT_EQ(guest_time_ns(&time, 1), 10);
    guest_time_set_clock(&time, 0, 2.0);
    EXPECT_EQ(guest_time_ns(&time, 3), 1);
    EXPECT_EQ(guest_time_ns(&time, 2000000000), 1000000000);
}

TEST_F(Clock, GoesOnWhereItWasWhenItsFrequencyChanges)
{
    guest_time_set_clock(&time, 0, 0.1);
    guest_time_set_clock(&time, 1000, 2.0);
    EXPECT_EQ(guest_time_ns(&time, 1000), 10000);
    EXPECT_EQ(guest_time_ns(&time, 1200), 10100);
    guest_time_set_clock(&time, 1200, 0.1);
    EXPECT_EQ(guest_time_ns(&time, 1201), 10110);
}

// A timer is due at the first cycle at which the clock shows its time: a cycle later it would come late, a cycle earlier the
// clock would not show it yet, and the loop would jump to the same cycle for ever.
TEST_F(Clock, ATimersCycleIsTheFirstThatShowsItsTime)
{
    std::mt19937_64 random(1);
    int64_t now = 0;
    for (const double ghz : {0.1, 2.4, 2.0, 3.7, 0.1}) {
        guest_time_set_clock(&time, now, ghz);
        for (int i = 0; i < 10000; i++) {
            const int64_t ns = time.scale_ns + static_cast<int64_t>(random() % (uint64_t{1} << (1 + random() % 45)));
            const int64_t cycle = guest_time_cycles(&time, ns);
            ASSERT_GE(guest_time_ns(&time, cycle), ns) << ghz;
            if (cycle > time.scale_cycles) {
                ASSERT_LT(guest_time_ns(&time, cycle - 1), ns) << ghz;
            }
        }
        now += 123456789012;
    }
}

TEST_F(Clock, NeverGoesBack)
{
    EXPECT_EQ(guest_time_read(&time, 500), 500);
    EXPECT_EQ(guest_time_read(&time, 400), 500); // another core, behind the first
    EXPECT_EQ(guest_time_read(&time, 501), 501);
}

TEST_F(Clock, ACoreThatWakesUpFindsTheLatestTimeThatAnybodySaw)
{
    guest_time_advance(&time, 300);
    EXPECT_EQ(guest_time_latest(&time), 300);
    guest_time_read(&time, 350);
    EXPECT_EQ(guest_time_latest(&time), 350);
}

TEST_F(Clock, ComesAsFarAsTheSlowestCoreButNotPastATimer)
{
    time.deadline = 1000;
    EXPECT_FALSE(guest_time_advance(&time, 999));
    EXPECT_EQ(time.now, 999);
    EXPECT_FALSE(guest_time_advance(&time, 900)); // a core that was woken
    EXPECT_EQ(time.now, 999);
    EXPECT_TRUE(guest_time_advance(&time, 1005));
    EXPECT_EQ(time.now, 1000);
}

TEST_F(Clock, JumpsToTheNextTimerIfThereIsOne)
{
    guest_time_advance(&time, 70);
    EXPECT_FALSE(guest_time_jump(&time));
    EXPECT_EQ(time.now, 70);
    time.deadline = 123456;
    EXPECT_TRUE(guest_time_jump(&time));
    EXPECT_EQ(time.now, 123456);
}

} // namespace
} // namespace mosbench::test

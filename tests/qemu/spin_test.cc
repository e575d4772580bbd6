// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loops with PAUSE: when a core may sleep, for how long, and where it wakes up.
#include <gtest/gtest.h>

#include <array>

#include "fast-engine/qemu/files/accel/tcg/mosbench/logic/spin.h"

namespace mosbench::test {
namespace {

constexpr int64_t round_cycles = 43, round_instructions = 4;

struct Loop : testing::Test {
    // A round of the loop, from PAUSE to PAUSE.
    SpinStep round(int64_t cycles = round_cycles)
    {
        clock += cycles;
        instructions += round_instructions;
        return spin_pause(&spin, pc, registers.data(), flags.data(), clock, instructions);
    }
    // The first PAUSE, and a round like it.
    void observed()
    {
        EXPECT_EQ(round(), SPIN_GO_ON);
        EXPECT_EQ(round(), SPIN_OBSERVE);
        EXPECT_TRUE(spin.observing);
    }

    Spin spin{};
    uint64_t pc = 0xffffffff81000000;
    std::array<uint64_t, SPIN_REGISTERS> registers{1, 2, 3};
    std::array<uint64_t, SPIN_FLAGS> flags{};
    int64_t clock = 1000, instructions = 100;
};

TEST_F(Loop, IsObservedAfterOneLikeItAndSleptThroughAfterThat)
{
    observed();
    EXPECT_TRUE(spin_access(&spin, 77, true));
    EXPECT_TRUE(spin_access(&spin, 77, true));
    EXPECT_TRUE(spin_access(&spin, 78, true));
    EXPECT_EQ(round(), SPIN_SLEEP);
    EXPECT_EQ(spin.lines, 2u);
    EXPECT_EQ(spin.line[0], 77u);
    EXPECT_EQ(spin.line[1], 78u);
}

TEST_F(Loop, ThatChangesARegisterAFlagOrItsPlaceIsNot)
{
    EXPECT_EQ(round(), SPIN_GO_ON);
    for (uint64_t *changed : {&registers[0], &registers[15], &flags[0], &flags[3], &pc}) {
        EXPECT_EQ(round(), SPIN_OBSERVE);
        spin_access(&spin, 77, true);
        ++*changed;
        EXPECT_EQ(round(), SPIN_GO_ON);
    }
}

TEST_F(Loop, ThatStoresOrWaitsIsNot)
{
    observed();
    spin_access(&spin, 77, true);
    EXPECT_FALSE(spin_access(&spin, 78, false));
    EXPECT_FALSE(spin.observing);
    EXPECT_EQ(round(), SPIN_OBSERVE); // the next may be better
}

TEST_F(Loop, ThatReadsNothingIsNot)
{
    observed();
    EXPECT_EQ(round(), SPIN_OBSERVE);
}

TEST_F(Loop, ThatReadsMoreLinesThanCanBeWatchedIsNot)
{
    observed();
    for (uint32_t line = 0; line < SPIN_MAX_LINES; line++) {
        EXPECT_TRUE(spin_access(&spin, line, true));
    }
    EXPECT_TRUE(spin_access(&spin, 0, true));
    EXPECT_FALSE(spin_access(&spin, SPIN_MAX_LINES, true));
    EXPECT_EQ(round(), SPIN_OBSERVE);
}

TEST_F(Loop, WhoseRoundIsLongIsNot)
{
    observed();
    spin_access(&spin, 77, true);
    EXPECT_EQ(round(SPIN_MAX_ROUND_CYCLES + 1), SPIN_OBSERVE);
    spin_access(&spin, 77, true);
    EXPECT_EQ(round(SPIN_MAX_ROUND_CYCLES), SPIN_SLEEP);
}

TEST_F(Loop, ThatSawTheClockIsNot)
{
    observed();
    spin_access(&spin, 77, true);
    spin.observing = false; // what mosbench_now does
    EXPECT_EQ(round(), SPIN_OBSERVE);
}

TEST_F(Loop, WhoseLinesCannotBeWatchedIsLookedAtAnew)
{
    observed();
    spin_access(&spin, 77, true);
    EXPECT_EQ(round(), SPIN_SLEEP);
    spin_forget(&spin);
    EXPECT_EQ(round(), SPIN_GO_ON);
    EXPECT_EQ(round(), SPIN_OBSERVE);
}

struct Sleeper : Loop {
    Sleeper()
    {
        observed();
        spin_access(&spin, 77, true);
        EXPECT_EQ(round(), SPIN_SLEEP);
    }
};

TEST_F(Sleeper, SleepsWholeRounds)
{
    const int64_t slept = spin_sleep_end(&spin) - clock;
    EXPECT_EQ(slept % round_cycles, 0);
    EXPECT_LE(slept, SPIN_MAX_SLEEP_CYCLES);
    EXPECT_GT(slept, SPIN_MAX_SLEEP_CYCLES - round_cycles);
}

TEST_F(Sleeper, WakesUpInTheFirstRoundThatCanSeeTheChange)
{
    EXPECT_EQ(spin_round_from(&spin, clock - 500), clock);
    EXPECT_EQ(spin_round_from(&spin, clock), clock);
    EXPECT_EQ(spin_round_from(&spin, clock + 1), clock + round_cycles);
    EXPECT_EQ(spin_round_from(&spin, clock + round_cycles), clock + round_cycles);
    EXPECT_EQ(spin_round_from(&spin, clock + round_cycles + 1), clock + 2 * round_cycles);
}

TEST_F(Sleeper, IsCreditedWithWholeRounds)
{
    EXPECT_EQ(spin_rounds(&spin, clock), 0);
    EXPECT_EQ(spin_rounds(&spin, clock + 10 * round_cycles), 10);
    EXPECT_EQ(spin.round_instructions, round_instructions);
}

} // namespace
} // namespace mosbench::test

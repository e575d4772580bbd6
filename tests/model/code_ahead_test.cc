// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an L1I asks for before its core comes to it.
#include <gtest/gtest.h>

#include "tests/model/rig.h"

namespace mosbench::test {
namespace {

Settings asking_for(const std::string &lines, const std::string &core = "interval")
{
    Settings settings = opteron();
    settings["core"] = core;
    settings["code_prefetch_lines"] = lines;
    return settings;
}

// Cycles beyond an L1 hit.
uint64_t waited(Rig &rig, uint64_t now, uint32_t core, uint32_t line)
{
    return rig.access_at(now, core, line, MODEL_FETCH) - rig.machine.l1_cycles;
}

TEST(CodeAhead, TheNextLineComesWithOneThatIsMissed)
{
    Rig rig(asking_for("1"));
    const uint64_t first = waited(rig, 1000, 0, 8);
    EXPECT_EQ(first, 122u - 3);
    // It was asked for at the same time and comes behind the other: 64 bytes take 23 cycles of the memory's.
    EXPECT_EQ(waited(rig, 1000, 0, 9), first + 23);
    EXPECT_EQ(waited(rig, 1000 + first, 0, 9), 0u) << "it passes once it was waited for";
    EXPECT_EQ(waited(rig, 2000, 0, 10), first) << "what is found asks for nothing";
    EXPECT_EQ(rig.core(0).l1_misses, 4u);
}

TEST(CodeAhead, WhoComesLateWaitsForNothing)
{
    Rig rig(asking_for("1"));
    waited(rig, 1000, 0, 8);
    EXPECT_EQ(waited(rig, 5000, 0, 9), 0u);
}

TEST(CodeAhead, NotBehindTheEndOfAPage)
{
    Rig rig(asking_for("4"));
    waited(rig, 1000, 0, 61);
    EXPECT_TRUE(rig.entry(62).in_core(0));
    EXPECT_TRUE(rig.entry(63).in_core(0));
    EXPECT_FALSE(rig.entry(64).in_core(0));
}

TEST(CodeAhead, ALineThatIsOthersJustNowComesBehindThem)
{
    Rig rig(asking_for("1"));
    const uint64_t others = 1000 + rig.access_at(1000, 6, 9, MODEL_WRITE);
    waited(rig, 1010, 0, 8);
    EXPECT_GT(waited(rig, others, 0, 9), 0u);
    EXPECT_EQ(rig.entry(9).cores, uint64_t{1} << 6 | 1);
}

TEST(CodeAhead, NotOfCoresThatWaitForEverything)
{
    Rig rig(asking_for("1", "in-order"));
    waited(rig, 1000, 0, 8);
    EXPECT_FALSE(rig.entry(9).in_core(0));
}

TEST(CodeAhead, AStoreToItIsAskedAbout)
{
    Rig rig(asking_for("1"));
    rig.access_at(1000, 0, 9, MODEL_WRITE);
    ASSERT_TRUE(rig.passes(0, 9, MODEL_WRITE));
    waited(rig, 5000, 0, 8);
    EXPECT_FALSE(rig.passes(0, 9, MODEL_WRITE)) << "its bytes are in the L1I too";
}

} // namespace
} // namespace mosbench::test

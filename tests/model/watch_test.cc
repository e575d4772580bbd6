// SPDX-License-Identifier: GPL-2.0-or-later
//
// Cores that sleep until a line they read is taken away.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "fast-engine/model/watches.h"
#include "tests/model/rig.h"

namespace mosbench::test {
namespace {

std::vector<std::pair<uint16_t, uint64_t>> lost; // core, time

struct Watch : testing::Test {
    explicit Watch(const Settings &settings = opteron())
        : machine(parse_machine(flat(settings))),
          model(machine, HomeMap(machine).lines(), {}, [](uint16_t core, uint64_t now) { lost.emplace_back(core, now); })
    {
        lost.clear();
    }

    void access(uint64_t now, uint16_t core, uint32_t line, model_access_kind kind)
    {
        model.access({.now = now,
                      .pc = 1,
                      .address = uint64_t{line} * 64,
                      .line = line,
                      .core = core,
                      .kind = static_cast<uint8_t>(kind),
                      .kernel = 0,
                      .may_defer = false,
                      .early = false,
                      .size = 8,
                      .load = 0,
                      .block = 0,
                      .instruction = 0,
                      .origin = {}});
    }
    bool watch(uint32_t core, std::vector<uint32_t> lines) { return model.watch(core, lines); }

    const Machine machine;
    Coherence model;
};

TEST_F(Watch, SaysOnceWhoLostALineAndWhen)
{
    access(1000, 3, 5, MODEL_READ);
    access(2000, 7, 5, MODEL_READ);
    EXPECT_TRUE(watch(3, {5}));
    access(3000, 9, 5, MODEL_READ);
    access(4000, 9, 6, MODEL_WRITE);
    EXPECT_TRUE(lost.empty());
    access(5000, 9, 5, MODEL_WRITE);
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_EQ(lost[0], std::make_pair(uint16_t{3}, uint64_t{5000}));
    access(6000, 3, 5, MODEL_READ);
    access(7000, 9, 5, MODEL_WRITE);
    EXPECT_EQ(lost.size(), 1u);
}

TEST_F(Watch, AnyOfTheLinesCountsAndLaterOnesReplaceThem)
{
    access(1000, 3, 5, MODEL_READ);
    access(2000, 3, 6, MODEL_READ);
    EXPECT_TRUE(watch(3, {5}));
    EXPECT_TRUE(watch(3, {6}));
    access(3000, 4, 5, MODEL_WRITE);
    EXPECT_TRUE(lost.empty());
    access(4000, 3, 5, MODEL_READ);
    EXPECT_TRUE(watch(3, {5, 6}));
    model.dma(5000, 6, true);
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_EQ(lost[0], std::make_pair(uint16_t{3}, uint64_t{5000}));
}

TEST_F(Watch, ALineThatIsNotThereCannotBeWatched)
{
    access(1000, 3, 5, MODEL_READ);
    EXPECT_FALSE(watch(3, {5, 6}));
    EXPECT_FALSE(watch(4, {5}));
}

struct WatchCountingHits : Watch {
    WatchCountingHits() : Watch(counting()) {}
    static Settings counting()
    {
        Settings settings = opteron();
        settings["count_hits"] = "1";
        return settings;
    }
};

TEST_F(WatchCountingHits, NobodyMaySleepWhereEveryAccessCounts)
{
    access(1000, 3, 5, MODEL_READ);
    EXPECT_FALSE(watch(3, {5}));
}

// Watches by itself, without caches.
struct WatchesAlone : testing::Test {
    WatchesAlone() { lost.clear(); }
    void watch(uint32_t core, std::vector<uint32_t> lines) { watches.watch(core, lines); }

    Watches watches{[](uint16_t core, uint64_t now) { lost.emplace_back(core, now); }};
};

TEST_F(WatchesAlone, OnlyTheCoreAndItsLinesCount)
{
    watch(63, {5, 6});
    watches.copy_lost(62, 5, 10);
    watches.copy_lost(63, 7, 20);
    EXPECT_TRUE(lost.empty());
    watches.copy_lost(63, 6, 30);
    watches.copy_lost(63, 5, 40); // it has been told
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_EQ(lost[0], std::make_pair(uint16_t{63}, uint64_t{30}));
}

TEST_F(WatchesAlone, NobodyWatchesWhereNobodyIsToBeTold)
{
    EXPECT_TRUE(watches.possible());
    EXPECT_FALSE(Watches(nullptr).possible());
}

} // namespace
} // namespace mosbench::test

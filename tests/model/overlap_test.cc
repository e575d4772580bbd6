// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a core that works ahead waits for. The machine: 40 instructions of window, 10 hidden cycles, 4 misses, 2 stores.
#include <gtest/gtest.h>

#include "fast-engine/model/overlap.h"
#include "tests/model/opteron.h"

namespace mosbench::test {
namespace {

constexpr uint64_t kLatency = 119, kHidden = 10;

Machine machine(const std::string &core, const Settings &other = {})
{
    Settings settings = opteron();
    settings["core"] = core;
    for (const auto &[key, value] : other) {
        settings[key] = value;
    }
    return parse_machine(flat(settings));
}

// An access of core 0 at its instruction of that number, in a block of its own.
model_access access(uint8_t kind, uint64_t now, uint64_t instruction)
{
    model_access made{};
    made.now = now;
    made.kind = kind;
    made.instruction = instruction;
    made.block = instruction + 1;
    return made;
}

class WorksAhead : public testing::Test {
  protected:
    uint64_t waited(const model_access &access, uint64_t latency = kLatency, uint64_t away = 0)
    {
        return overlap_.waited(access, latency, away);
    }

    Overlap overlap_{machine("interval")};
};

TEST(InOrder, WaitsForEverything)
{
    Overlap overlap(machine("in-order"));
    for (const uint8_t kind : {MODEL_READ, MODEL_WRITE, MODEL_ATOMIC, MODEL_FETCH, MODEL_WALK}) {
        EXPECT_EQ(overlap.waited(access(kind, 1000, 1), kLatency, 7), kLatency) << int{kind};
    }
}

TEST_F(WorksAhead, ALoadIsHiddenInPart)
{
    EXPECT_EQ(waited(access(MODEL_READ, 1000, 1)), kLatency - kHidden);
    EXPECT_EQ(waited(access(MODEL_READ, 5000, 1000), kHidden), 0u); // an L2 hit
    EXPECT_EQ(waited(access(MODEL_FETCH, 9000, 2000)), kLatency);
}

TEST_F(WorksAhead, MissesOfAWindowOverlap)
{
    const uint64_t first = waited(access(MODEL_READ, 1000, 1));
    EXPECT_EQ(waited(access(MODEL_READ, 1005 + first, 10)), 0u);                 // it began five cycles after the first
    EXPECT_EQ(waited(access(MODEL_READ, 1010 + first, 42)), kLatency - kHidden); // the first is out of its window
}

TEST_F(WorksAhead, ALoadThatNeedsAnotherComesAfterIt)
{
    model_access first = access(MODEL_READ, 1000, 1);
    first.origin.into_registers = 1 << 3;
    const uint64_t one = waited(first);
    model_access second = access(MODEL_READ, 1003 + one, 10);
    second.origin.from_registers = 1 << 3;
    EXPECT_EQ(waited(second), kLatency); // 3 cycles of an L1 hit are in both
    // In one block the loads have numbers.
    model_access third = access(MODEL_READ, 5000, 100), fourth = access(MODEL_READ, 5000 + kLatency - kHidden + 3, 101);
    third.block = fourth.block = 103;
    third.load = 2;
    fourth.origin.from_loads = 1 << 2;
    EXPECT_EQ(waited(third), kLatency - kHidden);
    EXPECT_EQ(waited(fourth), kLatency);
}

TEST_F(WorksAhead, NoMoreMissesThanThereIsRoomFor)
{
    uint64_t now = 1000, before = 0;
    for (uint64_t number = 0; number < 5; number++) {
        before = waited(access(MODEL_READ, now, number));
        now += before;
    }
    EXPECT_EQ(before, kLatency + 3); // the fifth waits until the first is done, and then as long
}

TEST_F(WorksAhead, StoresWaitInTheBuffer)
{
    EXPECT_EQ(waited(access(MODEL_WRITE, 1000, 1)), 0u); // done at 1120
    EXPECT_EQ(waited(access(MODEL_WRITE, 1000, 2)), 0u); // its line at 1238
    EXPECT_EQ(waited(access(MODEL_WRITE, 1010, 3)), 110u);
    EXPECT_EQ(waited(access(MODEL_WRITE, 9000, 4)), 0u);
}

TEST(StoresOverlap, AsManyAsMayBeUnderWay)
{
    Overlap overlap(machine("interval", {{"outstanding_stores", "3"}, {"store_buffer_entries", "4"}}));
    const auto store = [&](uint64_t now, uint64_t instruction, uint64_t latency) {
        return overlap.waited(access(MODEL_WRITE, now, instruction), latency, 0);
    };
    EXPECT_EQ(store(1000, 1, 300), 0u);      // done at 1301
    EXPECT_EQ(store(1010, 2, kLatency), 0u); // has its line at 1129, but is done after the one before, at 1302
    EXPECT_EQ(store(1020, 3, kLatency), 0u); // at 1303
    EXPECT_EQ(store(1030, 4, kLatency), 0u); // asks when the first has its line, has its own at 1419, done at 1420
    EXPECT_EQ(store(1040, 5, kLatency), 261u);
    // A locked instruction waits for the last of them: it asks at 1301 and has its line at 1420, done a cycle after the fourth.
    EXPECT_EQ(overlap.waited(access(MODEL_ATOMIC, 1301, 6), 0, 0), 120u);
}

TEST_F(WorksAhead, LinesWrittenOneAfterAnotherFillTheBuffer)
{
    model_access one = access(MODEL_WRITE, 1000, 1), next = access(MODEL_WRITE, 1000, 9);
    one.line = 70;
    next.line = 71;
    EXPECT_EQ(waited(one), 0u); // done at 1120, and seven more at 1121 to 1124, of which the buffer has room for one
    EXPECT_EQ(waited(next), 123u);
    model_access sparse = access(MODEL_WRITE, 9000, 12); // three instructions later: not all of the line before was written
    sparse.line = 72;
    EXPECT_EQ(waited(sparse), 0u);
}

TEST_F(WorksAhead, ALockedInstructionWaitsForAllThatIsUnderWay)
{
    waited(access(MODEL_WRITE, 1000, 1)); // done at 1120
    EXPECT_EQ(waited(access(MODEL_ATOMIC, 1020, 2)), 100 + kLatency);
    EXPECT_EQ(waited(access(MODEL_ATOMIC, 2000, 3)), kLatency);
    const uint64_t one = waited(access(MODEL_READ, 3000, 4));
    EXPECT_EQ(waited(access(MODEL_ATOMIC, 3000 + one, 5), 0), kHidden + 3);
    EXPECT_EQ(waited(access(MODEL_READ, 3500, 6)), kLatency - kHidden); // nothing overlaps across it
}

TEST_F(WorksAhead, ASerializingInstructionWaitsForLoadsButNotForStores)
{
    EXPECT_EQ(overlap_.serialized(0, 1000), 0u);
    waited(access(MODEL_WRITE, 1000, 1)); // done at 1120
    EXPECT_EQ(overlap_.serialized(0, 1010), 0u);
    const uint64_t one = waited(access(MODEL_READ, 3000, 4)); // done at 3122, when the core has gone on
    EXPECT_EQ(overlap_.serialized(0, 3000 + one), kHidden + 3);
    EXPECT_EQ(waited(access(MODEL_READ, 3500, 5)), kLatency - kHidden); // nothing overlaps across it
    EXPECT_EQ(Overlap(machine("in-order")).serialized(0, 1000), 0u);
}

TEST_F(WorksAhead, AWalkComesBeforeItsLoadAndTheWalkThatItNeeds)
{
    uint64_t now = 1000;
    EXPECT_EQ(waited(access(MODEL_WALK, now, 1)), kLatency - kHidden);
    now += kLatency - kHidden;
    EXPECT_EQ(waited(access(MODEL_WALK, now, 1)), kLatency + 3);
    now += kLatency + 3;
    EXPECT_EQ(waited(access(MODEL_READ, now, 1)), kLatency + 3);
    now += kLatency + 3;
    EXPECT_EQ(waited(access(MODEL_READ, now, 2)), 0u); // of another instruction
}

TEST_F(WorksAhead, AWalkNeedsTheLoadThatItsAddressComesFrom)
{
    model_access first = access(MODEL_READ, 1000, 1);
    first.origin.into_registers = 1 << 3;
    uint64_t now = 1000 + waited(first);
    model_access walk = access(MODEL_WALK, now, 5), next = access(MODEL_READ, now + kLatency + 3, 5);
    walk.origin.from_registers = next.origin.from_registers = 1 << 3;
    EXPECT_EQ(waited(walk), kLatency + 3);
    EXPECT_EQ(waited(next), kLatency + 3);
}

TEST_F(WorksAhead, AnAccessOfAHelperMayHaveAHigherNumberThanTheNext)
{
    const uint64_t first = waited(access(MODEL_READ, 1000, 20)); // its block's end
    EXPECT_EQ(waited(access(MODEL_READ, 1005 + first, 12)), 0u) << "they overlap";
    Overlap overlap(machine("interval", {{"store_buffer_entries", "8"}}));
    model_access store = access(MODEL_WRITE, 1000, 20), next = access(MODEL_WRITE, 1001, 12);
    next.line = store.line + 1;
    EXPECT_EQ(overlap.waited(store, kLatency, 0), 0u);
    EXPECT_EQ(overlap.waited(next, kLatency, 0), 0u) << "no other stores to the first line are known";
}

TEST_F(WorksAhead, ItMakesUpForStandingStillForAStore)
{
    EXPECT_EQ(waited(access(MODEL_WRITE, 1300, 1), kLatency, 300), 0u); // it stood still from 1000 to 1300
    EXPECT_EQ(waited(access(MODEL_READ, 1310, 100)), 0u);               // 109 cycles of them
    EXPECT_EQ(waited(access(MODEL_READ, 1320, 101)), 0u);               // under way with the one before
    EXPECT_EQ(waited(access(MODEL_READ, 1400, 200)), 0u);
    EXPECT_EQ(waited(access(MODEL_FETCH, 1500, 300)), kLatency - (300 - 2 * (kLatency - kHidden)));
    EXPECT_EQ(waited(access(MODEL_READ, 1800, 400)), kLatency - kHidden);
}

TEST_F(WorksAhead, WhatALockedInstructionWaitsForIsNotMadeUp)
{
    waited(access(MODEL_WRITE, 1300, 1), kLatency, 300);
    EXPECT_EQ(waited(access(MODEL_ATOMIC, 1300, 2), 0), kLatency + 1); // until the store is done
    EXPECT_EQ(waited(access(MODEL_READ, 2000, 3)), kLatency - kHidden);
    waited(access(MODEL_WRITE, 3300, 1000), kLatency, 300);
    overlap_.serialized(0, 3300);
    EXPECT_EQ(waited(access(MODEL_READ, 4000, 1003)), kLatency - kHidden);
}

TEST_F(WorksAhead, TheTimeItWasSentAwayForIsPartOfTheLatency)
{
    EXPECT_EQ(waited(access(MODEL_READ, 1100, 1), kLatency, 100), kLatency - kHidden);
    EXPECT_EQ(waited(access(MODEL_WRITE, 2100, 100), kLatency, 100), 0u);
    EXPECT_EQ(waited(access(MODEL_READ, 3005, 200), 2, 5), 0u);
}

TEST_F(WorksAhead, CoresAreTheirOwnAndClearForgets)
{
    waited(access(MODEL_WRITE, 1000, 1));
    model_access other = access(MODEL_ATOMIC, 1000, 1);
    other.core = 1;
    EXPECT_EQ(waited(other), kLatency);
    overlap_.clear();
    EXPECT_EQ(waited(access(MODEL_ATOMIC, 1000, 2)), kLatency);
}

} // namespace
} // namespace mosbench::test

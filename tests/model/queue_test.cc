// SPDX-License-Identifier: GPL-2.0-or-later
//
// Cores that are sent away while a line is busy, driven as the engine does: the core with the smallest clock runs.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/model/rig.h"

namespace mosbench::test {
namespace {

struct Cores {
    explicit Cores(const Settings &settings = opteron()) : rig(settings) { rig.may_defer = true; }

    // One step of the slowest of the first `cores` cores: an access that is performed or sent away. Returns the core.
    uint32_t step(uint32_t cores, uint32_t line, model_access_kind kind)
    {
        const uint32_t core = static_cast<uint32_t>(std::min_element(clock.begin(), clock.begin() + cores) - clock.begin());
        const uint64_t answer = rig.access_at(clock[core], core, line, kind);
        clock[core] += answer & ~MODEL_DEFERRED;
        if (answer & MODEL_DEFERRED) {
            deferred++;
        } else if (answer > rig.machine.l1_cycles) { // hits in between do not count
            performed.push_back(core);
            ends.push_back(clock[core]);
        }
        return core;
    }
    void run(uint32_t cores, uint32_t line, model_access_kind kind, size_t accesses)
    {
        while (performed.size() < accesses) {
            step(cores, line, kind);
        }
    }

    Rig rig;
    std::vector<uint64_t> clock = std::vector<uint64_t>(48, 0);
    std::vector<uint32_t> performed; // cores in the order of their accesses
    std::vector<uint64_t> ends;
    uint64_t deferred = 0;
};

struct Deferral : testing::Test, Cores {};

// A transfer in one socket takes 120 cycles. For the first 14 the core looks into its own caches, and its home is busy with it
// for the other 106; after 60 of them its probe reaches the holder, whose the line is until then.
constexpr uint64_t kBusy = 106, kLost = 60, kRest = kBusy - kLost;

TEST_F(Deferral, ADeferredAccessChangesNothing)
{
    rig.write(0, 5); // until 122
    const Entry before = rig.entry(5);
    const uint64_t messages = rig.messages(0, 0, Message::read_exclusive);
    EXPECT_EQ(rig.access_at(10, 2, 5, MODEL_WRITE), MODEL_DEFERRED | (122 + 60 - 10));
    EXPECT_EQ(rig.entry(5).cores, before.cores);
    EXPECT_EQ(rig.entry(5).owner(), before.owner());
    EXPECT_EQ(rig.messages(0, 0, Message::read_exclusive), messages);
    EXPECT_EQ(rig.core(2).l1_misses, 0u);
    EXPECT_FALSE(rig.passes(2, 5, MODEL_READ));
    EXPECT_FALSE(rig.passes(0, 5, MODEL_WRITE)); // from now on the holder's hits come in order
    EXPECT_EQ(rig.access_at(182, 2, 5, MODEL_WRITE), kRest);
    EXPECT_EQ(rig.core(2).wait_cycles(), 172 + kRest - 3); // the time away is the line's
    EXPECT_EQ(rig.core(2).l1_misses, 1u);
    EXPECT_EQ(rig.entry(5).busy_until(), 122 + kBusy);
}

TEST_F(Deferral, TheTimeAwayIsAWaitForWhatWillBeFound)
{
    const auto waits = [this](uint32_t core, Source source) { return rig.core(core).waits[static_cast<size_t>(source)]; };
    rig.write(0, 5);
    rig.access_at(10, 2, 5, MODEL_WRITE); // from core 0
    rig.access_at(20, 7, 5, MODEL_WRITE); // from core 2, in another socket
    rig.access_at(30, 8, 5, MODEL_WRITE); // from core 7, in its own
    EXPECT_EQ(waits(2, Source::core_same_socket), 172u);
    EXPECT_GT(waits(7, Source::core_other_socket), 0u);
    EXPECT_GT(waits(8, Source::core_same_socket), 0u);
    EXPECT_EQ(rig.core(7).wait_cycles(), waits(7, Source::core_other_socket));

    const uint32_t shared = 6;
    for (uint32_t core : {0, 1, 2}) {
        rig.access_at(10'000 + 1000 * core, core, shared, MODEL_FETCH); // copies of code: nobody owns it
    }
    const uint64_t now = rig.entry(shared).busy_until() + 1000;
    rig.access_at(now, 0, shared, MODEL_WRITE);
    rig.access_at(now + 10, 3, shared, MODEL_READ);
    EXPECT_GT(waits(3, Source::core_same_socket), 0u);
}

TEST_F(Deferral, WhoComesTooEarlyIsSentAwayAgain)
{
    rig.write(0, 5);
    EXPECT_EQ(rig.access_at(10, 2, 5, MODEL_WRITE), MODEL_DEFERRED | 172);
    EXPECT_EQ(rig.access_at(100, 2, 5, MODEL_WRITE), MODEL_DEFERRED | 82);
    EXPECT_EQ(rig.access_at(182, 2, 5, MODEL_WRITE), kRest);
}

TEST_F(Deferral, ALineServesItsQueueInOrderAndWithoutGaps)
{
    run(6, 5, MODEL_ATOMIC, 600); // one socket, its own memory: 106 cycles each after the first
    std::vector<uint64_t> sorted = ends;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, ends);
    for (size_t i = 1; i < ends.size(); i++) {
        EXPECT_EQ(ends[i] - ends[i - 1], kBusy) << i;
    }
    EXPECT_GT(deferred, 300u);
    std::vector<int> served(6);
    for (uint32_t core : performed) {
        served[core]++;
    }
    EXPECT_GT(*std::min_element(served.begin(), served.end()), 80); // about 100 each
}

// A hand-over takes what the machine file says, whatever passes over the same links meanwhile, if they have room.
TEST_F(Deferral, HandOversTakeNoLongerBesideTrafficThatLeavesTheLinksFree)
{
    auto cycles = [](bool traffic) {
        Settings settings = opteron();
        settings["link_gbytes_per_second"] = "100000";
        settings["dram_gbytes_per_second"] = "100000";
        Cores cores(settings);
        uint32_t line = 1000;
        while (cores.performed.size() < 5000) {
            const uint64_t first = *std::min_element(cores.clock.begin(), cores.clock.begin() + 42);
            if (traffic && cores.clock[47] <= first) { // from the farthest node
                cores.clock[47] += cores.rig.access_at(cores.clock[47], 47, line++, MODEL_WRITE) & ~MODEL_DEFERRED;
            } else {
                cores.step(42, 5, MODEL_ATOMIC);
            }
        }
        return static_cast<double>(cores.ends.back());
    };
    EXPECT_NEAR(cycles(true) / cycles(false), 1, 0.01);
}

TEST_F(Deferral, FortyEightCoresGetTheSameThroughputAsWithWaiting)
{
    auto cycles = [](bool may_defer) {
        Cores other;
        other.rig.may_defer = may_defer;
        other.run(48, 5, MODEL_ATOMIC, 5000);
        return static_cast<double>(other.ends.back());
    };
    EXPECT_NEAR(cycles(true) / cycles(false), 1, 0.15);
}

TEST_F(Deferral, TheReservationIsRightOnIdleLinks)
{
    // Whoever comes back finds the line free: one deferral for each access at most, no waiting but the latency.
    run(48, 5, MODEL_ATOMIC, 2000);
    EXPECT_LT(deferred, 2100u);
    uint64_t waits = 0;
    for (uint32_t core = 0; core < 48; core++) {
        waits += rig.core(core).wait_cycles();
    }
    const uint64_t clocks = std::accumulate(clock.begin(), clock.end(), uint64_t{0});
    EXPECT_NEAR(static_cast<double>(waits) / static_cast<double>(clocks), 1, 0.05); // all else is hits of the holder
}

TEST_F(Deferral, ACoreThatDoesNotComeBackLosesItsPlaceOnly)
{
    uint64_t away = 0;
    rig.write(0, 5);
    for (uint32_t core = 1; core < 6; core++) {
        const uint64_t answer = rig.access_at(0, core, 5, MODEL_WRITE);
        away = core == 3 ? answer & ~MODEL_DEFERRED : away;
    }
    const uint64_t late = 100'000;
    EXPECT_EQ(rig.access_at(late, 7, 5, MODEL_READ), rig.model.interconnect().transfer_cycles(1, 0, 0));
    EXPECT_EQ(rig.access_at(late + 1000, 3, 5, MODEL_READ), 120u); // as if it were new
    EXPECT_EQ(rig.core(3).wait_cycles(), away + 117u);
}

TEST_F(Deferral, BehindSomebodyLateOneIsSentAwayForSomeTime)
{
    rig.write(0, 5);
    EXPECT_EQ(rig.access_at(10, 2, 5, MODEL_WRITE), MODEL_DEFERRED | 172);            // from 122 to 228, but does not come
    EXPECT_EQ(rig.access_at(1000, 3, 5, MODEL_WRITE), MODEL_DEFERRED | (14 + kLost)); // as if that one came now
    EXPECT_EQ(rig.access_at(1010, 2, 5, MODEL_WRITE), kRest);
    EXPECT_EQ(rig.access_at(1106, 3, 5, MODEL_WRITE), MODEL_DEFERRED | 10); // the home is busy with core 2 until 1056
    EXPECT_EQ(rig.access_at(1116, 3, 5, MODEL_WRITE), kRest);
}

TEST_F(Deferral, WhoFindsTheLineNearerThanForeseenComesNotBeforeHeAsked)
{
    rig.read(0, 5);
    rig.read(6, 5); // another socket's: a write has to ask all
    const uint64_t busy = rig.entry(5).busy_until();
    EXPECT_EQ(rig.access_at(busy - 15, 0, 5, MODEL_WRITE),
              MODEL_DEFERRED | 75);   // memory's, so the first copies go 60 cycles later
    rig.model.dma(busy, 5, true);     // nobody has it any more
    const uint64_t late = busy + 400; // when memory's bytes have long been there
    EXPECT_EQ(rig.access_at(late, 0, 5, MODEL_WRITE), 122u - 14 - 60);
    EXPECT_EQ(rig.state(5), State::modified);
}

TEST_F(Deferral, EarlyOnlyWhatNobodyOutsideTheSocketIsAskedFor)
{
    rig.write(0, 5);
    rig.write(6, 7); // another socket's
    rig.push_out(0, 5, 1);
    rig.early = true;
    const uint64_t now = rig.now;
    EXPECT_EQ(rig.access_at(now, 0, 5, MODEL_WRITE), rig.machine.l2_cycles);
    EXPECT_EQ(rig.access_at(now, 0, 9, MODEL_READ), MODEL_DEFERRED);
    EXPECT_FALSE(rig.entry(9).cached());
    EXPECT_EQ(rig.access_at(now, 0, 7, MODEL_WRITE), MODEL_DEFERRED);
    EXPECT_TRUE(rig.entry(7).in_core(6));
    rig.early = false;
    EXPECT_EQ(rig.access_at(now, 0, 9, MODEL_READ), 122u);
    EXPECT_EQ(rig.access_at(now, 6, 7, MODEL_WRITE), rig.machine.l1_cycles);
    rig.early = true;
    EXPECT_EQ(rig.access_at(now + 1000, 0, 9, MODEL_READ), rig.machine.l1_cycles);
    rig.early = false;
    rig.access_at(now + 1000, 1, 9, MODEL_READ);
    rig.early = true;
    EXPECT_EQ(rig.access_at(now + 3000, 1, 9, MODEL_WRITE), MODEL_DEFERRED); // an upgrade asks too
    EXPECT_TRUE(rig.entry(9).in_core(0));
}

TEST_F(Deferral, EachFindsHisTurnWhereItWasForeseen)
{
    rig.write(0, 5); // until 122
    for (uint32_t core = 1; core < 5; core++) {
        EXPECT_EQ(rig.access_at(10, core, 5, MODEL_WRITE), MODEL_DEFERRED | (122 + kLost - 10 + kBusy * (core - 1)));
    }
    // Served in order; each finds his turn where it was foreseen.
    for (uint32_t core = 1; core < 5; core++) {
        EXPECT_EQ(rig.access_at(182 + kBusy * (core - 1), core, 5, MODEL_WRITE), kRest);
    }
    const uint64_t end = 122 + 4 * kBusy; // of core 4's request
    EXPECT_EQ(rig.access_at(end - 50, 1, 5, MODEL_WRITE), MODEL_DEFERRED | (50 + kLost));
}

TEST_F(Deferral, ReadsOfASharedLineKeepTheHomeForAPartOfTheirTimeOnly)
{
    const uint64_t busy = rig.machine.read_busy_cycles;
    ASSERT_LT(busy, 120u);
    rig.write(0, 5);                                                      // until 122
    EXPECT_EQ(rig.access_at(10, 1, 5, MODEL_READ), MODEL_DEFERRED | 172); // from 122 to 228: the line gets an owner
    EXPECT_EQ(rig.access_at(10, 2, 5, MODEL_READ), MODEL_DEFERRED | (228 - 10));
    EXPECT_EQ(rig.access_at(10, 3, 5, MODEL_READ), MODEL_DEFERRED | (228 + busy - 10));
    const uint64_t all = rig.model.interconnect().broadcast_cycles(0, 0);
    EXPECT_EQ(rig.access_at(10, 4, 5, MODEL_WRITE), MODEL_DEFERRED | (228 + 2 * busy + kLost - 10));
    EXPECT_EQ(rig.access_at(182, 1, 5, MODEL_READ), kRest);
    EXPECT_EQ(rig.access_at(228, 2, 5, MODEL_READ), kBusy); // each takes as long as alone
    EXPECT_EQ(rig.access_at(228 + busy, 3, 5, MODEL_READ), kBusy);
    EXPECT_EQ(rig.entry(5).busy_until(), 228 + 2 * busy);
    EXPECT_EQ(rig.access_at(228 + 2 * busy + kLost, 4, 5, MODEL_WRITE), all - 14 - kLost);
    EXPECT_FALSE(rig.entry(5).in_core(3));
}

TEST_F(Deferral, WhoWritesBetweenTwoQueuesHasTheLineUntilTheProbeComes)
{
    rig.write(0, 5); // until 122
    EXPECT_EQ(rig.access_at(10, 1, 5, MODEL_READ), MODEL_DEFERRED | 172);
    EXPECT_EQ(rig.access_at(10, 2, 5, MODEL_READ), MODEL_DEFERRED | (228 - 10));
    EXPECT_EQ(rig.access_at(182, 1, 5, MODEL_READ), kRest);
    EXPECT_EQ(rig.access_at(228, 2, 5, MODEL_READ), kBusy);
    const uint64_t all = rig.model.interconnect().broadcast_cycles(0, 0);
    EXPECT_EQ(rig.access_at(1000, 0, 5, MODEL_WRITE),
              MODEL_DEFERRED | (14 + kLost)); // nobody waits, but others read it till then
    EXPECT_EQ(rig.access_at(1073, 2, 5, MODEL_READ), rig.machine.l1_cycles);
    EXPECT_EQ(rig.access_at(1074, 0, 5, MODEL_WRITE), all - 14 - kLost);
    const uint64_t busy = rig.machine.read_busy_cycles;
    EXPECT_EQ(rig.access_at(1080, 1, 5, MODEL_READ), MODEL_DEFERRED | (1000 + all + 60 - 1080));
    EXPECT_EQ(rig.access_at(1080, 2, 5, MODEL_READ), MODEL_DEFERRED | (1000 + all + kBusy - 1080));
    EXPECT_EQ(rig.access_at(1080, 3, 5, MODEL_READ), MODEL_DEFERRED | (1000 + all + kBusy + busy - 1080));
    EXPECT_EQ(rig.access_at(1000 + all + 59, 0, 5, MODEL_WRITE), rig.machine.l1_cycles); // it goes on with the line
}

TEST_F(Deferral, OfALineThatSeveralUseTheHolderHasTheUseUntilTheProbeComes)
{
    rig.write(0, 5);
    rig.write(1, 5);
    ASSERT_TRUE(rig.entry(5).exchanged());
    EXPECT_EQ(rig.access_at(1000, 2, 5, MODEL_READ), MODEL_DEFERRED | (14 + kLost)); // the home is free
    EXPECT_EQ(rig.access_at(1073, 1, 5, MODEL_WRITE), rig.machine.l1_cycles);
    EXPECT_EQ(rig.access_at(1074, 2, 5, MODEL_READ), kRest);
    EXPECT_EQ(rig.access_at(2000, 3, 5, MODEL_READ), 120u); // nobody can write it, so nobody loses anything
}

TEST_F(Deferral, WhoCannotBeSentAwayStillComesBehindTheQueue)
{
    rig.write(0, 5);                                                       // until 122
    EXPECT_EQ(rig.access_at(10, 2, 5, MODEL_WRITE), MODEL_DEFERRED | 172); // from 122 to 228
    rig.may_defer = false;
    EXPECT_EQ(rig.access_at(10, 3, 5, MODEL_WRITE), 228 + kBusy - 10); // from 228 to 334
    rig.may_defer = true;
    EXPECT_EQ(rig.access_at(182, 2, 5, MODEL_WRITE), kRest); // not behind core 3
    EXPECT_EQ(rig.access_at(300, 4, 5, MODEL_WRITE), MODEL_DEFERRED | (334 + kLost - 300));
}

TEST_F(Deferral, OnePlaceAtATime)
{
    rig.write(0, 5);
    rig.write(0, 6);
    EXPECT_EQ(rig.access_at(1000, 1, 5, MODEL_WRITE), 120u);
    EXPECT_EQ(rig.access_at(1000, 1, 6, MODEL_WRITE), 120u);
    EXPECT_TRUE(rig.access_at(1000, 3, 5, MODEL_WRITE) & MODEL_DEFERRED);
    EXPECT_FALSE(rig.access_at(1000, 3, 6, MODEL_WRITE) & MODEL_DEFERRED); // an instruction with both lines gets on
}

TEST_F(Deferral, UpgradesWaitTheirTurnToo)
{
    rig.read(0, 5);
    rig.read(1, 5);
    EXPECT_EQ(rig.access_at(1000, 0, 5, MODEL_WRITE), 501u);
    EXPECT_EQ(rig.access_at(1000, 1, 5, MODEL_WRITE), MODEL_DEFERRED | (501 + 60));
    EXPECT_EQ(rig.access_at(1561, 1, 5, MODEL_WRITE), kRest);
}

} // namespace
} // namespace mosbench::test

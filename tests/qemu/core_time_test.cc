// SPDX-License-Identifier: GPL-2.0-or-later
//
// How far a core may run, what a slice ends with, and both together: cores that run in the order of their clocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <tuple>
#include <vector>

#include "fast-engine/qemu/files/accel/tcg/mosbench/logic/core_time.h"

namespace mosbench::test {
namespace {

constexpr int64_t quantum = 60;

CoreTime at(int64_t clock, int64_t next_sample = NEVER)
{
    CoreTime time{};
    time.clock = clock;
    time.next_sample = next_sample;
    return time;
}

// Two cores that can run, and more if a test lets them.
struct Pair : testing::Test {
    Pair()
    {
        order_init(&order, false);
        at(0, 1000);
        at(1, 1020);
    }

    void at(int core, int64_t clock, bool turn = false)
    {
        times[core].clock = clock;
        times[core].deferred = turn;
        order_set(&order, core, true, clock, turn);
    }
    Bounds bounds(int core) { return core_time_bounds(&times[core], &order, core, quantum); }
    int next(int last)
    {
        const int slowest = order_slowest(&order);
        return core_time_next(&order, slowest, times[slowest].clock, last, &times[last], quantum);
    }

    Order order;
    std::array<CoreTime, 4> times{};
};

using BoundsOfACore = Pair;

TEST_F(BoundsOfACore, AccessesAQuantumPastTheSlowestOtherBlocksEight)
{
    EXPECT_EQ(bounds(0).limit, 1020 + quantum);
    EXPECT_EQ(bounds(0).far, 1020 + 8 * quantum);
    EXPECT_EQ(bounds(1).limit, 1000 + quantum);
}

TEST_F(BoundsOfACore, BlocksSixteenQuantaOnceTwoSlicesAskedForNothing)
{
    core_time_end_slice(&times[0], false);
    EXPECT_EQ(bounds(0).far, 1020 + 8 * quantum);
    core_time_end_slice(&times[0], false);
    EXPECT_EQ(bounds(0).far, 1020 + 16 * quantum);
    EXPECT_EQ(bounds(0).limit, 1020 + quantum);
    times[0].calm_slices = 0; // it asks the model
    EXPECT_EQ(bounds(0).far, 1020 + 8 * quantum);
}

TEST_F(BoundsOfACore, NoneForOneAlone)
{
    order_set(&order, 1, false, 1020, false);
    EXPECT_EQ(bounds(0).limit, NEVER);
    EXPECT_EQ(bounds(0).far, NEVER);
}

TEST_F(BoundsOfACore, AccessesNotPastAnybodysTurn)
{
    at(2, 1030, true);
    EXPECT_EQ(bounds(0).limit, 1030);
    EXPECT_EQ(bounds(0).far, 1020 + 8 * quantum);
    EXPECT_EQ(bounds(2).limit, 1000 + quantum); // its own turn does not bind it
}

using NextCore = Pair;

TEST_F(NextCore, TheOneThatRanGoesOnWhileItIsNotFarAhead)
{
    at(1, 1000 + 8 * quantum - 1);
    EXPECT_EQ(next(1), 1);
    at(1, 1000 + 8 * quantum);
    EXPECT_EQ(next(1), 0);
    times[1].calm_slices = CALM_SLICES;
    EXPECT_EQ(next(1), 1);
}

TEST_F(NextCore, OneThatStandsBeforeAnAccessOnlyWithinAQuantum)
{
    for (bool CoreTime::*state : {&CoreTime::waiting, &CoreTime::answered}) {
        times[1].*state = true;
        at(1, 1000 + quantum - 1);
        EXPECT_EQ(next(1), 1);
        at(2, 1000 + quantum - 1, true); // somebody's turn has come
        EXPECT_EQ(next(1), 0);
        order_set(&order, 2, false, 0, false);
        at(1, 1000 + quantum);
        EXPECT_EQ(next(1), 0);
        times[1].*state = false;
    }
}

TEST_F(NextCore, OneThatWaitsForItsTurnDoesNotGoOnBeforeTheHolder)
{
    times[1].waiting = true;
    at(1, 1000 + quantum - 1);
    EXPECT_EQ(next(1), 1);
    at(1, 1000 + quantum - 1, true);
    EXPECT_EQ(next(1), 0);
    at(0, 1000 + quantum);
    EXPECT_EQ(next(1), 1); // now it is the slowest
}

TEST_F(NextCore, OneThatCannotRunDoesNotGoOn)
{
    order_set(&order, 1, false, 1020, false);
    EXPECT_EQ(next(1), 0);
}

struct SliceOfACore : testing::Test {
    CoreTime time = at(1000);
};

TEST_F(SliceOfACore, EndsAtATimer)
{
    core_time_begin_slice(&time, {1100, 1500}, 1300);
    EXPECT_EQ(time.limit, 1100);
    EXPECT_EQ(time.far, 1300);
    EXPECT_EQ(time.ordered, 1100);
    core_time_begin_slice(&time, {1100, 1500}, 1050);
    EXPECT_EQ(time.limit, 1050);
    EXPECT_EQ(time.far, 1050);
}

TEST_F(SliceOfACore, IsACycleAtLeast)
{
    core_time_begin_slice(&time, {900, 950}, NEVER);
    EXPECT_EQ(time.limit, 1001);
    EXPECT_EQ(time.far, 1001);
}

TEST_F(SliceOfACore, ThatWasCutShortGoesOnAsIfItHadNot)
{
    core_time_begin_slice(&time, {1100, 1500}, NEVER);
    time.clock = 1040;
    core_time_end_slice(&time, false);
    EXPECT_TRUE(time.cut);
    core_time_begin_slice(&time, {1300, 1900}, NEVER);
    EXPECT_EQ(time.limit, 1100);
    EXPECT_EQ(time.far, 1500);
    time.clock = 1500;
    core_time_end_slice(&time, false);
    EXPECT_FALSE(time.cut);
    core_time_begin_slice(&time, {1600, 1900}, NEVER);
    EXPECT_EQ(time.limit, 1600);
}

TEST_F(SliceOfACore, IsCalmOnceHoweverOftenItIsCut)
{
    core_time_begin_slice(&time, {1100, 1500}, NEVER);
    for (const int64_t cut : {1040, 1090}) {
        time.clock = cut;
        core_time_end_slice(&time, false);
        EXPECT_EQ(time.calm_slices, 0u);
        core_time_begin_slice(&time, {1300, 1900}, NEVER);
    }
    time.clock = 1500;
    core_time_end_slice(&time, false);
    EXPECT_EQ(time.calm_slices, 1u);
}

TEST_F(SliceOfACore, IsNotCutByAHaltNorBeforeAnAccess)
{
    core_time_begin_slice(&time, {1100, 1500}, NEVER);
    time.clock = 1040;
    core_time_end_slice(&time, true);
    EXPECT_FALSE(time.cut);
    time.waiting = true;
    core_time_end_slice(&time, false);
    EXPECT_FALSE(time.cut);
    EXPECT_EQ(time.calm_slices, 1u); // of the slice that ended in a halt
}

TEST_F(SliceOfACore, EndsWhenAnotherCoreIsWoken)
{
    core_time_begin_slice(&time, {NEVER, NEVER}, NEVER);
    core_time_other_woken(&time, 1010, quantum);
    EXPECT_EQ(time.limit, 1010 + quantum);
    EXPECT_EQ(time.far, 1010 + 8 * quantum);
    core_time_other_woken(&time, 2000, quantum); // a later one changes nothing
    EXPECT_EQ(time.limit, 1010 + quantum);
    core_time_end_at(&time, 1005);
    EXPECT_EQ(time.limit, 1005);
    EXPECT_EQ(time.far, 1005);
}

struct Budget : SliceOfACore {};

// A block may begin in the last cycle before `far`: the count goes below zero with the first that may not.
TEST_F(Budget, GoesUpToWhereBlocksMayBegin)
{
    core_time_begin_slice(&time, {1100, 1500}, NEVER);
    core_time_refill(&time);
    EXPECT_EQ(time.budget, 499);
    EXPECT_EQ(core_time_margin(&time), 1000 + 499 - 1100);
    core_time_charge(&time, -3); // 502 cycles: the last block overdrew it
    EXPECT_EQ(time.clock, 1502);
    core_time_refill(&time);
    EXPECT_EQ(time.budget, -1);
}

TEST_F(Budget, IsChargedOnce)
{
    core_time_begin_slice(&time, {1100, 1500}, NEVER);
    core_time_refill(&time);
    core_time_charge(&time, 400);
    core_time_charge(&time, 400);
    EXPECT_EQ(time.clock, 1099);
}

TEST_F(Budget, FitsIts16Bits)
{
    core_time_begin_slice(&time, {NEVER, NEVER}, NEVER);
    core_time_refill(&time);
    EXPECT_EQ(time.budget, MAX_BUDGET);
    EXPECT_EQ(core_time_margin(&time), INT32_MIN / 2); // no limit at all
}

struct Access : SliceOfACore {
    Access()
    {
        core_time_begin_slice(&time, {1100, 1500}, NEVER);
        time.clock = 1200;
        core_time_stand(&time, 0, false, 7); // 7 cycles of its block come after the access
    }
};

TEST_F(Access, IsStoodBeforeAtItsTime)
{
    EXPECT_TRUE(time.waiting);
    EXPECT_EQ(time.clock, 1193);
    EXPECT_EQ(time.charged, 7);
    core_time_stand(&time, 107, true, 0); // until the line is free
    EXPECT_EQ(time.clock, 1300);
    EXPECT_EQ(time.charged, 0);
    EXPECT_TRUE(time.deferred);
}

TEST_F(Access, ThatIsServedPutsOthersEarlierOnesBeforeTheNext)
{
    core_time_served(&time, 50, 1210);
    EXPECT_EQ(time.clock, 1243);
    EXPECT_EQ(time.ordered, 1210);
    EXPECT_TRUE(time.answered);
    EXPECT_FALSE(time.waiting);
    core_time_begin_slice(&time, {1400, 1500}, NEVER);
    EXPECT_EQ(time.ordered, 1210); // still, in the slice that it is answered in
    EXPECT_EQ(time.charged, 7);
    core_time_go_on(&time, 7);
    EXPECT_EQ(time.charged, 0);
    EXPECT_FALSE(time.answered);
    EXPECT_EQ(time.clock, 1250);
}

TEST_F(Access, ThatIsSentAwayIsStoodBeforeStill)
{
    core_time_sent_away(&time, 30);
    EXPECT_EQ(time.clock, 1223);
    EXPECT_TRUE(time.waiting);
    EXPECT_TRUE(time.deferred);
    EXPECT_FALSE(time.answered);
}

TEST(Sample, IsDueAtTheFirstEndOfASlicePastItsTime)
{
    CoreTime time = at(999, 1000);
    EXPECT_EQ(core_time_sample(&time, 100), 0u);
    time.clock = 1000;
    EXPECT_EQ(core_time_sample(&time, 100), 1u);
    EXPECT_EQ(core_time_sample(&time, 100), 0u);
    time.clock = 1350; // one long wait stands for all its periods
    EXPECT_EQ(core_time_sample(&time, 100), 3u);
    EXPECT_EQ(time.next_sample, 1400);
}

TEST(Sleep, IsIdleAndNotSampled)
{
    CoreTime time = at(1000, 1100);
    EXPECT_EQ(core_time_idle_until(&time, 5000), 4000);
    EXPECT_EQ(time.clock, 5000);
    EXPECT_EQ(time.next_sample, 5100);
    EXPECT_EQ(core_time_idle_until(&time, 4000), 0); // it is past that
    EXPECT_EQ(time.clock, 5000);
}

// Cores of which each runs blocks and accesses of random lengths, driven as loop.c does.
class Guest {
  public:
    Guest(int cores, uint64_t seed, bool reverse) : times_(cores, at(0)), random_(seed)
    {
        order_init(&order_, reverse);
        for (int core = 0; core < cores; core++) {
            order_set(&order_, core, true, 0, false);
        }
    }

    void run(int steps)
    {
        for (int step = 0; step < steps; step++) {
            const int slowest = order_slowest(&order_);
            int next = slowest;
            if (last_ >= 0) {
                next = core_time_next(&order_, slowest, times_[slowest].clock, last_, &times_[last_], quantum);
            }
            if (times_[next].waiting) {
                make_access(next);
            } else {
                slice(next);
            }
            if (testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
    int64_t slowest() const { return times_[order_slowest(&order_)].clock; }

    std::vector<std::tuple<int, int64_t>> accesses; // core, time
    int stood = 0, deferred = 0;

  private:
    uint64_t random(uint64_t bound) { return random_() % bound; }

    // No other core is so far behind that it could still make an access that should have been seen.
    void check(int core, int64_t now, int64_t ahead)
    {
        for (size_t other = 0; other < times_.size(); other++) {
            if (static_cast<int>(other) != core) {
                ASSERT_LT(now, times_[other].clock + ahead) << "core " << core << " before core " << other;
            }
        }
    }

    void make_access(int core)
    {
        CoreTime &time = times_[core];
        const int64_t limit = core_time_bounds(&time, &order_, core, quantum).limit;
        check(core, time.clock, quantum);
        if (random(4) == 0) {
            core_time_sent_away(&time, 1 + random(300));
            deferred++;
        } else {
            accesses.emplace_back(core, time.clock);
            core_time_served(&time, random(300), limit);
            last_ = core;
        }
        order_set(&order_, core, true, time.clock, time.deferred);
    }

    void slice(int core)
    {
        CoreTime &time = times_[core];
        last_ = core;
        core_time_begin_slice(&time, core_time_bounds(&time, &order_, core, quantum), NEVER);
        if (time.answered) {
            core_time_go_on(&time, 0);
        }
        core_time_refill(&time);
        while (time.budget >= 0) {
            check(core, time.clock, CALM_AHEAD * quantum);
            core_time_charge(&time, time.budget - static_cast<int32_t>(1 + random(40)));
            if (random(8) == 0) {
                time.calm_slices = 0;
                if (time.clock >= time.limit) {
                    core_time_stand(&time, 0, false, 0);
                    stood++;
                    break;
                }
                check(core, time.clock, quantum);
                accesses.emplace_back(core, time.clock);
                time.clock += static_cast<int64_t>(random(200));
                core_time_refill(&time);
            }
        }
        core_time_end_slice(&time, false);
        order_set(&order_, core, true, time.clock, time.deferred);
    }

    Order order_;
    std::vector<CoreTime> times_;
    std::mt19937_64 random_;
    int last_ = -1;
};

TEST(Guest, NobodyAccessesAQuantumPastTheSlowest)
{
    for (const int cores : {2, 3, 12, 48, 64}) {
        Guest guest(cores, static_cast<uint64_t>(cores), false);
        guest.run(40000);
        ASSERT_FALSE(HasFatalFailure()) << cores << " cores";
        EXPECT_GT(guest.accesses.size(), 1000u);
        EXPECT_GT(guest.stood, 100);
        EXPECT_GT(guest.deferred, 100);
        EXPECT_GT(guest.slowest(), 10000); // nobody is left behind
    }
}

TEST(Guest, IsTheSameEachTime)
{
    Guest first(12, 5, false), second(12, 5, false);
    first.run(5000);
    second.run(5000);
    EXPECT_EQ(first.accesses, second.accesses);
}

} // namespace
} // namespace mosbench::test

// SPDX-License-Identifier: GPL-2.0-or-later
//
// The queue at the home by itself, without caches: turns and ends of requests for one line.
#include <gtest/gtest.h>

#include "fast-engine/model/home_queue.h"
#include "tests/model/opteron.h"

namespace mosbench::test {
namespace {

using Kind = Turn::Kind;

struct HomeQueueTest : testing::Test {
    explicit HomeQueueTest(const char *trial = "1") : HomeQueueTest(with_trial(trial)) {}
    explicit HomeQueueTest(const Settings &settings) : machine(parse_machine(flat(settings))) {}
    static Settings with_trial(const char *trial)
    {
        Settings settings = opteron();
        settings["trial"] = trial;
        return settings;
    }

    model_access by(uint16_t core, uint64_t now, bool may_defer = true) const
    {
        return {.now = now,
                .pc = 0,
                .address = 0,
                .line = line,
                .core = core,
                .kind = MODEL_WRITE,
                .kernel = 0,
                .may_defer = may_defer,
                .early = false,
                .size = 8,
                .load = 0,
                .block = 0,
                .instruction = 0,
                .origin = {}};
    }
    Request request(uint16_t core, uint64_t now, const Turn &turn)
    {
        return {.moment = {++transactions, now, turn.start}, .line = line, .core = core, .socket = 0, .home = 0};
    }
    // The line is core 0's, which wrote it: busy until 122.
    void owned_by_core_0()
    {
        entry.add_core(0);
        entry.set_owner(Entry::core_as_owner(0));
        entry.set_state(State::modified);
        entry.set_busy_until(122);
    }

    // From an access until its request is at the home of the core's own socket: an L2 hit's time.
    static constexpr uint64_t kLook = 14;

    const Machine machine;
    const HomeMap homes{machine};
    const Interconnect interconnect{machine};
    HomeQueue queue{machine, homes, interconnect};
    const uint32_t line = 5;
    Entry entry{};
    uint64_t transactions = 0;
};

TEST_F(HomeQueueTest, AFreeLineIsServedAtOnce)
{
    const Turn turn = queue.take_turn(by(0, 1000), entry, false);
    EXPECT_EQ(turn.kind, Kind::free);
    EXPECT_EQ(turn.start, 1000u);
    EXPECT_EQ(queue.finish(request(0, 1000, turn), turn, entry, 122, false), 122u);
    EXPECT_EQ(entry.busy_until(), 1122u);
    EXPECT_FALSE(entry.queued());
}

TEST_F(HomeQueueTest, WhoCannotComeBackWaitsForTheEndOfTheRequestBefore)
{
    owned_by_core_0();
    const Turn turn = queue.take_turn(by(1, 100, false), entry, true);
    EXPECT_EQ(turn.kind, Kind::free); // there is no queue
    EXPECT_EQ(turn.start, 122u - kLook);
    EXPECT_EQ(queue.finish(request(1, 100, turn), turn, entry, 120, false), 142u - kLook);
    EXPECT_EQ(entry.busy_until(), 242u - kLook);
}

TEST_F(HomeQueueTest, WhoCanIsSentAwayUntilTheProbeReachesTheHolder)
{
    owned_by_core_0();
    Turn turn = queue.take_turn(by(1, 100), entry, true);
    EXPECT_EQ(turn.kind, Kind::joined);
    EXPECT_EQ(turn.start, 122u + 60);
    EXPECT_TRUE(entry.queued());
    turn = queue.take_turn(by(1, 150), entry, true); // too early
    EXPECT_EQ(turn.kind, Kind::later);
    EXPECT_EQ(turn.start, 182u);
    turn = queue.take_turn(by(1, 182), entry, true);
    EXPECT_EQ(turn.kind, Kind::free);
    EXPECT_EQ(turn.start, 122u - kLook);
    EXPECT_EQ(turn.waited, 82u + 32);
}

TEST_F(HomeQueueTest, WhoIsNotSentAwayComesBehindThoseWhoAre)
{
    owned_by_core_0();
    queue.take_turn(by(1, 100), entry, true); // from 122 to 228
    const Turn turn = queue.take_turn(by(2, 110, false), entry, true);
    EXPECT_EQ(turn.kind, Kind::behind);
    EXPECT_EQ(turn.start, 228u - kLook);
    EXPECT_EQ(queue.finish(request(2, 110, turn), turn, entry, 120, false), 228u - kLook + 120 - 110);
    EXPECT_EQ(entry.busy_until(), 122u); // core 1 still finds the line free at its turn
    EXPECT_EQ(queue.take_turn(by(1, 182), entry, true).start, 122u - kLook);
    EXPECT_EQ(queue.take_turn(by(3, 190), entry, true).start, 228u + 106 + 60); // behind core 2
}

TEST_F(HomeQueueTest, APipelinedReadKeepsTheHomeForAPartOfItsTime)
{
    const Turn turn = queue.take_turn(by(0, 1000), entry, false);
    EXPECT_EQ(queue.finish(request(0, 1000, turn), turn, entry, 122, true), 122u);
    EXPECT_EQ(entry.busy_until(), 1000 + kLook + machine.read_busy_cycles);
}

TEST_F(HomeQueueTest, ClearForgetsWhoWaits)
{
    owned_by_core_0();
    queue.take_turn(by(1, 100), entry, true);
    queue.clear();
    entry.set_busy_until(0);
    EXPECT_EQ(queue.take_turn(by(2, 110), entry, true).kind, Kind::free);
    EXPECT_EQ(queue.take_turn(by(2, 110), entry, true).start, 110u);
}

TEST_F(HomeQueueTest, BehindAQueueThatIsNotThereIsFatal)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const Turn turn = {.start = 0, .waited = 0, .kind = Kind::behind};
    EXPECT_DEATH(queue.finish(request(0, 0, turn), turn, entry, 120, false), "line 5: who comes behind a queue finds it");
}

struct HomeQueueWithoutProbeFilter : HomeQueueTest {
    HomeQueueWithoutProbeFilter() : HomeQueueTest(without_probe_filter(opteron())) {}
};

TEST_F(HomeQueueWithoutProbeFilter, ForeseenIsTheAnswerOfTheFarthestSocketButTheHolderLosesTheLineAsSoon)
{
    owned_by_core_0();
    EXPECT_EQ(queue.take_turn(by(1, 100), entry, true).start, 122u + 60); // and it will be busy until 609
    EXPECT_EQ(queue.take_turn(by(2, 110), entry, true).start, 623u - kLook + 60);
}

struct FarFromHome : HomeQueueTest {
    // Socket 7 is three hops from the home, 190 cycles each way.
    static constexpr uint16_t kFar = 42;

    Request from_afar(uint64_t now, const Turn &turn)
    {
        return {.moment = {++transactions, now, turn.start}, .line = line, .core = kFar, .socket = 7, .home = 0};
    }
};

TEST_F(FarFromHome, TheHomeIsBusyUntilItKnowsThatTheRequestIsDone)
{
    const Turn turn = queue.take_turn(by(kFar, 1000), entry, true);
    EXPECT_EQ(turn.kind, Kind::free);
    EXPECT_EQ(turn.start, 1000u);
    EXPECT_EQ(queue.finish(from_afar(1000, turn), turn, entry, 503, false), 503u);
    EXPECT_EQ(entry.busy_until(), 1000u + 503 + 190);
}

TEST_F(FarFromHome, ARequestThatIsOnItsWayMeanwhileDoesNotWait)
{
    owned_by_core_0(); // until 122; the request is there at 204
    const Turn turn = queue.take_turn(by(kFar, 0), entry, true);
    EXPECT_EQ(turn.kind, Kind::free);
    EXPECT_EQ(turn.start, 0u);
}

TEST_F(FarFromHome, ARequestThatWaitedHasItsWayBehindIt)
{
    owned_by_core_0();
    entry.set_busy_until(1000);
    Turn turn = queue.take_turn(by(kFar, 500), entry, true);
    EXPECT_EQ(turn.kind, Kind::joined);
    EXPECT_EQ(turn.start, 1000u + 60); // the holder is where the home is
    turn = queue.take_turn(by(kFar, 1060), entry, true);
    EXPECT_EQ(turn.start, 1000u - 190 - kLook);
    const uint64_t cycles = interconnect.transfer_cycles(7, 0, 0); // 120 and six hops' halves
    EXPECT_EQ(queue.finish(from_afar(1060, turn), turn, entry, cycles, false), 1000 - 190 - kLook + cycles - 1060);
    EXPECT_EQ(entry.busy_until(), 1000 - kLook + cycles);
}

TEST_F(FarFromHome, AFarHolderHasTheLineUntilTheProbeIsThere)
{
    entry.add_core(kFar);
    entry.set_owner(Entry::core_as_owner(kFar));
    entry.set_state(State::modified);
    entry.set_busy_until(1000);
    EXPECT_EQ(queue.take_turn(by(0, 500), entry, true).start, 1000u + 60 + 190);
}

struct OtherTrial : HomeQueueTest {
    OtherTrial() : HomeQueueTest("2") {}
};

TEST_F(OtherTrial, TakesUpToFourCyclesMore)
{
    uint64_t most = 0;
    for (int i = 0; i < 200; i++) {
        const Turn turn = {.start = 1000};
        const uint64_t cycles = queue.finish(request(0, 1000, turn), turn, entry, 122, false);
        ASSERT_GE(cycles, 122u);
        ASSERT_LE(cycles, 126u);
        EXPECT_EQ(entry.busy_until(), 1000 + cycles);
        most = std::max(most, cycles);
    }
    EXPECT_EQ(most, 126u);
}

} // namespace
} // namespace mosbench::test

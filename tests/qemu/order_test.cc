// SPDX-License-Identifier: GPL-2.0-or-later
//
// The order of the cores against a plain search over their clocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "fast-engine/qemu/files/accel/tcg/mosbench/logic/order.h"

namespace mosbench::test {
namespace {

struct Cores : testing::TestWithParam<bool> {
    Cores() { order_init(&order, GetParam()); }

    Order order;
};

INSTANTIATE_TEST_SUITE_P(Ties, Cores, testing::Bool(), [](const auto &info) { return info.param ? "reverse" : "forward"; });

TEST_P(Cores, NobodyCanRunAtFirst)
{
    EXPECT_TRUE(order_is_empty(&order));
    for (int core = 0; core < MAX_CORES; core++) {
        EXPECT_FALSE(order_has(&order, core));
        EXPECT_EQ(order_other(&order, core), NEVER);
        EXPECT_EQ(order_other_turn(&order, core), NEVER);
    }
}

TEST_P(Cores, TheSlowestIsNext)
{
    order_set(&order, 5, true, 300, false);
    order_set(&order, 63, true, 100, false);
    order_set(&order, 0, true, 200, false);
    EXPECT_EQ(order_slowest(&order), 63);
    EXPECT_EQ(order_other(&order, 63), 200);
    EXPECT_EQ(order_other(&order, 0), 100);
    EXPECT_EQ(order_other(&order, 1), 100); // one that cannot run has others too
    EXPECT_EQ(order_next(&order, 63), 0);
    EXPECT_EQ(order_next(&order, 0), 63);
    order_set(&order, 63, true, 301, false);
    EXPECT_EQ(order_slowest(&order), 0);
    order_set(&order, 0, false, 200, false);
    EXPECT_EQ(order_slowest(&order), 5);
    EXPECT_FALSE(order_has(&order, 0));
    EXPECT_TRUE(order_has(&order, 5));
}

TEST_P(Cores, OfEqualClocksTheLowestCoreIsNextOrTheHighest)
{
    for (int core : {7, 3, 40}) {
        order_set(&order, core, true, 1000, false);
    }
    EXPECT_EQ(order_slowest(&order), GetParam() ? 40 : 3);
    EXPECT_EQ(order_other(&order, 3), 1000);
}

TEST_P(Cores, ATurnIsThatOfACoreThatCanRun)
{
    order_set(&order, 1, true, 100, false);
    EXPECT_EQ(order_other_turn(&order, 0), NEVER);
    order_set(&order, 2, true, 500, true);
    order_set(&order, 3, true, 400, true);
    EXPECT_EQ(order_other_turn(&order, 0), 400);
    EXPECT_EQ(order_other_turn(&order, 3), 500); // its own does not bind it
    order_set(&order, 3, false, 400, true);
    EXPECT_EQ(order_other_turn(&order, 0), 500);
    order_set(&order, 2, true, 500, false);
    EXPECT_EQ(order_other_turn(&order, 0), NEVER);
    EXPECT_EQ(order_other(&order, 0), 100);
}

TEST_P(Cores, AgreesWithASearch)
{
    struct Core {
        bool can_run = false, turn = false;
        int64_t clock = 0;
    };
    std::mt19937_64 random(1);
    std::vector<Core> cores(MAX_CORES);
    const auto least_other = [&](int but, bool turns) {
        int64_t least = NEVER;
        for (int core = 0; core < MAX_CORES; core++) {
            if (core != but && cores[core].can_run && (cores[core].turn || !turns)) {
                least = std::min(least, cores[core].clock);
            }
        }
        return least;
    };

    for (int step = 0; step < 20000; step++) {
        const int changed = static_cast<int>(random() % MAX_CORES);
        // Few clocks, so that many are equal; beyond 2^40 as in a long run.
        cores[changed] = {random() % 4 != 0, random() % 4 == 0, (int64_t{1} << 40) + static_cast<int64_t>(random() % 16)};
        order_set(&order, changed, cores[changed].can_run, cores[changed].clock, cores[changed].turn);

        const int64_t least = least_other(-1, false);
        ASSERT_EQ(order_is_empty(&order), least == NEVER);
        if (least != NEVER) {
            std::vector<int> slowest;
            for (int core = 0; core < MAX_CORES; core++) {
                if (cores[core].can_run && cores[core].clock == least) {
                    slowest.push_back(core);
                }
            }
            ASSERT_EQ(order_slowest(&order), GetParam() ? slowest.back() : slowest.front());
        }
        const int asked = static_cast<int>(random() % MAX_CORES);
        ASSERT_EQ(order_has(&order, asked), cores[asked].can_run);
        ASSERT_EQ(order_other(&order, asked), least_other(asked, false));
        if (least_other(asked, false) != NEVER) {
            const int next = order_next(&order, asked);
            ASSERT_TRUE(next != asked && cores[next].can_run);
            ASSERT_EQ(cores[next].clock, least_other(asked, false));
        }
        ASSERT_EQ(order_other_turn(&order, asked), least_other(asked, true));
    }
}

} // namespace
} // namespace mosbench::test

// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "fast-engine/model/server.h"

namespace mosbench::test {
namespace {

constexpr uint64_t kCycle = 1024;

// Books packets of `service` cycles at the times of `moments`, in this order. Returns what they wait in the mean, in cycles.
double mean_wait(const std::vector<uint64_t> &moments, uint64_t service)
{
    Server server;
    uint64_t transaction = 0, waited = 0;
    for (uint64_t now : moments) {
        waited += server.book({++transaction, now, now}, service * kCycle);
    }
    return static_cast<double>(waited) / kCycle / static_cast<double>(moments.size());
}

TEST(Server, OnePacketAfterTheOther)
{
    EXPECT_EQ(mean_wait({0, 0, 0}, 40), 40); // 0, 40, 80
    EXPECT_EQ(mean_wait({0, 100, 200}, 40), 0);
    EXPECT_EQ(mean_wait({0, 30, 60}, 40), 10); // 0, 10, 20
}

TEST(Server, WhoComesLateToTheBookingDoesNotWaitForWhatComesAfterIt)
{
    EXPECT_EQ(mean_wait({100, 50}, 40), 0);
    EXPECT_EQ(mean_wait({100, 40, 50}, 30), 20.0 / 3);    // the third one behind the second: 70 to 100
    EXPECT_EQ(mean_wait({100, 50, 50}, 40), 80.0 / 3);    // the third one has 10 cycles before the first, 30 from 140 on
    EXPECT_EQ(mean_wait({10, 100, 200, 60, 160}, 40), 0); // each in a gap of its own
    EXPECT_EQ(mean_wait({100, 70}, 40), 20);              // 30 cycles of it before the first one, 10 behind
    EXPECT_EQ(mean_wait({200, 100, 60, 150}, 30), 0);     // on both sides of one in the middle of a gap
}

TEST(Server, PacketsOfATransactionDoNotWaitForEachOtherInAGapEither)
{
    Server server;
    server.book({1, 100, 100}, 10 * kCycle);
    EXPECT_EQ(server.book({2, 50, 50}, 10 * kCycle), 0u);
    EXPECT_EQ(server.book({2, 50, 50}, 10 * kCycle), 0u);
    EXPECT_EQ(server.book({3, 50, 50}, 10 * kCycle), 20 * kCycle); // behind both
}

// Packets whose order is off by a quantum wait in the mean as long as in the order of their times.
TEST(Server, TheOrderWithinAQuantumHardlyMatters)
{
    for (const uint64_t service : {5, 20, 40}) {
        for (const double load : {0.3, 0.6, 0.8}) {
            std::mt19937 random(7);
            std::exponential_distribution<double> between(load / static_cast<double>(service));
            std::uniform_real_distribution<double> off(0, 60);
            std::vector<std::pair<double, uint64_t>> booked;
            std::vector<uint64_t> in_order, as_booked;
            double now = 0;
            for (int i = 0; i < 200000; i++) {
                now += between(random);
                in_order.push_back(static_cast<uint64_t>(now));
                booked.emplace_back(now + off(random), in_order.back());
            }
            std::sort(booked.begin(), booked.end());
            for (const auto &[when, moment] : booked) {
                as_booked.push_back(moment);
            }
            const double right = mean_wait(in_order, service), found = mean_wait(as_booked, service);
            EXPECT_NEAR(found, right, 1 + 0.15 * right) << service << " cycles, load " << load;
        }
    }
}

} // namespace
} // namespace mosbench::test

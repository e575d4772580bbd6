// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "fast-engine/model/interconnect.h"
#include "tests/model/opteron.h"

namespace mosbench::test {
namespace {

uint64_t transactions = 0;

Moment at(uint64_t now)
{
    return {++transactions, now, now};
}

Machine machine_with(const Settings &changes)
{
    Settings settings = opteron();
    for (const auto &[key, value] : changes) {
        settings[key] = value;
    }
    return parse_machine(flat(settings));
}

std::vector<std::vector<uint32_t>> distances()
{
    const Settings settings = opteron();
    return shortest(8, settings.at("links"));
}

TEST(Interconnect, RoutesAreShortestAndAlongLinks)
{
    const Machine machine = machine_with({});
    const Interconnect interconnect(machine);
    const auto hops = distances();
    uint32_t diameter = 0;
    for (uint32_t a = 0; a < 8; a++) {
        for (uint32_t b = 0; b < 8; b++) {
            EXPECT_EQ(interconnect.hops(a, b), hops[a][b]);
            const auto route = interconnect.route(a, b);
            EXPECT_EQ(route.size(), hops[a][b]);
            uint32_t at = a;
            for (uint32_t next : route) {
                EXPECT_EQ(hops[at][next], 1u);
                at = next;
            }
            EXPECT_EQ(at, b);
            diameter = std::max(diameter, hops[a][b]);
        }
    }
    EXPECT_EQ(diameter, 3u);
}

TEST(Interconnect, LatenciesFollowTheHops)
{
    const Machine machine = machine_with({});
    const Interconnect interconnect(machine);
    const auto hops = distances();
    for (uint32_t r = 0; r < 8; r++) {
        for (uint32_t h = 0; h < 8; h++) {
            EXPECT_EQ(interconnect.memory_cycles(r, h), 122 + 127 * hops[r][h]);
            for (uint32_t o = 0; o < 8; o++) {
                EXPECT_NEAR(static_cast<double>(interconnect.transfer_cycles(r, h, o)),
                            120 + 63.5 * (hops[r][h] + hops[h][o] + hops[o][r]), 0.5);
            }
        }
    }
}

TEST(Interconnect, ALinkCarriesItsBandwidthInEachDirection)
{
    const Machine machine = machine_with({{"link_gbytes_per_second", "4"}}); // 72 bytes: 43.2 cycles
    Interconnect interconnect(machine);
    uint64_t last = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        last = interconnect.send_data(0, 1, at(0));
    }
    EXPECT_EQ(last, static_cast<uint64_t>(999 * 43.2));
    EXPECT_EQ(interconnect.send_data(1, 0, at(0)), 0u);
    EXPECT_EQ(interconnect.send_data(0, 1, at(100'000)), 0u);
}

TEST(Interconnect, ABookingIsMadeNowEvenIfItsUseIsLater)
{
    const Machine machine = machine_with({{"link_gbytes_per_second", "4"}});
    Interconnect interconnect(machine);
    EXPECT_EQ(interconnect.send_data(0, 1, {++transactions, 0, 1'000'000}), 0u);
    EXPECT_EQ(interconnect.send_data(0, 1, at(0)), 43u); // only behind the packet's length
}

TEST(Interconnect, AStartInThePastDoesNotWaitForWhatHasComeSince)
{
    const Machine machine = machine_with({{"link_gbytes_per_second", "4"}});
    Interconnect interconnect(machine);
    EXPECT_EQ(interconnect.send_data(0, 1, at(800)), 0u);
    EXPECT_EQ(interconnect.send_data(0, 1, {++transactions, 1000, 700}), 0u);
    EXPECT_EQ(interconnect.send_data(0, 1, {++transactions, 1010, 700}), 33u); // 10 of 43 cycles are over
}

TEST(Interconnect, ABroadcastEndsWithTheLastAcknowledgement)
{
    const Machine machine = machine_with({});
    Interconnect interconnect(machine);
    for (uint32_t requester = 0; requester < 8; requester++) {
        for (uint32_t home = 0; home < 8; home++) {
            uint64_t last = 0;
            for (uint32_t socket = 0; socket < 8; socket++) {
                last = std::max(last, interconnect.transfer_cycles(requester, home, socket));
            }
            interconnect.clear();
            EXPECT_EQ(interconnect.broadcast(requester, home, at(0)), last);
        }
    }
}

TEST(Interconnect, BroadcastsLoadEveryLinkOfTheirTree)
{
    const Machine machine = machine_with({{"link_gbytes_per_second", "0.01"}}); // 8 bytes: 1920 cycles
    Interconnect interconnect(machine);
    const uint64_t idle = interconnect.broadcast(0, 0, at(0));
    EXPECT_GE(interconnect.broadcast(0, 0, at(0)), idle + 1920);
}

} // namespace
} // namespace mosbench::test

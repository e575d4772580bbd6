// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "native/records/chains.h"
#include "native/records/records.h"

namespace mosbench::test {
namespace {

uint32_t add(Chains &chains, const std::vector<uint64_t> &callers)
{
    return chains.caller(callers.data(), callers.size());
}

TEST(ChainsTest, ChainsShareTheirOuterCallers)
{
    Chains chains;
    EXPECT_EQ(add(chains, {}), 0u);
    const uint32_t read = add(chains, {0x10, 0x20, 0x30});
    const uint32_t write = add(chains, {0x11, 0x20, 0x30});
    EXPECT_NE(read, write);
    EXPECT_EQ(add(chains, {0x10, 0x20, 0x30}), read);
    EXPECT_NE(add(chains, {0x10, 0x20}), read); // another outer end is another chain
    chains.sample(0x5, true, read, 2);
    chains.sample(0x5, true, write, 3);
    const Chains::Tables tables = chains.tables(100);
    ASSERT_EQ(tables.callers.size(), 4u); // 0x30, 0x20, 0x10, 0x11: the unused chain is left out
    ASSERT_EQ(tables.samples.size(), 2u);
    for (const auto &[key, count] : tables.samples) {
        const Caller &inner = tables.callers[std::get<2>(key) - 1];
        EXPECT_EQ(inner.address, count == 2 ? 0x10u : 0x11u);
        const Caller &middle = tables.callers[inner.parent - 1];
        EXPECT_EQ(middle.address, 0x20u);
        EXPECT_EQ(tables.callers[middle.parent - 1].address, 0x30u);
        EXPECT_EQ(tables.callers[middle.parent - 1].parent, 0u);
    }
}

TEST(ChainsTest, EachEleventhSampleIsLookedAt)
{
    Chains chains;
    int looked = 0;
    for (int i = 0; i < 35; i++) {
        looked += chains.next_sample();
    }
    EXPECT_EQ(looked, 3);
    chains.clear();
    for (uint32_t i = 0; i + 1 < kSamplesPerLook; i++) {
        EXPECT_FALSE(chains.next_sample());
    }
}

TEST(ChainsTest, OnlyTheBusiestLinesAreKept)
{
    Chains chains;
    chains.transfer(1, 0x5, add(chains, {0x10}), 100);
    chains.transfer(2, 0x5, add(chains, {0x20}), 300);
    chains.transfer(2, 0x5, add(chains, {0x20}), 100);
    chains.transfer(3, 0x5, 0, 200);
    const Chains::Tables tables = chains.tables(2);
    ASSERT_EQ(tables.sites.size(), 2u);
    for (const auto &[key, seen] : tables.sites) {
        const bool second = std::get<0>(key) == 2;
        EXPECT_EQ(seen.walks, second ? 2u : 1u);
        EXPECT_EQ(seen.cycles, second ? 400u : 200u);
        EXPECT_EQ(std::get<2>(key), second ? 1u : 0u);
    }
    ASSERT_EQ(tables.callers.size(), 1u);
    EXPECT_EQ(tables.callers[0].address, 0x20u);
    chains.clear();
    EXPECT_TRUE(chains.tables(100).callers.empty());
}

TEST(ChainsTest, EachNthTransferOfASiteIsLookedAt)
{
    Records records(100, 2, 4, false);
    const auto event = [&](uint64_t pc, Source source, bool upgrade = false) {
        return records.event({.pc = pc,
                              .address = 0x7000,
                              .line = 7,
                              .core = 1,
                              .kind = AccessKind::write,
                              .kernel = true,
                              .address_known = true,
                              .size = 8},
                             source, upgrade, 100);
    };
    EXPECT_FALSE(event(0x50, Source::core_same_socket)); // nobody asked for it
    records.clear();
    records.follow_calls(3);
    int looked = 0;
    for (int i = 0; i < 10; i++) {
        looked += event(0x50, i % 2 ? Source::core_same_socket : Source::core_other_socket);
        EXPECT_FALSE(event(0x60, Source::dram_local)); // no transfer
        EXPECT_FALSE(event(0x60, Source::l3));
    }
    EXPECT_EQ(looked, 3);
    EXPECT_FALSE(event(0x70, Source::held, true));
    EXPECT_FALSE(event(0x70, Source::l2, true));
    EXPECT_TRUE(event(0x70, Source::held, true)); // upgrades count, and each site for itself
    records.clear();
    records.follow_calls(3, 7); // as from the first on
    EXPECT_TRUE(event(0x70, Source::held, true));
    EXPECT_FALSE(event(0x70, Source::held, true));
}

} // namespace
} // namespace mosbench::test

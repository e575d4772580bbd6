// SPDX-License-Identifier: GPL-2.0-or-later
//
// Every transition of a line, with the cycles it takes and what is counted.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "tests/model/rig.h"

namespace mosbench::test {
namespace {

constexpr uint64_t kUpgradeAtNode0 = 501; // broadcast from and to socket 0: the farthest socket is three hops away

struct Protocol : testing::Test {
    Rig rig{opteron()};
    const uint32_t line = rig.line_of(0);
};

std::vector<uint64_t> cycles_of_misses(const char *trial)
{
    Settings settings = opteron();
    settings["trial"] = trial;
    Rig rig{settings};
    std::vector<uint64_t> cycles;
    for (uint32_t i = 0; i < 500; i++) {
        cycles.push_back(rig.read(0, rig.line_of(0) + i));
    }
    return cycles;
}

TEST(Trials, TheFirstIsTheMachineAndOthersAreSlowerByUpToFourCycles)
{
    const std::vector<uint64_t> first = cycles_of_misses("1"), second = cycles_of_misses("2");
    EXPECT_EQ(first, std::vector<uint64_t>(500, 122));
    EXPECT_EQ(std::set(second.begin(), second.end()), (std::set<uint64_t>{122, 123, 124, 125, 126}));
    EXPECT_NEAR(std::accumulate(second.begin(), second.end(), 0.0) / 500, 124, 0.25);
}

TEST(Trials, EachIsRepeatedExactlyAndNoTwoAreTheSame)
{
    EXPECT_EQ(cycles_of_misses("2"), cycles_of_misses("2"));
    EXPECT_NE(cycles_of_misses("2"), cycles_of_misses("3"));
}

TEST_F(Protocol, InvalidToExclusiveByRead)
{
    EXPECT_EQ(rig.read(0, line), 122u);
    EXPECT_EQ(rig.state(line), State::exclusive);
    EXPECT_EQ(rig.entry(line).owner_core(), 0u);
    EXPECT_EQ(rig.read(0, line), 3u);
    EXPECT_EQ(rig.core(0).from[static_cast<size_t>(Source::dram_local)], 1u);
}

TEST_F(Protocol, InvalidToModifiedByWrite)
{
    EXPECT_EQ(rig.write(0, line), 122u);
    EXPECT_EQ(rig.state(line), State::modified);
    EXPECT_EQ(rig.write(0, line), 3u);
    EXPECT_EQ(rig.core(0).upgrades, 0u);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 0u);
}

TEST_F(Protocol, InvalidToSharedByFetch)
{
    EXPECT_EQ(rig.fetch(0, line), 122u);
    EXPECT_EQ(rig.state(line), State::shared);
    EXPECT_EQ(rig.fetch(1, line), 122u);
    EXPECT_EQ(rig.entry(line).cores, 3u);
}

TEST_F(Protocol, ExclusiveToModifiedIsSilent)
{
    rig.read(0, line);
    EXPECT_EQ(rig.write(0, line), 3u);
    EXPECT_EQ(rig.state(line), State::modified);
    EXPECT_EQ(rig.core(0).l1_misses, 1u);
    EXPECT_EQ(rig.model.records().line(line).writers, 1u);
}

TEST_F(Protocol, ExclusiveToSharedByAnothersRead)
{
    rig.read(0, line);
    EXPECT_EQ(rig.read(1, line), 120u);
    EXPECT_EQ(rig.state(line), State::shared);
    EXPECT_EQ(rig.entry(line).owner(), Entry::kNobody);
    EXPECT_EQ(rig.core(1).from[static_cast<size_t>(Source::core_same_socket)], 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::directed_probe), 1u);
}

TEST_F(Protocol, ModifiedToOwnedByAnothersRead)
{
    rig.write(0, line);
    EXPECT_EQ(rig.read(6, line), 120u + 127); // socket 1, one hop to the home and one back
    EXPECT_EQ(rig.state(line), State::owned);
    EXPECT_EQ(rig.entry(line).owner_core(), 0u);
    EXPECT_EQ(rig.core(6).from[static_cast<size_t>(Source::core_other_socket)], 1u);
    EXPECT_EQ(rig.core(0).writebacks, 0u);
    EXPECT_EQ(rig.read(12, line), 120u + 127); // the owner still answers
    EXPECT_EQ(rig.entry(line).cores, 1u | 1u << 6 | 1u << 12);
}

TEST_F(Protocol, ModifiedToModifiedByAnothersWrite)
{
    rig.write(0, line);
    EXPECT_EQ(rig.write(1, line), 120u);
    EXPECT_EQ(rig.state(line), State::modified);
    EXPECT_EQ(rig.entry(line).cores, 2u);
    EXPECT_EQ(rig.core(0).invalidations, 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 0u);
    EXPECT_EQ(rig.read(0, line), 120u);
}

TEST_F(Protocol, SharedToInvalidFillsFromMemory)
{
    rig.fetch(0, line);
    rig.fetch(6, line);
    EXPECT_EQ(rig.write(12, line), std::max(122u + 127, 501u)); // all sockets are asked
    EXPECT_EQ(rig.state(line), State::modified);
    EXPECT_EQ(rig.core(12).from[static_cast<size_t>(Source::dram_remote)], 1u);
    EXPECT_EQ(rig.core(0).invalidations + rig.core(6).invalidations, 2u);
    EXPECT_EQ(rig.messages(0, 2, Message::broadcast_probe), 8u);
    EXPECT_EQ(rig.fetch(0, line), 120u + 127);
}

TEST_F(Protocol, UpgradeFromShared)
{
    rig.read(0, line);
    rig.read(1, line);
    EXPECT_EQ(rig.write(0, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.state(line), State::modified);
    EXPECT_EQ(rig.core(0).upgrades, 1u);
    EXPECT_EQ(rig.core(0).l1_misses, 1u);
    EXPECT_EQ(rig.core(1).invalidations, 1u);
    EXPECT_EQ(rig.write(0, line), 3u);
    EXPECT_EQ(rig.read(1, line), 120u);
}

TEST_F(Protocol, UpgradeFromOwned)
{
    rig.write(0, line);
    rig.read(1, line);
    EXPECT_EQ(rig.write(0, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.state(line), State::modified);
    EXPECT_EQ(rig.entry(line).cores, 1u);
}

TEST_F(Protocol, UpgradeBySharerOfAnOwnedLine)
{
    rig.write(0, line);
    rig.read(1, line);
    EXPECT_EQ(rig.write(1, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.entry(line).owner_core(), 1u);
    EXPECT_EQ(rig.core(0).invalidations, 1u);
    EXPECT_EQ(rig.core(0).writebacks + rig.core(1).writebacks, 0u);
}

TEST_F(Protocol, WriteMissOfAnOwnedLine)
{
    rig.write(0, line);
    rig.read(1, line);
    EXPECT_EQ(rig.write(2, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.core(2).from[static_cast<size_t>(Source::core_same_socket)], 1u);
    EXPECT_EQ(rig.core(2).upgrades, 0u);
    EXPECT_EQ(rig.entry(line).cores, 4u);
}

TEST_F(Protocol, AtomicsAreWritesAndWalksAreReads)
{
    EXPECT_EQ(rig.access(0, line, MODEL_WALK), 122u);
    EXPECT_EQ(rig.state(line), State::exclusive);
    EXPECT_EQ(rig.read(0, line), 3u);
    EXPECT_EQ(rig.access(1, line, MODEL_ATOMIC), 120u);
    EXPECT_EQ(rig.state(line), State::modified);
    const LineRow row = rig.model.records().line(line);
    EXPECT_EQ(row.writers, 2u);
    EXPECT_NE(row.vaddr, 0u); // the atomic's; a walk has none
}

TEST_F(Protocol, L2KeepsWhatFellOutOfL1)
{
    rig.write(0, line);
    rig.push_out(0, line, 1);
    EXPECT_EQ(rig.read(0, line), 14u);
    EXPECT_EQ(rig.read(0, line), 3u);
    EXPECT_EQ(rig.write(0, line), 3u); // still modified
    EXPECT_EQ(rig.core(0).l2_hits, 1u);
    rig.push_out(0, line, 1);
    EXPECT_EQ(rig.write(1, line), 120u); // an L2 answers as an L1 does
}

TEST_F(Protocol, UpgradeOfALineInL2)
{
    rig.read(0, line);
    rig.read(1, line);
    rig.push_out(0, line, 1);
    EXPECT_EQ(rig.write(0, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.core(0).l2_hits, 1u);
    EXPECT_EQ(rig.core(0).upgrades, 1u);
}

TEST_F(Protocol, L3TakesVictimsAndGivesModifiedLinesBackWhole)
{
    rig.write(0, line);
    rig.push_out(0, line, 2);
    EXPECT_EQ(rig.entry(line).cores, 0u);
    EXPECT_EQ(rig.entry(line).owner_l3(), 0u);
    EXPECT_EQ(rig.read(1, line), 28u); // any core of the socket
    EXPECT_EQ(rig.entry(line).l3(), 0u);
    EXPECT_EQ(rig.state(line), State::modified);
    EXPECT_EQ(rig.entry(line).owner_core(), 1u);
    EXPECT_EQ(rig.core(1).from[static_cast<size_t>(Source::l3)], 1u);
}

TEST_F(Protocol, L3GivesExclusiveLinesForWriting)
{
    rig.read(0, line);
    rig.push_out(0, line, 2);
    EXPECT_EQ(rig.write(0, line), 28u);
    EXPECT_EQ(rig.state(line), State::modified);
}

TEST_F(Protocol, L3KeepsSharedLines)
{
    rig.read(0, line);
    rig.read(6, line);
    rig.push_out(0, line, 2);
    EXPECT_EQ(rig.entry(line).l3(), 1u);
    EXPECT_EQ(rig.read(1, line), 28u);
    EXPECT_EQ(rig.entry(line).l3(), 1u);
    EXPECT_EQ(rig.read(2, line), 28u);
    EXPECT_EQ(rig.write(2, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.entry(line).l3(), 0u);
    EXPECT_EQ(rig.entry(line).cores, 4u);
}

TEST_F(Protocol, WriteToASharedLineInL3IsAnUpgrade)
{
    rig.read(0, line);
    rig.read(6, line);
    rig.push_out(0, line, 2);
    EXPECT_EQ(rig.write(3, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.core(3).from[static_cast<size_t>(Source::l3)], 1u);
    EXPECT_EQ(rig.core(3).upgrades, 1u);
    EXPECT_EQ(rig.core(6).invalidations, 1u);
}

TEST_F(Protocol, AnotherSocketsL3Answers)
{
    rig.write(0, line);
    rig.push_out(0, line, 2);
    EXPECT_EQ(rig.read(6, line), 120u + 127);
    EXPECT_EQ(rig.state(line), State::owned);
    EXPECT_EQ(rig.entry(line).owner_l3(), 0u);
    EXPECT_EQ(rig.core(6).from[static_cast<size_t>(Source::core_other_socket)], 1u);
    EXPECT_EQ(rig.write(6, line), 565u); // socket 7 is three hops from both home and requester
    EXPECT_EQ(rig.entry(line).l3(), 0u);
}

TEST_F(Protocol, OwnerLeavingForL3KeepsOwning)
{
    rig.write(0, line);
    rig.read(6, line);
    rig.push_out(0, line, 2);
    EXPECT_EQ(rig.state(line), State::owned);
    EXPECT_EQ(rig.entry(line).owner_l3(), 0u);
    EXPECT_EQ(rig.read(1, line), 28u);
    EXPECT_EQ(rig.entry(line).owner_l3(), 0u);
}

TEST_F(Protocol, CodeAndDataCopiesOfOneCore)
{
    rig.write(0, line);
    EXPECT_EQ(rig.fetch(0, line), 14u); // from its own L1D, as from the L2
    EXPECT_EQ(rig.read(0, line), 3u);
    EXPECT_EQ(rig.fetch(0, line), 3u);
    EXPECT_FALSE(rig.passes(0, line, MODEL_WRITE));
    EXPECT_EQ(rig.write(0, line), 3u); // takes the instruction copy away
    EXPECT_FALSE(rig.passes(0, line, MODEL_FETCH));
    EXPECT_TRUE(rig.passes(0, line, MODEL_WRITE));
    EXPECT_EQ(rig.fetch(0, line), 14u);
    EXPECT_EQ(rig.write(1, line), 120u); // takes both
    EXPECT_FALSE(rig.passes(0, line, MODEL_FETCH));
    EXPECT_FALSE(rig.passes(0, line, MODEL_READ));
    EXPECT_EQ(rig.core(0).invalidations, 1u);
    EXPECT_EQ(rig.fetch(0, line), 120u);
}

TEST_F(Protocol, FiltersShowOnlyTheLineUsedLast)
{
    const uint32_t other = line + rig.machine.l1d.sets;
    rig.write(0, line);
    EXPECT_TRUE(rig.passes(0, line, MODEL_READ));
    EXPECT_TRUE(rig.passes(0, line, MODEL_ATOMIC));
    rig.read(0, other);
    EXPECT_FALSE(rig.passes(0, line, MODEL_READ));
    EXPECT_FALSE(rig.passes(0, line, MODEL_WRITE));
    EXPECT_TRUE(rig.passes(0, other, MODEL_READ));
    EXPECT_FALSE(rig.passes(0, other, MODEL_WRITE)); // exclusive: the first store must be seen
    rig.read(0, line);
    EXPECT_TRUE(rig.passes(0, line, MODEL_WRITE));
    const uint32_t clean = rig.line_of(1);
    rig.read(0, clean);
    rig.read(1, clean);
    EXPECT_TRUE(rig.passes(0, clean, MODEL_READ));
    EXPECT_FALSE(rig.passes(0, clean, MODEL_WRITE)); // shared
}

// Hits on a line that cores have from each other must come in order, so the engine is to ask about each.
TEST_F(Protocol, FiltersDoNotShowALineThatCoresExchange)
{
    const auto shown_to = [this](uint32_t core) {
        return rig.passes(core, line, MODEL_READ) || rig.passes(core, line, MODEL_WRITE);
    };
    rig.write(0, line);
    EXPECT_TRUE(shown_to(0));
    rig.read(1, line);
    EXPECT_FALSE(shown_to(0) || shown_to(1));
    rig.read(1, line);
    EXPECT_FALSE(shown_to(1));
    rig.now += 60'000;
    rig.read(1, line);
    EXPECT_FALSE(shown_to(1));
    rig.now += 10'000; // quiet for long
    rig.read(1, line);
    EXPECT_TRUE(shown_to(1));
    rig.write(0, line); // an upgrade that takes a copy away
    EXPECT_FALSE(shown_to(0) || shown_to(1));
}

TEST_F(Protocol, OfWhatIsLeftInASetTheEngineAsksOnce)
{
    const uint32_t other = line + rig.machine.l1d.sets;
    rig.write(0, line);
    rig.write(0, other);
    rig.write(1, other);
    EXPECT_FALSE(rig.passes(0, line, MODEL_READ));
    EXPECT_EQ(rig.read(0, line), rig.machine.l1_cycles);
    EXPECT_TRUE(rig.passes(0, line, MODEL_WRITE));
}

TEST_F(Protocol, DeviceReadLeavesCopies)
{
    rig.write(0, line);
    rig.model.dma(rig.now, line, false);
    EXPECT_EQ(rig.state(line), State::owned);
    EXPECT_EQ(rig.entry(line).owner_core(), 0u);
    EXPECT_EQ(rig.messages(0, 0, Message::dma), 1u);
    EXPECT_EQ(rig.read(0, line), 3u);
    EXPECT_EQ(rig.write(0, line), kUpgradeAtNode0);
    EXPECT_EQ(rig.core(0).invalidations, 0u);

    const uint32_t clean = rig.line_of(1);
    rig.read(0, clean);
    rig.model.dma(rig.now, clean, false);
    EXPECT_EQ(rig.state(clean), State::exclusive);
    EXPECT_EQ(rig.messages(1, 0, Message::dma), 1u);
}

TEST_F(Protocol, TheCardIsNamedAndOtherDevicesAreNot)
{
    rig.write(0, line);
    rig.model.dma(rig.now, line, false);
    rig.model.dma(rig.now, line, false, true);
    rig.model.dma(rig.now, line, true, true);
    EXPECT_EQ(rig.model.records().of_card(line).reads, 1u);
    EXPECT_EQ(rig.model.records().of_card(line).writes, 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::dma), 3u);
}

TEST_F(Protocol, DeviceWriteTakesAllCopies)
{
    rig.write(0, line);
    rig.read(1, line);
    rig.model.dma(rig.now, line, true);
    EXPECT_EQ(rig.state(line), State::invalid);
    EXPECT_FALSE(rig.entry(line).cached());
    EXPECT_EQ(rig.core(0).invalidations + rig.core(1).invalidations, 2u);
    EXPECT_EQ(rig.core(0).writebacks + rig.core(1).writebacks, 0u);
    rig.now += 1000;                    // the memory is busy with the device's data
    EXPECT_EQ(rig.read(0, line), 122u); // and the probe filter has forgotten it
    EXPECT_EQ(rig.state(line), State::exclusive);
}

TEST_F(Protocol, StreamsGoPastTheCaches)
{
    const uint32_t stride = rig.machine.l1d.sets;
    rig.read(0, line);
    for (uint32_t i = 1; i <= 40; i++) { // all of them in the set of the line
        rig.access(0, line + i * stride, MODEL_STREAM);
        rig.now += 1000;
        EXPECT_FALSE(rig.entry(line + i * stride).cached());
    }
    EXPECT_TRUE(rig.passes(0, line, MODEL_READ));
    EXPECT_EQ(rig.core(0).writebacks, 40u);
    EXPECT_EQ(rig.core(0).l1_misses, 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::writeback), 40u);
    EXPECT_EQ(rig.messages(0, 0, Message::data_from_memory), 1u);
}

TEST_F(Protocol, AStreamedLineIsOneBurstUntilSomebodyReadsIt)
{
    for (int word = 0; word < 8; word++) {
        rig.access(0, line, MODEL_STREAM);
    }
    EXPECT_EQ(rig.core(0).writebacks, 1u);
    EXPECT_EQ(rig.core(0).wait_cycles(), 0u);
    rig.now += 1000;
    EXPECT_EQ(rig.read(1, line), 122u); // memory has it
    rig.access(0, line, MODEL_STREAM);
    EXPECT_FALSE(rig.entry(line).cached());
    EXPECT_EQ(rig.core(0).writebacks, 2u);
    EXPECT_EQ(rig.core(1).invalidations, 1u);
}

TEST_F(Protocol, AStreamTakesDirtyCopiesAndNobodyWritesThemBack)
{
    rig.write(1, line);
    rig.access(0, line, MODEL_STREAM);
    EXPECT_EQ(rig.state(line), State::invalid);
    EXPECT_EQ(rig.core(1).invalidations, 1u);
    EXPECT_EQ(rig.core(1).writebacks, 0u);
    EXPECT_EQ(rig.messages(0, 0, Message::back_invalidation), 1u);
}

TEST_F(Protocol, ClearForgetsEverything)
{
    rig.write(0, line);
    rig.fetch(1, rig.line_of(0, 9));
    rig.model.clear();
    EXPECT_FALSE(rig.passes(0, line, MODEL_READ));
    EXPECT_FALSE(rig.passes(0, line, MODEL_WRITE));
    EXPECT_FALSE(rig.passes(1, rig.line_of(0, 9), MODEL_FETCH));
    EXPECT_EQ(rig.read(0, line), 122u);
    EXPECT_EQ(rig.state(line), State::exclusive);
}

TEST(Latencies, MemoryOfEveryNodeFromEveryCore)
{
    Rig rig(opteron());
    for (uint32_t core = 0; core < 48; core++) {
        for (uint32_t node = 0; node < 8; node++) {
            const uint32_t hops = rig.model.interconnect().hops(core / 6, node);
            EXPECT_EQ(rig.read(core, rig.line_of(node, core)), 122 + 127 * hops);
        }
    }
}

TEST(Latencies, TransfersForEveryRequesterHomeAndOwner)
{
    Rig rig(opteron());
    uint32_t which = 0;
    for (uint32_t requester = 0; requester < 8; requester++) {
        for (uint32_t home = 0; home < 8; home++) {
            for (uint32_t owner = 0; owner < 8; owner++) {
                const uint32_t line = rig.line_of(home, which++);
                const auto &net = rig.model.interconnect();
                const uint32_t legs = net.hops(requester, home) + net.hops(home, owner) + net.hops(owner, requester);
                rig.write(rig.first_core(owner), line);
                EXPECT_EQ(rig.write(rig.first_core(requester) + 1, line), 120 + (127 * legs + 1) / 2);
            }
        }
    }
}

TEST(Latencies, LinesInterleavedOverTheNodes)
{
    Settings settings = opteron();
    settings["interleave"] = "line";
    Rig rig(settings);
    for (uint32_t line = 0; line < 16; line++) {
        EXPECT_EQ(rig.read(0, line), 122 + 127 * rig.model.interconnect().hops(0, line % 8));
    }
}

TEST(Latencies, APointerChaseSeesOneLevelPerSize)
{
    Rig rig(opteron());
    auto chase = [&](uint32_t lines) {
        uint64_t cycles = 0;
        for (int round = 0; round < 3; round++) {
            cycles = 0;
            for (uint32_t i = 0; i < lines; i++) {
                cycles += rig.read(0, i);
            }
        }
        return static_cast<double>(cycles) / lines;
    };
    EXPECT_EQ(chase(512), 3.0);
    EXPECT_EQ(chase(4096), 14.0);
    EXPECT_EQ(chase(32768), 28.0);
    EXPECT_EQ(chase(262144), 122.0);
}

TEST(ProbeFilter, AnEvictedEntryTakesTheLineFromAllCaches)
{
    Settings settings = opteron();
    settings["probe_filter_kib"] = "128"; // one way of the L3: 8192 sets of 4
    Rig rig(settings);
    const uint32_t sets = rig.machine.probe_filter.sets;
    rig.write(0, 0);
    rig.read(6, 0);
    for (uint32_t i = 1; i <= 3; i++) {
        rig.read(1, i * sets);
    }
    EXPECT_EQ(rig.entry(0).cores, 1u | 1u << 6);
    rig.read(1, 4 * sets);
    EXPECT_EQ(rig.state(0), State::invalid);
    EXPECT_FALSE(rig.entry(0).cached());
    EXPECT_FALSE(rig.passes(0, 0, MODEL_READ));
    EXPECT_EQ(rig.core(0).invalidations, 1u);
    EXPECT_EQ(rig.core(6).invalidations, 1u);
    EXPECT_EQ(rig.core(1).writebacks, 1u); // its request did it
    EXPECT_EQ(rig.messages(0, 0, Message::writeback), 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::back_invalidation), 8u); // the line was shared: everybody is asked
    EXPECT_EQ(rig.read(0, 0), 122u);
}

TEST(ProbeFilter, SharersLeaveSilently)
{
    Settings settings = tiny();
    settings["probe_filter_entry_bytes"] = "4"; // 64 sets, the caches have at most 16: other code can push a line out of them
    Rig rig(settings);
    rig.fetch(0, 0);
    for (uint32_t i = 1; i < 400 && rig.entry(0).cached(); i++) {
        const uint32_t other = i * 16;
        if (other % rig.machine.probe_filter.sets != 0) {
            rig.fetch(0, other);
        }
    }
    ASSERT_FALSE(rig.entry(0).cached());
    const uint64_t probes = rig.messages(0, 0, Message::broadcast_probe);
    rig.write(0, 0);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), probes + 2); // for nothing
}

// HyperTransport before HT Assist. From and to socket 0 the farthest answer takes 501 cycles, whatever the request.
struct WithoutProbeFilter : testing::Test {
    Rig rig{without_probe_filter(opteron())};
    const uint32_t line = rig.line_of(0);
};

TEST_F(WithoutProbeFilter, AMissReadsMemoryAndAsksEverybody)
{
    EXPECT_EQ(rig.read(0, line), 501u);
    EXPECT_EQ(rig.state(line), State::exclusive); // nobody has answered that he has it
    EXPECT_EQ(rig.core(0).from[static_cast<size_t>(Source::dram_local)], 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 8u);
    EXPECT_EQ(rig.messages(0, 0, Message::data_from_memory), 1u);
    EXPECT_EQ(rig.write(0, line), 3u);
    EXPECT_EQ(rig.write(1, rig.line_of(0, 6)), 501u);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 16u);
}

TEST_F(WithoutProbeFilter, AnOwnerAnswersNoSoonerThanTheLastWhoHasNothing)
{
    rig.write(0, line);
    EXPECT_EQ(rig.read(1, line), 501u); // 120 with a probe filter
    EXPECT_EQ(rig.state(line), State::owned);
    EXPECT_EQ(rig.core(1).from[static_cast<size_t>(Source::core_same_socket)], 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::data_from_core), 1u);
    EXPECT_EQ(rig.messages(0, 0, Message::data_from_memory), 2u); // the second one in vain
    EXPECT_EQ(rig.messages(0, 0, Message::directed_probe), 0u);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 16u);
    EXPECT_EQ(rig.write(2, line), 501u);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 24u); // asked once, and not again for the copies
    EXPECT_EQ(rig.entry(line).cores, 4u);
}

TEST_F(WithoutProbeFilter, AReaderOfASharedLineShares)
{
    rig.fetch(0, line);
    EXPECT_EQ(rig.read(1, line), 501u);
    EXPECT_EQ(rig.state(line), State::shared);
    EXPECT_EQ(rig.write(1, line), 501u);
    EXPECT_EQ(rig.core(1).upgrades, 1u);
    EXPECT_EQ(rig.core(0).invalidations, 1u);
}

TEST_F(WithoutProbeFilter, WhereMemoryTakesLongerItIsWaitedFor)
{
    Settings settings = without_probe_filter(opteron());
    settings["dram_local_cycles"] = "900";
    Rig slow(settings);
    EXPECT_EQ(slow.read(0, line), 900u);
    EXPECT_EQ(slow.read(1, line), 900u); // the owner's answer does not call memory off
}

TEST_F(WithoutProbeFilter, NoLineIsTakenBack)
{
    for (uint32_t i = 0; i <= 4; i++) { // a probe filter of four ways has to forget the first of them
        rig.read(i, i << 16);
    }
    EXPECT_TRUE(rig.entry(0).in_core(0));
    EXPECT_EQ(rig.core(0).invalidations, 0u);
    EXPECT_EQ(rig.messages(0, 0, Message::back_invalidation), 0u);
}

TEST_F(WithoutProbeFilter, StreamsAndDevicesProbeEverybodyAndDoNotWait)
{
    rig.access(0, line, MODEL_STREAM);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 8u);
    EXPECT_EQ(rig.messages(0, 0, Message::back_invalidation), 0u);
    EXPECT_EQ(rig.core(0).wait_cycles(), 0u);
    rig.model.dma(rig.now, line, true);
    rig.model.dma(rig.now, line, false);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 24u);
    rig.now += 1000;
    rig.write(1, line);
    rig.model.dma(rig.now, line, false);
    EXPECT_EQ(rig.state(line), State::owned);
    EXPECT_EQ(rig.messages(0, 0, Message::broadcast_probe), 40u);
}

TEST_F(WithoutProbeFilter, LatenciesAreTheLongerOfMemoryAndTheFarthestAnswer)
{
    for (uint32_t core = 0; core < 48; core += 6) {
        for (uint32_t node = 0; node < 8; node++) {
            const Interconnect &net = rig.model.interconnect();
            uint64_t farthest = 0;
            for (uint32_t socket = 0; socket < 8; socket++) {
                const uint32_t legs = net.hops(core / 6, node) + net.hops(node, socket) + net.hops(socket, core / 6);
                farthest = std::max<uint64_t>(farthest, 120 + (127 * legs + 1) / 2);
            }
            EXPECT_EQ(rig.read(core, rig.line_of(node, core)),
                      std::max<uint64_t>(122 + 127 * net.hops(core / 6, node), farthest));
        }
    }
}

TEST(Bandwidth, StreamingGetsWhatAMemoryGives)
{
    Rig rig(opteron());
    std::vector<uint64_t> clock(12, 0);
    constexpr uint32_t lines = 20'000;
    for (uint32_t i = 0; i < lines; i++) { // two sockets read node 0
        const size_t core = static_cast<size_t>(std::min_element(clock.begin(), clock.end()) - clock.begin());
        clock[core] += rig.access_at(clock[core], static_cast<uint32_t>(core), i, MODEL_READ);
    }
    const double cycles = static_cast<double>(*std::max_element(clock.begin(), clock.end()));
    EXPECT_NEAR(lines * 64 / cycles * 2.4, 6.44, 0.05);
}

TEST(Bandwidth, WhoFillsBuffersFasterThanMemoryTakesThemWaits)
{
    Rig rig(opteron());
    constexpr uint32_t lines = 10'000;
    for (uint32_t i = 0; i < lines; i++) {
        rig.access(0, i, MODEL_STREAM);
    }
    // 64 bytes at 6.44 GB/s are 23.9 cycles of 2.4 GHz; three of them are the store's own.
    EXPECT_NEAR(static_cast<double>(rig.now) / lines, 64 * 2.4 / 6.44, 0.5);
    EXPECT_GT(rig.core(0).wait_cycles(), uint64_t{lines} * 15);
}

TEST(Bandwidth, OneCoreAloneIsBoundByLatency)
{
    Rig rig(opteron());
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        cycles += rig.read(0, i);
    }
    EXPECT_EQ(cycles, 122'000u);
}

TEST(Bandwidth, RemoteStreamingGetsWhatALinkGives)
{
    Settings settings = opteron();
    settings["link_gbytes_per_second"] = "2";
    Rig rig(settings);
    std::vector<uint64_t> clock(6, 0);
    constexpr uint32_t lines = 20'000;
    for (uint32_t i = 0; i < lines; i++) { // socket 1 reads node 0
        const size_t core = static_cast<size_t>(std::min_element(clock.begin(), clock.end()) - clock.begin());
        clock[core] += rig.access_at(clock[core], static_cast<uint32_t>(core) + 6, i, MODEL_READ);
    }
    const double cycles = static_cast<double>(*std::max_element(clock.begin(), clock.end()));
    EXPECT_NEAR(lines * 72 / cycles * 2.4, 2, 0.02);
}

TEST(Contention, ALineServesOneRequestAfterTheOther)
{
    Rig rig(opteron());
    rig.write(0, 5);
    rig.now = 10'000;
    uint64_t expected = rig.machine.l2_cycles;  // each looks into its own caches while the home serves the others
    for (uint32_t core = 1; core < 6; core++) { // all of one socket, all at once
        expected += 120 - rig.machine.l2_cycles;
        EXPECT_EQ(rig.access_at(rig.now, core, 5, MODEL_ATOMIC), expected);
    }
    EXPECT_EQ(rig.access_at(rig.now + expected, 0, 5, MODEL_ATOMIC), 120u); // free again
    EXPECT_EQ(rig.access_at(rig.now, 0, 6, MODEL_READ), 122u);              // another line does not wait
}

} // namespace
} // namespace mosbench::test

// SPDX-License-Identifier: GPL-2.0-or-later
//
// The model's rules: the release build checks them at each step as far as that costs little; here all caches are compared with
// the directory. And broken rules are noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/model/rig.h"
#include "tests/model/steps.h"

namespace mosbench::test {
namespace {

// Caches, directory and probe filters say the same of every line that the steps use, and no rule is broken.
void compare_all(const Rig &rig, const Steps &steps)
{
    const Caches &caches = rig.model.caches();
    for (uint32_t line : steps.lines()) {
        SCOPED_TRACE(testing::Message() << "line " << line);
        const Entry &entry = rig.entry(line);
        ASSERT_EQ(entry.broken_rule(), nullptr) << entry.broken_rule();
        for (uint32_t core = 0; core < rig.machine.cores(); core++) {
            const auto [l1d, l1i, l2] = caches.core(core).places(line);
            ASSERT_EQ(entry.in_core(core), l1d || l1i || l2) << "core " << core;
            ASSERT_FALSE((l1d || l1i) && l2) << "core " << core << ": L1 and L2 exclude each other";
        }
        for (uint32_t socket = 0; socket < rig.machine.sockets; socket++) {
            ASSERT_EQ(entry.in_l3(socket), caches.l3(socket).contains(line)) << "L3 of socket " << socket;
        }
        if (entry.cached() && rig.machine.filtered()) {
            ASSERT_TRUE(rig.model.homes().knows(line));
        }
    }
}

void steps_keep_the_rules(const Settings &settings, uint32_t seed)
{
    Rig rig(settings);
    rig.may_defer = true;
    Steps steps(rig.machine, seed);
    std::vector<uint64_t> clock(rig.machine.cores(), 0);
    std::vector<uint64_t> waited(rig.machine.cores(), 0);
    bool victims = false, shared_l3 = false;
    for (uint32_t i = 0; i < 20'000; i++) {
        const Step step = steps.next(slowest(clock));
        SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << i);
        if (step.device) {
            rig.model.dma(clock[step.core], step.line, step.device_write);
        } else {
            const uint64_t answer = rig.access_at(clock[step.core], step.core, step.line, step.kind);
            clock[step.core] += answer & ~MODEL_DEFERRED;
            waited[step.core] += answer & MODEL_DEFERRED ? answer & ~MODEL_DEFERRED : answer - rig.machine.l1_cycles;
        }
        clock[step.core] += steps.below(20);
        if (i % 500 == 0) {
            compare_all(rig, steps);
            for (uint32_t line : steps.lines()) {
                victims = victims || (rig.entry(line).l3() != 0 && rig.entry(line).cores == 0);
                shared_l3 = shared_l3 || (rig.entry(line).l3() != 0 && rig.entry(line).cores != 0);
            }
        }
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
    EXPECT_TRUE(victims && shared_l3) << "the steps must reach every case";
    std::array<uint64_t, kSources> kinds{};
    for (uint32_t core = 0; core < rig.machine.cores(); core++) {
        EXPECT_EQ(rig.core(core).wait_cycles(), waited[core]) << "core " << core << ": each cycle that it waits is counted, once";
        for (size_t kind = 0; kind < kSources; kind++) {
            kinds[kind] += rig.core(core).waits[kind];
        }
    }
    EXPECT_GT(*std::min_element(kinds.begin(), kinds.end()), 0u) << "the steps must wait for everything";
}

TEST(Invariants, HoldAfterRandomStepsOnATinyMachine)
{
    for (uint32_t seed = 21; seed <= 24; seed++) {
        steps_keep_the_rules(tiny(), seed);
    }
}

TEST(Invariants, HoldWhereCodeComesAhead)
{
    Settings ahead = tiny();
    ahead["core"] = "interval";
    ahead["code_prefetch_lines"] = "2";
    steps_keep_the_rules(ahead, 27);
}

TEST(Invariants, HoldWithoutProbeFilters)
{
    steps_keep_the_rules(without_probe_filter(tiny()), 26);
}

TEST(Invariants, HoldOnARingOfFourInterleavedNodes)
{
    Settings ring = tiny();
    ring["sockets"] = "4";
    ring["links"] = "0-1 1-2 2-3 0-3";
    ring["interleave"] = "line";
    steps_keep_the_rules(ring, 25);
}

Entry modified_by(uint32_t core)
{
    Entry entry{};
    entry.add_core(core);
    entry.set_owner(Entry::core_as_owner(core));
    entry.set_state(State::modified);
    return entry;
}

struct BrokenRule : testing::Test {
    BrokenRule() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    static void dies(const Entry &entry, const char *rule)
    {
        EXPECT_DEATH(entry.check(77), std::string("coherence model: line 77: ") + rule + " \\(.*invariants_test.cc:");
    }
};

TEST_F(BrokenRule, EveryStateCanBeRight)
{
    Entry entry{};
    entry.check(0);
    for (uint32_t core : {0u, 1u, 47u, 63u}) {
        entry = modified_by(core);
        entry.check(0);
        entry.set_state(State::exclusive);
        entry.check(0);
        entry.set_state(State::owned);
        entry.check(0);
        entry.add_core(5);
        entry.add_l3(7);
        entry.check(0);
        entry.set_state(State::shared);
        entry.set_owner(Entry::kNobody);
        entry.check(0);
    }
    for (uint32_t socket : {0u, 7u}) {
        entry = Entry{};
        entry.add_l3(socket);
        entry.set_owner(Entry::l3_as_owner(socket));
        entry.set_state(State::modified);
        entry.check(0);
    }
}

TEST_F(BrokenRule, CopiesOfAnInvalidLine)
{
    Entry entry{};
    entry.add_core(3);
    dies(entry, "a line is cached if and only if its state is not I");
}

TEST_F(BrokenRule, AStateWithoutCopies)
{
    Entry entry{};
    entry.set_state(State::shared);
    dies(entry, "a line is cached if and only if its state is not I");
}

TEST_F(BrokenRule, ModifiedWithoutAnOwner)
{
    Entry entry = modified_by(3);
    entry.set_owner(Entry::kNobody);
    dies(entry, "in M, O and E a line has an owner, in S and I none");
}

TEST_F(BrokenRule, SharedWithAnOwner)
{
    Entry entry = modified_by(3);
    entry.set_state(State::shared);
    dies(entry, "in M, O and E a line has an owner, in S and I none");
}

TEST_F(BrokenRule, AnOwnerWithoutACopy)
{
    Entry entry = modified_by(3);
    entry.set_owner(Entry::core_as_owner(4));
    dies(entry, "the owner of a line holds a copy");
    entry.set_state(State::owned);
    dies(entry, "the owner of a line holds a copy");
    entry.set_owner(Entry::l3_as_owner(0));
    dies(entry, "the owner of a line holds a copy");
}

TEST_F(BrokenRule, ACoreOrAnL3BesideM)
{
    Entry entry = modified_by(3);
    entry.add_core(4);
    dies(entry, "beside M or E there is no other copy");
    entry = modified_by(3);
    entry.add_l3(0);
    dies(entry, "beside M or E there is no other copy");
    entry.set_state(State::exclusive);
    dies(entry, "beside M or E there is no other copy");
}

TEST_F(BrokenRule, TheDirectoryNamesACoreThatHasNotTheLine)
{
    const Machine machine = parse_machine(flat(tiny()));
    TagMemory tags(Caches::tags_of(machine));
    Caches caches(machine, HomeMap(machine).lines(), tags, {});
    caches.clear();
    caches.entry(5) = modified_by(1);
    EXPECT_DEATH(caches.core(1).remove(5), "line 5: what the directory says a core holds is in one of its caches");
    EXPECT_DEATH(caches.core(1).fill(5, false, true), "line 5: what the directory says a core holds is in one of its caches");
    EXPECT_DEATH(caches.take_copies(5, caches.entry(5), 0), "line 5: what the directory says a core holds");
}

TEST_F(BrokenRule, AnL1HasALineThatTheDirectoryDoesNotKnow)
{
    const Machine machine = parse_machine(flat(tiny()));
    TagMemory tags(Caches::tags_of(machine));
    Caches caches(machine, HomeMap(machine).lines(), tags, {});
    caches.clear();
    caches.core(1).fill(5, false, false);
    EXPECT_DEATH(caches.look_up(1, 5, false, caches.entry(5)), "line 5: what is in an L1 is the core's in the directory");
    EXPECT_DEATH(caches.core_to_l3(1, 5, caches.entry(5)), "line 5: what falls out of an L2 is the core's in the directory");
}

TEST_F(BrokenRule, TheDirectoryNamesAnL3ThatHasNotTheLine)
{
    const Machine machine = parse_machine(flat(tiny()));
    TagMemory tags(Caches::tags_of(machine));
    Caches caches(machine, HomeMap(machine).lines(), tags, {});
    caches.clear();
    Entry &entry = caches.entry(5);
    entry.add_l3(0);
    entry.set_state(State::shared);
    EXPECT_DEATH(caches.l3_to_core(1, 5, entry), "line 5: what the directory says an L3 holds is in it");
    EXPECT_DEATH(caches.take_copies(5, entry, 0), "line 5: what the directory says an L3 holds is in it");
}

} // namespace
} // namespace mosbench::test

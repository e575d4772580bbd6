// SPDX-License-Identifier: BSD-3-Clause
//
// The protocol's rules against all that can happen to one line: with them no fault is reached, and without any one of them one
// is.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/protocol/search.h"

namespace mosbench::protocol {
namespace {

constexpr size_t kMost = 2'000'000;

struct Machine {
    int nodes, cores;
    Setup setup;
};

struct Missing {
    Rule rule;
    Machine found_on; // the smallest that shows it
    std::string fault;
};

constexpr Setup kPlain{};
constexpr Setup kFetches{.fetches = true};
constexpr Setup kAll{.devices = true, .fetches = true, .lookups = true};

void PrintTo(const Machine &machine, std::ostream *out)
{
    *out << machine.nodes << " sockets of " << machine.cores << " cores" << (machine.setup.devices ? ", devices" : "");
}

void PrintTo(const Missing &missing, std::ostream *out)
{
    *out << kRules[static_cast<size_t>(missing.rule)];
}

std::string way(const Found &found)
{
    std::string text = found.fault;
    for (const std::string &step : found.way) {
        text += "\n  " + step;
    }
    return text;
}

class WithAllRules : public testing::TestWithParam<Machine> {};

TEST_P(WithAllRules, NoFaultIsReached)
{
    const Machine &machine = GetParam();
    const Found found = search(machine.nodes, machine.cores, machine.setup, kMost).value();
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.fault, "") << way(found);
}

INSTANTIATE_TEST_SUITE_P(Machines, WithAllRules,
                         testing::Values(Machine{1, 1, kAll}, Machine{1, 2, kPlain}, Machine{1, 2, kAll}, Machine{2, 1, kPlain}));

class WithoutOneRule : public testing::TestWithParam<Missing> {};

TEST_P(WithoutOneRule, AFaultIsReached)
{
    const Missing &missing = GetParam();
    const Machine &machine = missing.found_on;
    const Found found = search(machine.nodes, machine.cores, machine.setup.without(missing.rule), kMost).value();
    EXPECT_EQ(found.fault, missing.fault) << way(found);
    EXPECT_FALSE(found.way.empty());
}

const Machine kTwoCores{1, 2, kPlain}, kTwoSockets{2, 1, kPlain};

INSTANTIATE_TEST_SUITE_P(
    Rules, WithoutOneRule,
    testing::Values(Missing{Rule::probes_in_order, {2, 1, kFetches}, "a writeback is acknowledged while a probe is open"},
                    Missing{Rule::reports_in_order, kTwoCores, "the victim of a core that the node does not list"},
                    Missing{Rule::probe_waits_for_grant, kTwoCores, "a probe to read is answered without data"},
                    Missing{Rule::request_waits_for_victim, kTwoCores, "an L3 has a copy beside a writer"},
                    Missing{Rule::request_waits_for_writeback, kTwoCores, "a probe waits for a grant while a writeback is open"},
                    Missing{Rule::invalidation_takes_writeback, kTwoCores, "memory is old where nobody has a copy"},
                    Missing{Rule::put_of_owner_only, kTwoSockets, "memory is old though the home takes it for current"},
                    Missing{Rule::upgrade_of_holder_only, kTwoCores, "an upgrade without a copy"},
                    Missing{Rule::upgrade_of_given_only, kTwoCores, "an upgrade without a copy"},
                    Missing{Rule::sole_upgrade_is_alone, kTwoCores,
                            "data for writing are granted to a core that has some or did not ask"},
                    Missing{Rule::upgrade_of_listed_only, {1, 2, kFetches}, "an upgrade without a copy"},
                    Missing{Rule::upgrade_spares_asker, kTwoCores, "the right to write for a core without a copy"},
                    Missing{Rule::owner_kept_under_request, kTwoCores, "a probe waits for a grant while a writeback is open"},
                    Missing{Rule::overtaken_read_not_kept, kTwoSockets, "a core has an old copy"},
                    Missing{Rule::invalidation_names_given, kTwoSockets, "a core has an old copy"},
                    Missing{Rule::reads_told_by_core, kTwoCores, "a shared copy is granted to a core that did not ask to read"}),
    [](const auto &info) { return std::string(kRules[static_cast<size_t>(info.param.rule)]); });

TEST(Search, EveryRuleIsLeftOutOnce)
{
    EXPECT_EQ(kRules.size(), 16u);
}

TEST(Search, IsCutShortWhereItIsTold)
{
    const Found found = search(2, 1, kPlain, 1000).value();
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.fault, "");
    EXPECT_GE(found.worlds, 1000u);
}

TEST(Search, HasNoOtherMachines)
{
    EXPECT_FALSE(search(9, 9, kPlain, 1).has_value());
}

TEST(Search, TellsTheWayToAFaultStepByStep)
{
    const Found found = search(1, 2, kPlain.without(Rule::invalidation_takes_writeback), kMost).value();
    ASSERT_FALSE(found.way.empty());
    EXPECT_EQ(found.way.front(), "store of core 0");
    EXPECT_EQ(found.way.back().rfind("home takes answer of node", 0), 0u);
}

TEST(Pairs, AreNamedByMachineStateAndEvent)
{
    Pairs pairs;
    pairs.seen(CoreState::I_L, CoreEvent::Lookup_Done);
    pairs.seen(NodeState::WP, NodeEvent::WB_Ack);
    pairs.seen(HomeState::DW, HomeEvent::Last_Dirty);
    EXPECT_EQ(pairs.names(), (std::set<std::string>{"L1Cache I_L Lookup_Done", "L3Cache WP WB_Ack", "Directory DW Last_Dirty"}));
}

} // namespace
} // namespace mosbench::protocol

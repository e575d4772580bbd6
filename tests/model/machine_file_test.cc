// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "fast-engine/model/machine_file.h"
#include "tests/model/opteron.h"

namespace mosbench::test {
namespace {

std::string refusal(const std::string &text)
{
    try {
        parse_machine(text);
    } catch (const MachineError &error) {
        return error.what();
    }
    return "";
}

std::string refusal(const std::string &key, const std::string &value)
{
    Settings settings = resolved(opteron());
    settings[key] = value;
    return refusal(text_of(settings));
}

TEST(MachineFile, ReadsTheOpteron)
{
    const Machine machine = parse_machine(flat(opteron()));
    EXPECT_EQ(machine.name, "opteron-8431");
    EXPECT_EQ(machine.cores(), 48u);
    EXPECT_EQ(machine.socket_of(47), 7u);
    EXPECT_EQ(machine.l1d.sets, 512u);
    EXPECT_EQ(machine.l2.sets, 512u);
    EXPECT_EQ(machine.l3.sets, 2048u); // what the probe filter leaves of it: 5 MiB, 40 ways
    EXPECT_EQ(machine.l3.ways, 40u);
    EXPECT_EQ(machine.probe_filter.sets * machine.probe_filter.ways, 256u * 1024);
    EXPECT_EQ(machine.quantum(), 60u);
    EXPECT_EQ(machine.links.size(), 10u);
    EXPECT_FALSE(machine.interleave_lines);
}

// What the harness writes is what the tests work out another way.
TEST(MachineFile, TheHarnessResolvesTheOpteron)
{
    const Machine theirs = load_machine(std::string(MOSBENCH_MACHINES) + "/opteron-8431.conf");
    const Machine ours = parse_machine(flat(opteron()));
    EXPECT_EQ(theirs.name, ours.name);
    EXPECT_EQ(theirs.links, ours.links);
    EXPECT_EQ(theirs.hops, ours.hops);
    EXPECT_EQ(theirs.memory_cycles, ours.memory_cycles);
    for (CacheShape Machine::*cache : {&Machine::l1d, &Machine::l1i, &Machine::l2, &Machine::l3, &Machine::probe_filter}) {
        EXPECT_EQ((theirs.*cache).sets, (ours.*cache).sets);
        EXPECT_EQ((theirs.*cache).ways, (ours.*cache).ways);
    }
}

TEST(MachineFile, NamesTheMissingKey)
{
    for (const auto &[key, value] : resolved(opteron())) {
        Settings settings = resolved(opteron());
        settings.erase(key);
        EXPECT_EQ(refusal(text_of(settings)), key + " is missing; every key that the engine takes must be given");
    }
}

TEST(MachineFile, NamesTheUnknownKey)
{
    EXPECT_EQ(refusal("l4_sets", "64"), "l4_sets is not a key that the engine takes");
}

TEST(MachineFile, NamesKeyAndValueOfWhatIsNoneOfItsKind)
{
    EXPECT_EQ(refusal("read_busy_cycles", "6.0"), "read_busy_cycles is \"6.0\", not a whole number");
    EXPECT_EQ(refusal("clock_ghz", "fast"), "clock_ghz is \"fast\", not a number");
    EXPECT_EQ(refusal("interleave", "page"), "interleave is \"page\", not node or line");
    EXPECT_EQ(refusal("count_hits", "yes"), "count_hits is \"yes\", not 0 or 1");
    EXPECT_NE(refusal("hops", "0 1 1 0").find("not a whole number for each two sockets"), std::string::npos);
    EXPECT_NE(refusal("memory_cycles", resolved(opteron()).at("memory_cycles") + " 1").find("memory_cycles is"),
              std::string::npos);
}

TEST(MachineFile, RefusesWhatTheModelHasNoRoomFor)
{
    EXPECT_EQ(refusal("sockets", "9"), "sockets is \"9\", not one of the 1 to 8 that the model has room for");
    EXPECT_EQ(refusal("cores_per_socket", "9"), "cores_per_socket is \"9\", not one of the 1 to 8 that the model has room for");
    EXPECT_EQ(refusal("l1d_sets", "2048"), "l1d_sets is \"2048\", not one of the 1 to 1024 that the model has room for");
    EXPECT_EQ(refusal("l2_sets", "500"), "l2_sets is \"500\", not a power of two");
    EXPECT_EQ(refusal("probe_filter_sets", "3"), "probe_filter_sets is \"3\", not a power of two");
    EXPECT_NE(refusal("probe_filter_ways", "0").find("probe_filter_ways is \"0\""), std::string::npos);
}

TEST(MachineFile, WithoutAProbeFilterTheWholeL3HoldsLines)
{
    const Machine machine = parse_machine(flat(without_probe_filter(opteron())));
    EXPECT_FALSE(machine.filtered());
    EXPECT_EQ(machine.l3.ways, 48u);
    EXPECT_TRUE(parse_machine(flat(opteron())).filtered());
}

TEST(MachineFile, RefusesLinksThatAreNoNetwork)
{
    for (const char *links : {"0-8 1-2", "0-1,1-2", "a-b", "0-1 0-2 1-3 2-4 2-5 3-4 3-5 4-6 5-7 6-7 1"}) {
        EXPECT_NE(refusal("links", links).find("not pairs of sockets such as \"0-1 1-2\""), std::string::npos) << links;
    }
    EXPECT_EQ(refusal("links", "0-1 0-2"), "hops are not those of the links: from socket 3 none leads to 0");
    Settings one = opteron();
    one["sockets"] = "1";
    one["links"] = "";
    EXPECT_EQ(refusal(flat(one)), "");
}

TEST(MachineFile, RefusesAKeyGivenTwiceAndAFileThatIsNotThere)
{
    EXPECT_THROW(parse_machine(flat(opteron()) + "sockets 8\n"), MachineError);
    EXPECT_THROW(load_machine("/nonexistent/machine.conf"), MachineError);
}

} // namespace
} // namespace mosbench::test

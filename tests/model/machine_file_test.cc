// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "fast-engine/model/machine_file.h"
#include "tests/model/opteron.h"

namespace mosbench::test {
namespace {

std::string refusal(Settings settings)
{
    try {
        parse_machine(flat(settings));
    } catch (const MachineError &error) {
        return error.what();
    }
    return "";
}

std::string refusal(const std::string &key, const std::string &value, Settings settings = opteron())
{
    settings[key] = value;
    return refusal(settings);
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

TEST(MachineFile, NamesTheMissingKey)
{
    for (const auto &[key, value] : opteron()) {
        Settings settings = opteron();
        settings.erase(key);
        const bool not_ours = key == "tlb_entries" || key.starts_with("disk_");
        EXPECT_EQ(refusal(settings), not_ours ? "" : key + " is missing; every key of the machine must be given");
    }
}

TEST(MachineFile, NamesKeyValueAndRange)
{
    EXPECT_EQ(refusal("sockets", "9"), "sockets is \"9\"; allowed: a whole number from 1 to 8");
    EXPECT_EQ(refusal("cores_per_socket", "9"), "cores_per_socket is \"9\"; allowed: a whole number from 1 to 8");
    EXPECT_EQ(refusal("cores_per_socket", "6.0"), "cores_per_socket is \"6.0\"; allowed: a whole number from 1 to 8");
    EXPECT_EQ(refusal("clock_ghz", "fast"), "clock_ghz is \"fast\"; allowed: a number from 0.1 to 10");
    EXPECT_EQ(refusal("clock_ghz", "nan"), "clock_ghz is \"nan\"; allowed: a number from 0.1 to 10");
    EXPECT_EQ(refusal("line_bytes", "128"), "line_bytes is \"128\"; allowed: a whole number from 64 to 64");
    EXPECT_EQ(refusal("l3_cycles", "13"), "l3_cycles is \"13\"; allowed: a whole number from 14 to 1000000");
    EXPECT_EQ(refusal("interleave", "page"), "interleave is \"page\"; allowed: node or line");
    EXPECT_EQ(refusal("count_hits", "yes"), "count_hits is \"yes\"; allowed: 0 or 1");
    EXPECT_EQ(refusal("name", "an opteron"), "name is \"an opteron\"; allowed: letters, digits, '.', '_' and '-'");
    EXPECT_NE(refusal("l2_ways", "12").find("l2_kib is \"512\"; allowed: a size that gives a power of two"), std::string::npos);
    EXPECT_NE(refusal("l1d_kib", "256").find("at most 1024 sets"), std::string::npos);
    EXPECT_NE(refusal("probe_filter_kib", "1000").find("whole number of the L3's ways"), std::string::npos);
    EXPECT_NE(refusal("probe_filter_kib", "6144").find("from 1 to 6143"), std::string::npos);
}

TEST(MachineFile, RefusesLinksThatAreNoNetwork)
{
    for (const char *links :
         {"", "0-1", "0-8 1-2", "0-0", "0-1 1-0", "0-1,1-2", "a-b", "0-1 0-2 1-3 2-4 2-5 3-4 3-5 4-6 5-7 6-7 1"}) {
        EXPECT_NE(refusal("links", links).find("links is"), std::string::npos) << links;
    }
    Settings one = opteron();
    one["sockets"] = "1";
    one["links"] = "";
    EXPECT_EQ(refusal(one), "");
}

TEST(MachineFile, RefusesAKeyGivenTwiceAndAFileThatIsNotThere)
{
    EXPECT_THROW(parse_machine(flat(opteron()) + "sockets 8\n"), MachineError);
    EXPECT_THROW(load_machine("/nonexistent/machine.conf"), MachineError);
}

} // namespace
} // namespace mosbench::test

// SPDX-License-Identifier: GPL-2.0-or-later
//
// Machines for the tests, as the flat text that the harness writes.
#ifndef MOSBENCH_TESTS_MODEL_OPTERON_H
#define MOSBENCH_TESTS_MODEL_OPTERON_H

#include <map>
#include <string>

namespace mosbench::test {

using Settings = std::map<std::string, std::string>;

// The 8 x 6 Opteron; small nodes keep the address space of the sanitised tests small.
inline Settings opteron()
{
    return {{"name", "opteron-8431"},
            {"sockets", "8"},
            {"cores_per_socket", "6"},
            {"clock_ghz", "2.4"},
            {"line_bytes", "64"},
            {"l1d_kib", "64"},
            {"l1d_ways", "2"},
            {"l1i_kib", "64"},
            {"l1i_ways", "2"},
            {"l1_cycles", "3"},
            {"l2_kib", "512"},
            {"l2_ways", "16"},
            {"l2_cycles", "14"},
            {"l3_kib", "6144"},
            {"l3_ways", "48"},
            {"l3_cycles", "28"},
            {"probe_filter_kib", "1024"},
            {"probe_filter_ways", "4"},
            {"probe_filter_entry_bytes", "4"},
            {"dram_local_cycles", "122"},
            {"hop_cycles", "127"},
            {"transfer_cycles", "120"},
            {"read_busy_cycles", "74"},
            {"links", "0-1 0-2 1-3 2-4 2-5 3-4 3-5 4-6 5-7 6-7"},
            {"link_gbytes_per_second", "9.6"},
            {"dram_gbytes_per_second", "6.44"},
            {"node_mib", "1024"},
            {"interleave", "node"},
            {"tlb_entries", "512"},
            {"disk_latency_us", "100"},
            {"disk_mbytes_per_second", "100"},
            {"sample_period_cycles", "9973"},
            {"count_hits", "0"},
            {"trial", "1"}};
}

// Two sockets of two cores with caches of a few lines: everything that is rare happens at once.
inline Settings tiny()
{
    Settings settings = opteron();
    for (const auto &[key, value] : Settings{{"name", "tiny"},
                                             {"sockets", "2"},
                                             {"cores_per_socket", "2"},
                                             {"l1d_kib", "1"},
                                             {"l1d_ways", "2"},
                                             {"l1i_kib", "1"},
                                             {"l1i_ways", "4"},
                                             {"l2_kib", "2"},
                                             {"l2_ways", "4"},
                                             {"l3_kib", "5"},
                                             {"l3_ways", "5"},
                                             {"probe_filter_kib", "1"},
                                             {"probe_filter_ways", "4"},
                                             {"probe_filter_entry_bytes", "16"},
                                             {"links", "0-1"},
                                             {"node_mib", "1"}}) {
        settings[key] = value;
    }
    return settings;
}

inline std::string flat(const Settings &settings)
{
    std::string text;
    for (const auto &[key, value] : settings) {
        text += key + " " + value + "\n";
    }
    return text;
}

} // namespace mosbench::test

#endif

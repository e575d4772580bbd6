// SPDX-License-Identifier: GPL-2.0-or-later
//
// Machines for the tests. They are written as a machine file of the user's is; what follows from the keys, which the harness
// works out for the model, is worked out here once more.
#ifndef MOSBENCH_TESTS_MODEL_OPTERON_H
#define MOSBENCH_TESTS_MODEL_OPTERON_H

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace mosbench::test {

using Settings = std::map<std::string, std::string>;

// The 8 x 6 Opteron; small nodes keep the address space of the sanitised tests small.
inline Settings opteron()
{
    return {{"name", "opteron-8431"},
            {"sockets", "8"},
            {"cores_per_socket", "6"},
            {"clock_ghz", "2.4"},
            {"core", "in-order"},
            {"caches_from", "mark"},
            {"issue_width", "3"},
            {"jump_cycles", "1"},
            {"serializing_cycles", "31"},
            {"window_instructions", "40"},
            {"hidden_cycles", "10"},
            {"outstanding_misses", "4"},
            {"outstanding_stores", "1"},
            {"code_prefetch_lines", "0"},
            {"store_buffer_entries", "2"},
            {"line_bytes", "64"},
            {"l1d_kib", "64"},
            {"l1d_ways", "2"},
            {"l1i_kib", "64"},
            {"l1i_ways", "2"},
            {"l1_cycles", "3"},
            {"atomic_cycles", "17"},
            {"pause_cycles", "40"},
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
            {"chain_period_transfers", "23"},
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

// As before HT Assist.
inline Settings without_probe_filter(Settings settings)
{
    settings["probe_filter_kib"] = "0";
    return settings;
}

// Links on a shortest way between each two sockets: relaxed until nothing changes.
inline std::vector<std::vector<uint32_t>> shortest(uint32_t sockets, const std::string &links)
{
    std::vector<std::vector<uint32_t>> hops(sockets, std::vector<uint32_t>(sockets, 99));
    std::istringstream pairs(links);
    uint32_t a = 0, b = 0;
    for (char dash = 0; pairs >> a >> dash >> b;) {
        hops[a][b] = hops[b][a] = 1;
    }
    for (uint32_t via = 0; via < sockets; via++) {
        hops[via][via] = 0;
        for (auto &row : hops) {
            for (uint32_t to = 0; to < sockets; to++) {
                row[to] = std::min(row[to], row[via] + hops[via][to]);
            }
        }
    }
    return hops;
}

// With what follows from the keys and is not there yet.
inline Settings resolved(Settings settings)
{
    const auto number = [&](const std::string &key) { return std::stoul(settings.at(key)); };
    const auto set = [&](const std::string &key, const auto &value) {
        std::ostringstream text;
        text << value;
        settings.emplace(key, text.str());
    };
    for (const std::string level : {"l1d", "l1i", "l2", "l3"}) {
        set(level + "_sets", number(level + "_kib") * 1024 / 64 / number(level + "_ways"));
    }
    const unsigned long filter = number("probe_filter_kib") * 1024;
    set("l3_line_ways", number("l3_ways") - filter / (number("l3_sets") * 64));
    set("probe_filter_sets", filter / number("probe_filter_entry_bytes") / number("probe_filter_ways"));
    std::string hops, cycles;
    for (const auto &row : shortest(static_cast<uint32_t>(number("sockets")), settings.at("links"))) {
        for (uint32_t links : row) {
            hops += (hops.empty() ? "" : " ") + std::to_string(links);
            cycles += (cycles.empty() ? "" : " ") + std::to_string(number("dram_local_cycles") + links * number("hop_cycles"));
        }
    }
    set("hops", hops);
    set("memory_cycles", cycles);
    return settings;
}

inline std::string text_of(const Settings &settings)
{
    std::string text;
    for (const auto &[key, value] : settings) {
        text += key + " " + value + "\n";
    }
    return text;
}

// The machine file.
inline std::string flat(const Settings &settings)
{
    return text_of(resolved(settings));
}

} // namespace mosbench::test

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/records_file.h"

#include <algorithm>
#include <numeric>

namespace mosbench {

namespace {

using Physical = std::function<uint64_t(uint32_t)>;

constexpr std::array<const char *, kSourcesBeyondL2> kSourceNames = {"l3_hits", "transfers_same_socket", "transfers_other_socket",
                                                                     "dram_local", "dram_remote"};

struct Site {
    uint32_t line, index; // of Records::site()
};

// The lines in order of their addresses and the sites in order of (address, program counter).
struct Order {
    std::vector<uint32_t> lines;
    std::vector<Site> sites;
};

Order make_order(const Records &records, const Physical &physical)
{
    Order order{.lines = records.lines(), .sites = {}};
    const auto before = [&](uint32_t a, uint32_t b) { return physical(a) < physical(b); };
    if (!std::is_sorted(order.lines.begin(), order.lines.end(), before)) { // memory's pieces need not lie in their lines' order
        std::sort(order.lines.begin(), order.lines.end(), before);
    }
    std::vector<std::pair<uint64_t, uint32_t>> sites; // of a line: program counter, index
    for (uint32_t line : order.lines) {
        sites.clear();
        records.each_site(line, [&](const SiteRow &site, uint32_t index) { sites.emplace_back(site.pc, index); });
        std::sort(sites.begin(), sites.end());
        for (const auto &[pc, index] : sites) {
            order.sites.push_back({line, index});
        }
    }
    return order;
}

Table lines_table(const Records &records, const Order &order, const Physical &physical)
{
    auto row = [&](size_t i) { return records.line(order.lines[i]); };
    auto sum = [&](size_t i, auto value) {
        uint64_t total = 0;
        records.each_site(order.lines[i], [&](const SiteRow &site, uint32_t) { total += value(site); });
        return total;
    };
    auto from = [sum](size_t i, size_t source) {
        return sum(i, [source](const SiteRow &site) { return uint64_t{site.from[source]}; });
    };
    Table table("lines", order.lines.size());
    table.column<uint64_t>("paddr", [=](size_t i) { return physical(row(i).line); });
    table.column<uint64_t>("vaddr", [=](size_t i) { return row(i).vaddr; });
    table.column<uint8_t>("kernel", [=](size_t i) { return row(i).kernel; });
    table.column<uint32_t>("l1_misses", [=](size_t i) {
        return row(i).l2_hits +
               sum(i, [](const SiteRow &site) { return std::accumulate(site.from.begin(), site.from.end(), uint64_t{0}); });
    });
    table.column<uint32_t>("l2_hits", [=](size_t i) { return row(i).l2_hits; });
    for (size_t source = 0; source < kSourcesBeyondL2; source++) {
        table.column<uint32_t>(kSourceNames[source], [=](size_t i) { return from(i, source); });
    }
    table.column<uint32_t>("upgrades", [=](size_t i) { return sum(i, [](const SiteRow &site) { return site.upgrades; }); });
    table.column<uint32_t>("invalidations", [=](size_t i) { return row(i).invalidations; });
    table.column<uint32_t>("writebacks", [=](size_t i) { return row(i).writebacks; });
    table.column<uint64_t>("cycles",
                           [=](size_t i) { return row(i).cycles + sum(i, [](const SiteRow &site) { return site.cycles; }); });
    table.column<uint64_t>("cores", [=](size_t i) { return row(i).cores; });
    table.column<uint64_t>("writers", [=](size_t i) { return row(i).writers; });
    if (records.counts_hits()) {
        auto hits = [&](size_t i) -> const HitRow & { return records.hits(order.lines[i]); };
        table.column<uint32_t>("reads", [=](size_t i) { return hits(i).reads; });
        table.column<uint32_t>("writes", [=](size_t i) { return hits(i).writes; });
        table.column<uint32_t>("atomics", [=](size_t i) { return hits(i).atomics; });
    }
    return table;
}

Table sites_table(const Records &records, const Order &order, const Physical &physical)
{
    auto row = [&](size_t i) { return records.site(order.sites[i].line, order.sites[i].index); };
    Table table("sites", order.sites.size());
    table.column<uint64_t>("paddr", [=](size_t i) { return physical(row(i).line); });
    table.column<uint64_t>("pc", [=](size_t i) { return row(i).pc; });
    table.column<uint8_t>("kernel", [=](size_t i) { return row(i).kernel; });
    table.column<uint8_t>("offset", [=](size_t i) { return row(i).offset; });
    table.column<uint32_t>("accesses", [=](size_t i) { return row(i).accesses; });
    for (size_t source = 0; source < kSourcesBeyondL2; source++) {
        table.column<uint32_t>(kSourceNames[source], [=](size_t i) { return row(i).from[source]; });
    }
    table.column<uint32_t>("upgrades", [=](size_t i) { return row(i).upgrades; });
    table.column<uint64_t>("cycles", [=](size_t i) { return row(i).cycles; });
    table.column<uint32_t>("writes", [=](size_t i) { return row(i).writes; });
    return table;
}

struct Cell {
    uint32_t home, requester;
    size_t kind;
};

Table matrix_table(const Records &records, std::vector<Cell> &cells)
{
    for (uint32_t home = 0; home < records.socket_count(); home++) {
        for (uint32_t requester = 0; requester < records.socket_count(); requester++) {
            for (size_t kind = 0; kind < kMessageKinds; kind++) {
                if (records.traffic(home, requester, kind).messages != 0) {
                    cells.push_back({home, requester, kind});
                }
            }
        }
    }
    auto traffic = [&](size_t i) { return records.traffic(cells[i].home, cells[i].requester, cells[i].kind); };
    Table table("matrix", cells.size());
    table.column<uint16_t>("home", [&](size_t i) { return cells[i].home; });
    table.column<uint16_t>("requester", [&](size_t i) { return cells[i].requester; });
    table.column<uint8_t>("kind", [&](size_t i) { return cells[i].kind; });
    table.column<uint64_t>("messages", [=](size_t i) { return traffic(i).messages; });
    table.column<uint64_t>("bytes", [=](size_t i) { return traffic(i).bytes; });
    return table;
}

Table cores_table(const Records &records)
{
    auto row = [&](size_t i) -> const CoreRow & { return records.core(static_cast<uint32_t>(i)); };
    Table table("cores", records.core_count());
    table.column<uint16_t>("core", [](size_t i) { return i; });
    table.column<uint64_t>("cycles", [=](size_t i) { return row(i).cycles; });
    table.column<uint64_t>("instructions", [=](size_t i) { return row(i).instructions; });
    table.column<uint64_t>("idle_cycles", [=](size_t i) { return row(i).idle_cycles; });
    table.column<uint64_t>("l1_misses", [=](size_t i) { return row(i).l1_misses; });
    table.column<uint64_t>("l2_hits", [=](size_t i) { return row(i).l2_hits; });
    for (size_t source = 0; source < kSourcesBeyondL2; source++) {
        table.column<uint64_t>(kSourceNames[source], [=](size_t i) { return row(i).from[source]; });
    }
    table.column<uint64_t>("upgrades", [=](size_t i) { return row(i).upgrades; });
    table.column<uint64_t>("invalidations", [=](size_t i) { return row(i).invalidations; });
    table.column<uint64_t>("writebacks", [=](size_t i) { return row(i).writebacks; });
    table.column<uint64_t>("wait_cycles", [=](size_t i) { return row(i).wait_cycles; });
    return table;
}

Table samples_table(const std::vector<std::pair<Records::SampleKey, uint32_t>> &samples)
{
    Table table("samples", samples.size());
    table.column<uint16_t>("core", [&](size_t i) { return std::get<0>(samples[i].first); });
    table.column<uint64_t>("pc", [&](size_t i) { return std::get<1>(samples[i].first); });
    table.column<uint8_t>("kernel", [&](size_t i) { return std::get<2>(samples[i].first); });
    table.column<uint32_t>("count", [&](size_t i) { return samples[i].second; });
    return table;
}

} // namespace

std::string write_records(const std::string &path, const FileHeader &header, const Records &records, const Physical &physical)
{
    const Order order = make_order(records, physical);
    std::vector<Cell> cells;
    const std::map<Records::SampleKey, uint32_t> counted = records.samples();
    const std::vector<std::pair<Records::SampleKey, uint32_t>> samples(counted.begin(), counted.end());
    return write_tables(path, header,
                        {lines_table(records, order, physical), sites_table(records, order, physical),
                         matrix_table(records, cells), cores_table(records), samples_table(samples)});
}

} // namespace mosbench

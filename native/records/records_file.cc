// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/records_file.h"

#include <algorithm>
#include <numeric>

namespace mosbench {

namespace {

using Physical = std::function<uint64_t(uint32_t)>;

constexpr std::array<const char *, kSourcesBeyondL2> kSourceNames = {"l3_hits", "transfers_same_socket", "transfers_other_socket",
                                                                     "dram_local", "dram_remote"};

template <typename Before> std::vector<uint32_t> sorted(uint32_t rows, Before before)
{
    std::vector<uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), before);
    return order;
}

// The physical address of each row's line, worked out once: sorting asks for it often.
template <typename Row> std::vector<uint64_t> addresses(const Rows<Row> &rows, const Physical &physical)
{
    std::vector<uint64_t> addresses(rows.size());
    for (uint32_t i = 0; i < rows.size(); i++) {
        addresses[i] = physical(rows[i].line);
    }
    return addresses;
}

// The sites in order of (address, pc), and where those of the i-th line begin.
struct Order {
    std::vector<uint32_t> lines, sites, first_site;
};

Order make_order(const Records &records, const Physical &physical)
{
    const auto &lines = records.lines();
    const auto &sites = records.sites();
    Order order;
    {
        const std::vector<uint64_t> at = addresses(lines, physical);
        order.lines = sorted(lines.size(), [&](uint32_t a, uint32_t b) { return at[a] < at[b]; });
    }
    const std::vector<uint64_t> at = addresses(sites, physical);
    order.sites =
        sorted(sites.size(), [&](uint32_t a, uint32_t b) { return at[a] != at[b] ? at[a] < at[b] : sites[a].pc < sites[b].pc; });
    uint32_t site = 0;
    for (uint32_t line : order.lines) { // every site's line has a row
        order.first_site.push_back(site);
        while (site < sites.size() && sites[order.sites[site]].line == lines[line].line) {
            site++;
        }
    }
    order.first_site.push_back(site);
    return order;
}

Table lines_table(const Records &records, const Order &order, const Physical &physical)
{
    const auto &lines = records.lines();
    const auto &sites = records.sites();
    auto row = [&](size_t i) -> const LineRow & { return lines[order.lines[i]]; };
    auto sum = [&](size_t i, auto value) {
        uint64_t total = 0;
        for (uint32_t site = order.first_site[i]; site < order.first_site[i + 1]; site++) {
            total += value(sites[order.sites[site]]);
        }
        return total;
    };
    auto from = [sum](size_t i, size_t source) {
        return sum(i, [source](const SiteRow &site) { return uint64_t{site.from[source]}; });
    };
    Table table("lines", lines.size());
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
        auto hits = [&](size_t i) -> const HitRow & { return records.hits()[order.lines[i]]; };
        table.column<uint32_t>("reads", [=](size_t i) { return hits(i).reads; });
        table.column<uint32_t>("writes", [=](size_t i) { return hits(i).writes; });
        table.column<uint32_t>("atomics", [=](size_t i) { return hits(i).atomics; });
    }
    return table;
}

Table sites_table(const Records &records, const Order &order, const Physical &physical)
{
    const auto &sites = records.sites();
    auto row = [&](size_t i) -> const SiteRow & { return sites[order.sites[i]]; };
    Table table("sites", sites.size());
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
    const std::vector<std::pair<Records::SampleKey, uint32_t>> samples(records.samples().begin(), records.samples().end());
    return write_tables(path, header,
                        {lines_table(records, order, physical), sites_table(records, order, physical),
                         matrix_table(records, cells), cores_table(records), samples_table(samples)});
}

} // namespace mosbench

// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/records_file.h"

#include <algorithm>
#include <numeric>

#include "native/records/schema.h"

namespace mosbench {

namespace {

using Physical = std::function<uint64_t(uint32_t)>;

namespace lines = schema::lines;
namespace sites = schema::sites;
namespace matrix = schema::matrix;
namespace cores = schema::cores;
namespace samples = schema::samples;
namespace callers = schema::callers;
namespace site_callers = schema::site_callers;
namespace sample_callers = schema::sample_callers;

static_assert(std::size(matrix::kind_values) == kMessageKinds);

// In the order of Source.
constexpr Column<uint32_t> kLineSources[kSourcesBeyondL2] = {
    lines::l3_hits, lines::transfers_same_socket, lines::transfers_other_socket, lines::dram_local, lines::dram_remote};
constexpr Column<uint32_t> kSiteSources[kSourcesBeyondL2] = {
    sites::l3_hits, sites::transfers_same_socket, sites::transfers_other_socket, sites::dram_local, sites::dram_remote};
constexpr Column<uint64_t> kCoreSources[kSourcesBeyondL2] = {
    cores::l3_hits, cores::transfers_same_socket, cores::transfers_other_socket, cores::dram_local, cores::dram_remote};

// In the order of Source.
constexpr Column<uint64_t> kCoreWaits[kSources] = {
    cores::l3_cycles,          cores::same_socket_cycles, cores::other_socket_cycles, cores::dram_local_cycles,
    cores::dram_remote_cycles, cores::l2_cycles,          cores::upgrade_cycles};

constexpr size_t kLinesWithCallers = 100;

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
        records.each_site(line, [&](const SiteRow &site, uint32_t index) { sites.emplace_back(site.counter(), index); });
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
    Table table(lines::table, order.lines.size());
    table.column(lines::paddr, [=](size_t i) { return physical(row(i).line); });
    table.column(lines::vaddr, [=](size_t i) { return row(i).vaddr; });
    table.column(lines::kernel, [=](size_t i) { return row(i).kernel; });
    table.column(lines::l1_misses, [=](size_t i) {
        return row(i).l2_hits +
               sum(i, [](const SiteRow &site) { return std::accumulate(site.from.begin(), site.from.end(), uint64_t{0}); });
    });
    table.column(lines::l2_hits, [=](size_t i) { return row(i).l2_hits; });
    for (size_t source = 0; source < kSourcesBeyondL2; source++) {
        table.column(kLineSources[source], [=](size_t i) { return from(i, source); });
    }
    table.column(lines::upgrades, [=](size_t i) { return sum(i, [](const SiteRow &site) { return site.upgrades; }); });
    table.column(lines::invalidations, [=](size_t i) { return row(i).invalidations; });
    table.column(lines::writebacks, [=](size_t i) { return row(i).writebacks; });
    table.column(lines::cycles,
                 [=](size_t i) { return row(i).cycles + sum(i, [](const SiteRow &site) { return site.cycles; }); });
    table.column(lines::cores, [=](size_t i) { return row(i).cores; });
    table.column(lines::writers, [=](size_t i) { return row(i).writers; });
    auto card = [&](size_t i) -> const CardRow & { return records.of_card(order.lines[i]); };
    table.column(lines::card_reads, [=](size_t i) { return card(i).reads; });
    table.column(lines::card_writes, [=](size_t i) { return card(i).writes; });
    if (records.counts_hits()) {
        auto hits = [&](size_t i) -> const HitRow & { return records.hits(order.lines[i]); };
        table.column(lines::reads, [=](size_t i) { return hits(i).reads; });
        table.column(lines::writes, [=](size_t i) { return hits(i).writes; });
        table.column(lines::atomics, [=](size_t i) { return hits(i).atomics; });
    } else {
        table.unknown(lines::reads);
        table.unknown(lines::writes);
        table.unknown(lines::atomics);
    }
    return table;
}

Table sites_table(const Records &records, const Order &order, const Physical &physical)
{
    auto row = [&](size_t i) { return records.site(order.sites[i].line, order.sites[i].index); };
    Table table(sites::table, order.sites.size());
    table.column(sites::paddr, [=](size_t i) { return physical(row(i).line); });
    table.column(sites::pc, [=](size_t i) { return row(i).counter(); });
    table.column(sites::kernel, [=](size_t i) { return row(i).kernel; });
    table.column(sites::offset, [=](size_t i) { return row(i).offset; });
    table.column(sites::size, [=](size_t i) { return row(i).size(); });
    table.column(sites::cores, [=](size_t i) { return row(i).cores; });
    table.column(sites::accesses, [=](size_t i) { return row(i).accesses; });
    for (size_t source = 0; source < kSourcesBeyondL2; source++) {
        table.column(kSiteSources[source], [=](size_t i) { return row(i).from[source]; });
    }
    table.column(sites::upgrades, [=](size_t i) { return row(i).upgrades; });
    table.column(sites::cycles, [=](size_t i) { return row(i).cycles; });
    table.column(sites::writes, [=](size_t i) { return row(i).writes; });
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
    Table table(matrix::table, cells.size());
    table.column(matrix::home, [&](size_t i) { return cells[i].home; });
    table.column(matrix::requester, [&](size_t i) { return cells[i].requester; });
    table.column(matrix::kind, [&](size_t i) { return cells[i].kind; });
    table.column(matrix::messages, [=](size_t i) { return traffic(i).messages; });
    table.column(matrix::bytes, [=](size_t i) { return traffic(i).bytes; });
    return table;
}

Table cores_table(const Records &records)
{
    auto row = [&](size_t i) -> const CoreRow & { return records.core(static_cast<uint32_t>(i)); };
    Table table(cores::table, records.core_count());
    table.column(cores::core, [](size_t i) { return i; });
    table.column(cores::cycles, [=](size_t i) { return row(i).totals.cycles; });
    table.column(cores::instructions, [=](size_t i) { return row(i).totals.instructions; });
    table.column(cores::instruction_cycles, [=](size_t i) { return row(i).totals.instruction_cycles; });
    table.column(cores::pause_cycles, [=](size_t i) { return row(i).totals.pause_cycles; });
    table.column(cores::l1_cycles, [=](size_t i) { return row(i).totals.l1_cycles; });
    for (size_t source = 0; source < kSources; source++) {
        table.column(kCoreWaits[source], [=](size_t i) { return row(i).waits[source]; });
    }
    table.column(cores::card_cycles, [=](size_t i) { return row(i).totals.card_cycles; });
    table.column(cores::idle_cycles, [=](size_t i) { return row(i).totals.idle_cycles; });
    table.column(cores::l1_misses, [=](size_t i) { return row(i).l1_misses; });
    table.column(cores::l2_hits, [=](size_t i) { return row(i).l2_hits; });
    for (size_t source = 0; source < kSourcesBeyondL2; source++) {
        table.column(kCoreSources[source], [=](size_t i) { return row(i).from[source]; });
    }
    table.column(cores::upgrades, [=](size_t i) { return row(i).upgrades; });
    table.column(cores::invalidations, [=](size_t i) { return row(i).invalidations; });
    table.column(cores::writebacks, [=](size_t i) { return row(i).writebacks; });
    return table;
}

Table samples_table(const std::vector<std::pair<Records::SampleKey, uint32_t>> &samples)
{
    Table table(samples::table, samples.size());
    table.column(samples::core, [&](size_t i) { return std::get<0>(samples[i].first); });
    table.column(samples::pc, [&](size_t i) { return std::get<1>(samples[i].first); });
    table.column(samples::kernel, [&](size_t i) { return std::get<2>(samples[i].first); });
    table.column(samples::count, [&](size_t i) { return samples[i].second; });
    return table;
}

// In the order of their keys.
Chains::Tables chain_tables(const Records &records, const Physical &physical)
{
    Chains::Tables tables = records.chains().tables(kLinesWithCallers);
    std::sort(tables.sites.begin(), tables.sites.end(), [&](const auto &a, const auto &b) {
        const auto &[line, pc, caller] = a.first;
        const auto &[other_line, other_pc, other_caller] = b.first;
        return std::tuple(physical(line), pc, caller) < std::tuple(physical(other_line), other_pc, other_caller);
    });
    std::sort(tables.samples.begin(), tables.samples.end());
    return tables;
}

Table callers_table(const Chains::Tables &chains)
{
    Table table(callers::table, chains.callers.size());
    table.column(callers::caller, [](size_t i) { return i + 1; });
    table.column(callers::parent, [&](size_t i) { return chains.callers[i].parent; });
    table.column(callers::address, [&](size_t i) { return chains.callers[i].address; });
    table.column(callers::kernel, [&](size_t i) { return chains.callers[i].address >> 63; });
    return table;
}

Table site_callers_table(const Chains::Tables &chains, const Physical &physical)
{
    Table table(site_callers::table, chains.sites.size());
    table.column(site_callers::paddr, [&](size_t i) { return physical(std::get<0>(chains.sites[i].first)); });
    table.column(site_callers::pc, [&](size_t i) { return std::get<1>(chains.sites[i].first); });
    table.column(site_callers::caller, [&](size_t i) { return std::get<2>(chains.sites[i].first); });
    table.column(site_callers::walks, [&](size_t i) { return chains.sites[i].second.walks; });
    table.column(site_callers::cycles, [&](size_t i) { return chains.sites[i].second.cycles; });
    return table;
}

Table sample_callers_table(const Chains::Tables &chains)
{
    Table table(sample_callers::table, chains.samples.size());
    table.column(sample_callers::pc, [&](size_t i) { return std::get<0>(chains.samples[i].first); });
    table.column(sample_callers::kernel, [&](size_t i) { return std::get<1>(chains.samples[i].first); });
    table.column(sample_callers::caller, [&](size_t i) { return std::get<2>(chains.samples[i].first); });
    table.column(sample_callers::count, [&](size_t i) { return chains.samples[i].second; });
    return table;
}

} // namespace

std::string write_records(const std::string &path, const FileHeader &header, const Records &records, const Physical &physical)
{
    const Order order = make_order(records, physical);
    std::vector<Cell> cells;
    const std::map<Records::SampleKey, uint32_t> counted = records.samples();
    const std::vector<std::pair<Records::SampleKey, uint32_t>> samples(counted.begin(), counted.end());
    const Chains::Tables chains = chain_tables(records, physical);
    return write_tables(path, header,
                        {lines_table(records, order, physical), sites_table(records, order, physical),
                         matrix_table(records, cells), cores_table(records), samples_table(samples), callers_table(chains),
                         site_callers_table(chains, physical), sample_callers_table(chains)});
}

} // namespace mosbench

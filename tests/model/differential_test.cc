// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random accesses to the model and to the reference: same cycles, same states, same counts; and with filters as without.
#include <gtest/gtest.h>

#include <map>

#include "tests/model/reference.h"
#include "tests/model/rig.h"
#include "tests/model/steps.h"

namespace mosbench::test {
namespace {

Settings without_queues(Settings settings)
{
    settings["link_gbytes_per_second"] = "10000";
    settings["dram_gbytes_per_second"] = "10000";
    return settings;
}

char state_in_model(const Entry &entry, bool held, bool owner)
{
    return !held ? 'I' : !owner ? 'S' : "ISEOM"[static_cast<size_t>(entry.state())];
}

void compare_line(const Rig &rig, const Reference &reference, uint32_t line)
{
    const Entry &entry = rig.entry(line);
    for (uint32_t core = 0; core < rig.machine.cores(); core++) {
        const bool owner = entry.owner() == Entry::core_as_owner(core);
        ASSERT_EQ(state_in_model(entry, entry.in_core(core), owner), reference.state(core, line)) << "core " << core;
    }
    for (uint32_t socket = 0; socket < rig.machine.sockets; socket++) {
        const bool owner = entry.owner() == Entry::l3_as_owner(socket);
        ASSERT_EQ(state_in_model(entry, entry.in_l3(socket), owner), reference.state(Reference::kL3 + socket, line));
    }
}

// Fetches pass if and only if the line was the last used of its set. Reads only then, and stores only where it also is modified
// and not in the instruction cache; both always right after the same access of the core. A line that cores exchange never passes.
void compare_filters(const Rig &rig, const Reference &reference, const Step &last)
{
    for (uint32_t core = 0; core < rig.machine.cores(); core++) {
        const model_filter &filter = rig.filters[core];
        for (uint32_t set = 0; set < rig.machine.l1d.sets; set++) {
            const int64_t first = reference.l1d[core].first(set);
            const auto [read, write] = filter.pass[set];
            const uint32_t line = static_cast<uint32_t>(first);
            if (read != MODEL_NO_PLACE) {
                ASSERT_EQ(read, model_place(&filter, line));
                ASSERT_FALSE(rig.entry(line).exchanged());
            }
            if (write != MODEL_NO_PLACE) {
                ASSERT_EQ(write, read);
                ASSERT_EQ(reference.state(core, line), 'M');
                ASSERT_FALSE(reference.l1i[core].has(line));
            }
        }
        for (uint32_t set = 0; set < rig.machine.l1i.sets; set++) {
            const int64_t first = reference.l1i[core].first(set);
            ASSERT_EQ(filter.fetch[set], first < 0 ? MODEL_NO_LINE : static_cast<uint32_t>(first));
        }
        if (filter.held_read != MODEL_NO_LINE) {
            ASSERT_EQ(filter.held_read, reference.l1d[core].first(filter.held_read % rig.machine.l1d.sets));
            ASSERT_FALSE(rig.passes(core, filter.held_read, MODEL_READ));
        }
        if (filter.held_write != MODEL_NO_LINE) {
            ASSERT_EQ(filter.held_write, filter.held_read);
            ASSERT_EQ(reference.state(core, filter.held_write), 'M');
            ASSERT_FALSE(reference.l1i[core].has(filter.held_write));
        }
    }
    if (!last.device && (last.kind == MODEL_WRITE || last.kind == MODEL_ATOMIC)) {
        ASSERT_EQ(rig.passes(last.core, last.line, MODEL_WRITE), !rig.entry(last.line).exchanged());
        ASSERT_EQ(rig.holds(last.core, last.line, MODEL_WRITE), rig.entry(last.line).exchanged());
    }
    if (!last.device && last.kind == MODEL_READ) {
        ASSERT_EQ(rig.passes(last.core, last.line, MODEL_READ), !rig.entry(last.line).exchanged());
        ASSERT_EQ(rig.holds(last.core, last.line, MODEL_READ), rig.entry(last.line).exchanged());
    }
}

Counts counts_of(const CoreRow &row)
{
    return {row.l1_misses, row.l2_hits,  row.from[0],       row.from[1],    row.from[2],      row.from[3],
            row.from[4],   row.upgrades, row.invalidations, row.writebacks, row.wait_cycles()};
}

// The sites of a line by program counter.
std::map<uint64_t, std::array<uint64_t, 7>> sites_of(const Records &records, uint32_t line)
{
    std::map<uint64_t, std::array<uint64_t, 7>> sites;
    records.each_site(line, [&](const SiteRow &row, uint32_t) {
        sites[row.counter()] = {row.accesses, row.writes, row.upgrades, row.cycles, row.offset, row.size(), row.cores};
    });
    return sites;
}

void compare_with_reference(const Settings &settings, uint32_t seed, uint32_t steps)
{
    Rig rig(without_queues(settings));
    Reference reference(rig.machine);
    Steps source(rig.machine, seed);
    std::vector<uint64_t> clock(rig.machine.cores(), 0);
    for (uint32_t i = 0; i < steps; i++) {
        const Step step = source.next(slowest(clock));
        SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << i << " core " << step.core << " line " << step.line
                                        << " kind " << step.kind << (step.device ? " device" : ""));
        if (step.device) {
            rig.model.dma(clock[step.core], step.line, step.device_write);
            reference.dma(step.line, step.device_write);
        } else {
            const uint64_t cycles = rig.access_at(clock[step.core], step.core, step.line, step.kind);
            ASSERT_EQ(cycles, reference.access(clock[step.core], step.core, step.line, step.kind));
            clock[step.core] += cycles + source.below(20);
        }
        compare_line(rig, reference, step.line);
        if (i % 16 == 0) {
            compare_filters(rig, reference, step);
        }
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
    for (uint32_t core = 0; core < rig.machine.cores(); core++) {
        EXPECT_EQ(counts_of(rig.core(core)), reference.counts[core]) << "core " << core;
    }
    const Counts &first = reference.counts[0];
    EXPECT_GT(std::min({first.l2_hits, first.l3_hits, first.same_socket, first.other_socket, first.dram_local, first.dram_remote,
                        first.upgrades, first.invalidations, first.writebacks}),
              0u)
        << "the steps must reach every case";
}

TEST(Differential, TinyMachineAgainstTheReference)
{
    for (uint32_t seed = 1; seed <= 6; seed++) {
        compare_with_reference(tiny(), seed, 12'000);
    }
}

TEST(Differential, OtherShapesAgainstTheReference)
{
    Settings direct = tiny(); // direct-mapped L1s, one-way L2
    direct["l1d_ways"] = direct["l1i_ways"] = direct["l2_ways"] = "1";
    direct["l1d_kib"] = direct["l1i_kib"] = "1";
    compare_with_reference(direct, 7, 12'000);

    Settings ring = tiny();
    ring["sockets"] = "4";
    ring["links"] = "0-1 1-2 2-3 0-3";
    ring["interleave"] = "line";
    ring["l1d_ways"] = "4";
    compare_with_reference(ring, 8, 12'000);
    compare_with_reference(without_probe_filter(ring), 9, 12'000);
}

TEST(Differential, WithoutProbeFiltersAgainstTheReference)
{
    for (uint32_t seed = 31; seed <= 33; seed++) {
        compare_with_reference(without_probe_filter(tiny()), seed, 12'000);
    }
}

// The same steps with filters honoured and with every access asked about: nothing may differ but the number of calls.
TEST(Differential, FiltersChangeNothing)
{
    for (uint32_t seed = 11; seed <= 16; seed++) {
        Rig filtered(tiny()), asked(tiny(), false);
        filtered.may_hold = true;
        Steps source(filtered.machine, seed);
        std::vector<uint64_t> clock(filtered.machine.cores(), 0);
        for (uint32_t i = 0; i < 30'000; i++) {
            const Step step = source.next(slowest(clock));
            const uint64_t cycles = filtered.access_at(clock[step.core], step.core, step.line, step.kind);
            ASSERT_EQ(cycles, asked.access_at(clock[step.core], step.core, step.line, step.kind))
                << "seed " << seed << " step " << i;
            clock[step.core] += cycles;
        }
        EXPECT_LT(filtered.calls, asked.calls);
        const Records &a = filtered.model.records(), &b = asked.model.records();
        for (uint32_t core = 0; core < filtered.machine.cores(); core++) {
            EXPECT_EQ(counts_of(a.core(core)), counts_of(b.core(core)));
        }
        ASSERT_EQ(a.lines(), b.lines());
        for (uint32_t line : a.lines()) {
            const LineRow x = a.line(line), y = b.line(line);
            EXPECT_EQ(std::tie(x.line, x.vaddr, x.cores, x.writers, x.cycles, x.l2_hits, x.invalidations, x.writebacks),
                      std::tie(y.line, y.vaddr, y.cores, y.writers, y.cycles, y.l2_hits, y.invalidations, y.writebacks));
            EXPECT_EQ(sites_of(a, line), sites_of(b, line));
        }
        for (uint32_t home = 0; home < 2; home++) {
            for (uint32_t requester = 0; requester < 2; requester++) {
                for (size_t kind = 0; kind < kMessageKinds; kind++) {
                    EXPECT_EQ(a.traffic(home, requester, kind).bytes, b.traffic(home, requester, kind).bytes);
                }
            }
        }
    }
}

} // namespace
} // namespace mosbench::test

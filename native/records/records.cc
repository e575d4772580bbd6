// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/records.h"

#include <stdexcept>

namespace mosbench {

namespace {

constexpr size_t kFirstSlots = 1u << 12;

} // namespace

Records::Records(size_t lines, uint32_t sockets, uint32_t cores, bool count_hits)
    : sockets_(sockets), count_hits_(count_hits), row_of_line_(lines), lines_(lines), hits_(count_hits ? lines : 0),
      sites_(kMostSites), site_slots_(kFirstSlots), cores_(cores)
{
}

void Records::clear()
{
    row_of_line_.clear();
    lines_.clear();
    hits_.clear();
    sites_.clear();
    site_slots_ = MappedArray<uint32_t>(kFirstSlots);
    cores_.assign(cores_.size(), CoreRow{});
    matrix_ = {};
    samples_.clear();
}

LineRow &Records::line_row(uint32_t line)
{
    uint32_t &index = row_of_line_[line];
    if (index == 0) [[unlikely]] {
        index = lines_.add() + 1;
        lines_[index - 1].line = line;
        if (count_hits_) {
            hits_.add();
        }
    }
    return lines_[index - 1];
}

LineRow &Records::touch(const Toucher &who)
{
    LineRow &row = line_row(who.line);
    const uint64_t bit = uint64_t{1} << who.core;
    if (!row.seen) [[unlikely]] {
        row.seen = true;
        row.kernel = who.kernel;
    }
    if (row.vaddr == 0 && who.address_known) [[unlikely]] {
        row.vaddr = who.address;
    }
    row.cores |= bit;
    if (who.kind != AccessKind::read) {
        row.writers |= bit;
    }
    return row;
}

void Records::grow_sites()
{
    site_slots_ = MappedArray<uint32_t>(site_slots_.size() * 2, true);
    for (uint32_t index = 0; index < sites_.size(); index++) {
        const uint64_t key = hash(sites_[index].line, sites_[index].pc);
        size_t slot = first_slot(sites_[index].line, key);
        while (site_slots_[slot] != 0) {
            slot = next_slot(slot);
        }
        site_slots_[slot] = slot_value(index, key);
    }
}

SiteRow &Records::site_row(LineRow &row, const Toucher &who)
{
    if (row.last_site != 0 && sites_[row.last_site - 1].pc == who.pc) [[likely]] {
        return sites_[row.last_site - 1];
    }
    const uint64_t key = hash(who.line, who.pc);
    size_t slot = first_slot(who.line, key);
    for (; site_slots_[slot] != 0; slot = next_slot(slot)) {
        const uint32_t index = index_of(site_slots_[slot]);
        if (site_slots_[slot] == slot_value(index, key) && sites_[index].line == who.line && sites_[index].pc == who.pc) {
            row.last_site = index + 1;
            return sites_[index];
        }
    }
    if (sites_.full()) {
        throw std::length_error("more than 134 million pairs of line and program counter; make the region of interest smaller");
    }
    const uint32_t index = sites_.add();
    SiteRow &site = sites_[index];
    site.pc = who.pc;
    site.line = who.line;
    site.kernel = who.kernel;
    site.offset = who.address_known ? static_cast<uint8_t>(who.address % 64) : 0;
    site_slots_[slot] = slot_value(index, key);
    row.last_site = index + 1;
    if (sites_.size() > site_slots_.size() / 2) {
        grow_sites();
    }
    return site;
}

void Records::event(const Toucher &who, Source source, bool upgrade, uint64_t cycles)
{
    LineRow &row = touch(who);
    CoreRow &core = cores_[who.core];
    core.wait_cycles += cycles;
    core.l1_misses += source != Source::held;
    if (source == Source::l2) {
        core.l2_hits++;
        row.l2_hits++;
        if (!upgrade) {
            row.cycles += cycles;
            return;
        }
    }
    SiteRow &site = site_row(row, who);
    site.accesses++;
    site.writes += who.kind != AccessKind::read;
    site.cycles += cycles;
    if (static_cast<size_t>(source) < kSourcesBeyondL2) {
        site.from[static_cast<size_t>(source)]++;
        core.from[static_cast<size_t>(source)]++;
    }
    if (upgrade) {
        site.upgrades++;
        core.upgrades++;
    }
}

void Records::first_write(const Toucher &who)
{
    touch(who);
}

void Records::counted_access(const Toucher &who, bool beyond_l2)
{
    LineRow &row = touch(who);
    HitRow &hits = hits_[row_of_line_[who.line] - 1];
    switch (who.kind) {
    case AccessKind::read:
        hits.reads++;
        break;
    case AccessKind::write:
        hits.writes++;
        break;
    case AccessKind::atomic:
        hits.atomics++;
        break;
    }
    if (!beyond_l2) {
        SiteRow &site = site_row(row, who);
        site.accesses++;
        site.writes += who.kind != AccessKind::read;
    }
}

void Records::copy_lost(uint32_t line, uint32_t core)
{
    line_row(line).invalidations++;
    cores_[core].invalidations++;
}

void Records::written_back(uint32_t line, uint32_t core)
{
    line_row(line).writebacks++;
    cores_[core].writebacks++;
}

void Records::core_totals(uint16_t core, uint64_t cycles, uint64_t instructions, uint64_t idle_cycles)
{
    cores_[core].cycles = cycles;
    cores_[core].instructions = instructions;
    cores_[core].idle_cycles = idle_cycles;
}

} // namespace mosbench

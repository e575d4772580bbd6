// SPDX-License-Identifier: BSD-3-Clause
#include "native/records/records.h"

#include <algorithm>
#include <stdexcept>

namespace mosbench {

namespace {

constexpr size_t kFirstSlots = 1u << 12;
constexpr uint64_t kLineBytes = 64, kPageBytes = 4096;
// What the fields of a short row hold at most.
constexpr uint64_t kMostL2Hits = (1u << 14) - 1, kMostL3Hits = (1u << 9) - 1, kMostDram = (1u << 14) - 1;
constexpr uint64_t kMostWritebacks = (1u << 10) - 1, kMostInvalidations = (1u << 10) - 1;
constexpr size_t kMostPlaces = (1u << 20) - 1;

uint32_t transfers(const SiteRow &site)
{
    return site.from[static_cast<size_t>(Source::core_same_socket)] + site.from[static_cast<size_t>(Source::core_other_socket)] +
           site.upgrades;
}

} // namespace

Records::Records(size_t lines, uint32_t sockets, uint32_t cores, bool count_hits)
    : sockets_(sockets), count_hits_(count_hits), rows_(lines), card_(lines), group_of_(lines / kGroupLines + 1), lines_(lines),
      hits_(count_hits ? lines : 0), sites_(kMostSites), site_slots_(kFirstSlots), cores_(cores)
{
}

void Records::clear()
{
    rows_.clear();
    card_.clear();
    group_of_.clear();
    groups_.clear();
    places_.clear();
    place_of_pc_.clear();
    last_place_.fill(0);
    l2_wait_ = kNever;
    lines_.clear();
    hits_.clear();
    sites_.clear();
    site_slots_ = MappedArray<uint32_t>(kFirstSlots);
    cores_.assign(cores_.size(), CoreRow{});
    matrix_ = {};
    samples_.clear();
    chains_.clear();
    last_samples_ = {};
}

std::vector<uint32_t> Records::lines() const
{
    std::vector<uint32_t> groups = groups_, lines;
    std::sort(groups.begin(), groups.end());
    for (uint32_t group : groups) {
        const size_t end = std::min((size_t{group} + 1) * kGroupLines, rows_.size());
        for (size_t line = size_t{group} * kGroupLines; line < end; line++) {
            if (rows_[line].used) {
                lines.push_back(static_cast<uint32_t>(line));
            }
        }
    }
    return lines;
}

LineRow Records::line(uint32_t line) const
{
    const ShortRow &row = rows_[line];
    if (row.whole) {
        return lines_[static_cast<uint32_t>(row.cycles)];
    }
    LineRow whole{};
    whole.line = line;
    if (row.touched) {
        const uint64_t core = uint64_t{1} << row.core;
        whole.vaddr = group_of_[line / kGroupLines].page * kPageBytes + line % kGroupLines * kLineBytes + row.offset;
        whole.cores = core;
        whole.writers = row.wrote ? core : 0;
        whole.kernel = row.kernel;
        whole.seen = true;
    }
    whole.l2_hits = row.l2_hits;
    whole.cycles = row.l2_hits * l2_wait_;
    whole.invalidations = row.invalidations;
    whole.writebacks = row.writebacks;
    return whole;
}

SiteRow Records::short_site(uint32_t line) const
{
    const ShortRow &row = rows_[line];
    const Place &place = places_[row.place - 1];
    SiteRow site{};
    site.pc = static_cast<int64_t>(place.pc);
    site.cycles = row.cycles;
    site.cores = uint64_t{1} << row.core;
    site.last = place.size - 1u;
    site.line = line;
    site.accesses = static_cast<uint32_t>(row.l3_hits + row.dram);
    site.writes = row.writes ? site.accesses : 0;
    site.from[static_cast<size_t>(Source::l3)] = row.l3_hits;
    site.from[static_cast<size_t>(row.remote ? Source::dram_remote : Source::dram_local)] = row.dram;
    site.kernel = place.kernel;
    site.offset = row.offset;
    return site;
}

ShortRow &Records::row_of(uint32_t line)
{
    ShortRow &row = rows_[line];
    if (!row.used) [[unlikely]] {
        row.used = 1;
        Group &group = group_of_[line / kGroupLines];
        if (!group.listed) {
            group.listed = 1;
            groups_.push_back(line / kGroupLines);
        }
        if (count_hits_) {
            whole(row, line);
        }
    }
    return row;
}

// The row as a LineRow, from now on if it was not before.
LineRow &Records::whole(ShortRow &row, uint32_t line)
{
    if (!row.whole) {
        const uint32_t index = lines_.add();
        lines_[index] = this->line(line);
        if (count_hits_) {
            hits_.add();
        }
        if (row.place != 0) {
            const SiteRow site = short_site(line);
            const uint64_t key = hash(line, site.counter());
            add_site(lines_[index], site, free_slot(key, line), key);
        }
        row.whole = 1;
        row.cycles = index;
    }
    return lines_[static_cast<uint32_t>(row.cycles)];
}

// Whether the short row can say that this core was here too.
bool Records::touch_short(ShortRow &row, const Toucher &who)
{
    if (!who.address_known) {
        return false;
    }
    if (!row.touched) {
        Group &group = group_of_[who.line / kGroupLines];
        const uint64_t page = who.address / kPageBytes;
        if (who.address / kLineBytes % kGroupLines != who.line % kGroupLines || (group.paged && group.page != page)) {
            return false;
        }
        group.paged = 1;
        group.page = page;
        row.touched = 1;
        row.core = who.core;
        row.offset = who.address % kLineBytes;
        row.kernel = who.kernel;
    }
    if (row.core != who.core) {
        return false;
    }
    if (who.kind != AccessKind::read && !row.wrote) {
        row.wrote = 1;
    }
    return true;
}

// Whether a short row with this place can count the access.
bool Records::is_at(const Place &place, const Toucher &who)
{
    return place.pc == who.pc && place.kernel == who.kernel && place.size == who.size;
}

// Index + 1 of the accesser's program counter, 0: there is none and no room, or the instruction's first access was of another
// size.
uint32_t Records::place_of(const Toucher &who)
{
    const auto is = [&](uint32_t index) { return is_at(places_[index - 1], who); };
    uint32_t &last = last_place_[who.core];
    if (last != 0 && is(last)) {
        return last;
    }
    uint32_t &known = place_of_pc_[who.pc << 1 | who.kernel];
    if (known == 0) {
        if (places_.size() == kMostPlaces) {
            return 0;
        }
        places_.push_back({who.pc, who.kernel, who.size});
        known = static_cast<uint32_t>(places_.size());
    }
    return is(known) ? last = known : 0;
}

// Whether the short row could take the event.
bool Records::event_short(ShortRow &row, const Toucher &who, Source source, uint64_t cycles)
{
    if (!touch_short(row, who)) {
        return false;
    }
    if (source == Source::l2) {
        if (l2_wait_ == kNever) {
            l2_wait_ = cycles;
        }
        if (cycles != l2_wait_ || row.l2_hits == kMostL2Hits) {
            return false;
        }
        row.l2_hits++;
        return true;
    }
    const bool memory = source == Source::dram_local || source == Source::dram_remote;
    const bool remote = source == Source::dram_remote, write = who.kind != AccessKind::read;
    const bool fits = memory ? row.dram == 0 || (row.remote == remote && row.dram < kMostDram)
                             : source == Source::l3 && row.l3_hits < kMostL3Hits;
    if (!fits || row.cycles + cycles > UINT32_MAX) {
        return false;
    }
    if (row.place == 0) {
        const uint32_t place = place_of(who);
        if (place == 0 || row.offset != who.address % kLineBytes) {
            return false;
        }
        row.place = place;
        row.writes = write;
    } else if (!is_at(places_[row.place - 1], who) || row.writes != write) {
        return false;
    }
    if (memory) {
        if (row.dram == 0) {
            row.remote = remote;
        }
        row.dram++;
    } else {
        row.l3_hits++;
    }
    row.cycles += cycles;
    return true;
}

LineRow &Records::touch(const Toucher &who)
{
    LineRow &row = whole(row_of(who.line), who.line);
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

size_t Records::free_slot(uint64_t hash, uint32_t line) const
{
    size_t slot = first_slot(line, hash);
    while (site_slots_[slot] != 0) {
        slot = next_slot(slot);
    }
    return slot;
}

void Records::grow_sites()
{
    site_slots_ = MappedArray<uint32_t>(site_slots_.size() * 2, true);
    for (uint32_t index = 0; index < sites_.size(); index++) {
        const uint64_t key = hash(sites_[index].line, sites_[index].counter());
        site_slots_[free_slot(key, sites_[index].line)] = slot_value(index, key);
    }
}

SiteRow &Records::add_site(LineRow &row, const SiteRow &site, size_t slot, uint64_t hash)
{
    if (sites_.full()) {
        throw std::length_error("more than 134 million pairs of line and program counter; make the region of interest smaller");
    }
    const uint32_t index = sites_.add();
    sites_[index] = site;
    sites_[index].next = row.newest_site;
    row.newest_site = row.last_site = index + 1;
    site_slots_[slot] = slot_value(index, hash);
    if (sites_.size() > site_slots_.size() / 2) {
        grow_sites();
    }
    return sites_[index];
}

SiteRow &Records::site_row(LineRow &row, const Toucher &who)
{
    if (row.last_site != 0 && sites_[row.last_site - 1].counter() == who.pc) [[likely]] {
        return sites_[row.last_site - 1];
    }
    const uint64_t key = hash(who.line, who.pc);
    size_t slot = first_slot(who.line, key);
    for (; site_slots_[slot] != 0; slot = next_slot(slot)) {
        const uint32_t index = index_of(site_slots_[slot]);
        if (site_slots_[slot] == slot_value(index, key) && sites_[index].line == who.line && sites_[index].counter() == who.pc) {
            row.last_site = index + 1;
            return sites_[index];
        }
    }
    SiteRow site{};
    site.pc = static_cast<int64_t>(who.pc);
    site.line = who.line;
    site.kernel = who.kernel;
    site.offset = who.address_known ? who.address % kLineBytes : 0;
    site.last = who.size - 1u;
    return add_site(row, site, slot, key);
}

bool Records::event(const Toucher &who, Source source, bool upgrade, uint64_t cycles, uint64_t away)
{
    CoreRow &core = cores_[who.core];
    core.waits[static_cast<size_t>(awaited(source, upgrade))] += cycles - away;
    core.l1_misses += source != Source::held;
    core.l2_hits += source == Source::l2;
    core.upgrades += upgrade;
    if (static_cast<size_t>(source) < kSourcesBeyondL2) {
        core.from[static_cast<size_t>(source)]++;
    }
    if (ShortRow &row = row_of(who.line); !row.whole && !upgrade && event_short(row, who, source, cycles)) {
        return false;
    }
    LineRow &row = touch(who);
    if (source == Source::l2) {
        row.l2_hits++;
        if (!upgrade) {
            row.cycles += cycles;
            return false;
        }
    }
    SiteRow &site = site_row(row, who);
    site.cores |= uint64_t{1} << who.core;
    site.accesses++;
    site.writes += who.kind != AccessKind::read;
    site.cycles += cycles;
    site.upgrades += upgrade;
    if (static_cast<size_t>(source) < kSourcesBeyondL2) {
        site.from[static_cast<size_t>(source)]++;
    }
    const bool transfer = upgrade || source == Source::core_same_socket || source == Source::core_other_socket;
    return transfer && chain_period_ != 0 && transfers(site) % chain_period_ == first_chain_;
}

void Records::first_write(const Toucher &who)
{
    if (ShortRow &row = row_of(who.line); row.whole || !touch_short(row, who)) {
        touch(who);
    }
}

void Records::held_up(const Toucher &who, Source source, uint64_t cycles)
{
    cores_[who.core].waits[static_cast<size_t>(source)] += cycles;
    SiteRow &site = site_row(touch(who), who);
    site.cores |= uint64_t{1} << who.core;
    site.cycles += cycles;
}

void Records::streamed(const Toucher &who, Source memory, uint64_t cycles)
{
    first_write(who);
    written_back(who.line, who.core);
    if (cycles != 0) {
        cores_[who.core].waits[static_cast<size_t>(memory)] += cycles;
        SiteRow &site = site_row(touch(who), who);
        site.cores |= uint64_t{1} << who.core;
        site.cycles += cycles;
    }
}

void Records::counted_access(const Toucher &who, bool beyond_l2)
{
    LineRow &row = touch(who);
    HitRow &hits = hits_[static_cast<uint32_t>(rows_[who.line].cycles)];
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
        site.cores |= uint64_t{1} << who.core;
        site.accesses++;
        site.writes += who.kind != AccessKind::read;
    }
}

void Records::copy_lost(uint32_t line, uint32_t core)
{
    cores_[core].invalidations++;
    if (ShortRow &row = row_of(line); !row.whole && row.invalidations < kMostInvalidations) {
        row.invalidations++;
    } else {
        whole(row, line).invalidations++;
    }
}

void Records::written_back(uint32_t line, uint32_t core)
{
    cores_[core].writebacks++;
    written_back_by_device(line);
}

void Records::written_back_by_device(uint32_t line)
{
    if (ShortRow &row = row_of(line); !row.whole && row.writebacks < kMostWritebacks) {
        row.writebacks++;
    } else {
        whole(row, line).writebacks++;
    }
}

std::map<Records::SampleKey, uint32_t> Records::samples() const
{
    std::map<SampleKey, uint32_t> all = samples_;
    for (size_t core = 0; core < last_samples_.size(); core++) {
        for (const LastSample &last : last_samples_[core]) {
            if (last.periods != 0) {
                all[{static_cast<uint16_t>(core), last.pc, last.kernel}] += last.periods;
            }
        }
    }
    return all;
}

} // namespace mosbench

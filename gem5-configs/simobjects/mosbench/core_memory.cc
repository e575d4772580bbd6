// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/core_memory.hh"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gem5::ruby {

namespace {

constexpr Addr kLine = 64;
// Page tables of x86-64, of four levels.
constexpr Addr kFrame = 0x000f'ffff'ffff'f000, kPresent = 1 << 0, kLargePage = 1 << 7, kEntries = 512;
constexpr unsigned kTopShift = 39, kPageShift = 12, kLevelShift = 9;

} // namespace

CoreMemory::CoreMemory(ThreadContext &thread, const System &system, std::vector<const CacheMemory *> caches)
    : thread_(thread), stores_(system.getPhysMem().getBackingStore()), caches_(std::move(caches))
{
}

bool CoreMemory::read(Addr address, uint64_t &value) const
{
    auto *bytes = reinterpret_cast<uint8_t *>(&value);
    for (size_t got = 0; got < sizeof value;) {
        const size_t piece = std::min<size_t>(sizeof value - got, kLine - (address + got) % kLine);
        Addr place = 0;
        const uint8_t *data = physical(address + got, place) ? line(place) : nullptr;
        if (data == nullptr) {
            return false;
        }
        std::memcpy(bytes + got, data, piece);
        got += piece;
    }
    return true;
}

bool CoreMemory::physical(Addr address, Addr &found) const
{
    Addr table = thread_.readMiscRegNoEffect(X86ISA::misc_reg::Cr3) & kFrame;
    for (unsigned shift = kTopShift;; shift -= kLevelShift) {
        const uint8_t *data = line(table + (address >> shift) % kEntries * sizeof(uint64_t));
        uint64_t entry = 0;
        if (data != nullptr) {
            std::memcpy(&entry, data, sizeof entry);
        }
        if (!(entry & kPresent)) {
            return false;
        }
        if (shift == kPageShift || (shift != kTopShift && entry & kLargePage)) {
            const Addr within = (Addr{1} << shift) - 1;
            found = (entry & kFrame & ~within) | (address & within);
            return true;
        }
        table = entry & kFrame;
    }
}

const uint8_t *CoreMemory::line(Addr address) const
{
    const Addr start = address & ~(kLine - 1);
    for (const CacheMemory *cache : caches_) {
        // const_cast: the entry's data has no accessor for constant entries.
        auto *entry = const_cast<AbstractCacheEntry *>(cache->lookup(start));
        if (entry != nullptr &&
            (entry->m_Permission == AccessPermission_Read_Only || entry->m_Permission == AccessPermission_Read_Write)) {
            return entry->getDataBlk().getData(static_cast<int>(address - start), static_cast<int>(kLine - (address - start)));
        }
    }
    for (const auto &store : stores_) {
        if (store.inAddrMap && store.pmem && store.range.contains(address)) {
            return store.pmem + (address - store.range.start());
        }
    }
    return nullptr;
}

} // namespace gem5::ruby

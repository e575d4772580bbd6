// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/memory_snapshot.hh"

#include <array>
#include <cstring>
#include <map>

#include "native/snapshot/elf_core.h"

namespace gem5::ruby {

namespace {

constexpr size_t kLine = 64, kPage = mosbench::kSnapshotPage;

using Page = std::array<uint8_t, kPage>;

} // namespace

uint8_t *MemorySnapshot::memory(Addr address) const
{
    for (const auto &store : system_.getPhysMem().getBackingStore()) {
        if (store.inAddrMap && store.pmem && store.range.contains(address)) {
            return store.pmem + (address - store.range.start());
        }
    }
    return nullptr;
}

template <typename Visit> void MemorySnapshot::eachLine(Visit visit) const
{
    for (const CacheMemory *cache : caches_) {
        for (int index = 0; index < cache->getNumBlocks(); index++) {
            const Addr line = cache->getAddressAtIdx(index);
            if (line == 0) {
                continue;
            }
            // const_cast: the entry's data has no accessor for constant entries.
            auto *entry = const_cast<AbstractCacheEntry *>(cache->lookup(line));
            if (entry != nullptr &&
                (entry->m_Permission == AccessPermission_Read_Only || entry->m_Permission == AccessPermission_Read_Write)) {
                visit(line, entry->getDataBlk());
            }
        }
    }
}

void MemorySnapshot::writeBack() const
{
    eachLine([this](Addr line, const DataBlock &data) {
        if (uint8_t *const to = memory(line)) {
            std::memcpy(to, data.getData(0, kLine), kLine);
        }
    });
}

void MemorySnapshot::readBack() const
{
    eachLine([this](Addr line, DataBlock &data) {
        if (const uint8_t *const from = memory(line)) {
            data.setData(from, 0, kLine);
        }
    });
}

std::string MemorySnapshot::write(const std::string &path) const
{
    std::map<Addr, Page> newer; // pages with a line that a cache holds
    eachLine([&](Addr line, const DataBlock &block) {
        const uint8_t *const data = block.getData(0, kLine);
        const Addr first = line & ~(kPage - 1);
        const uint8_t *page = memory(first);
        if (page == nullptr) {
            return;
        }
        auto at = newer.find(first);
        if (at == newer.end()) {
            if (std::memcmp(page + line % kPage, data, kLine) == 0) {
                return;
            }
            at = newer.emplace(first, Page{}).first;
            std::memcpy(at->second.data(), page, kPage);
        }
        std::memcpy(at->second.data() + line % kPage, data, kLine);
    });
    std::vector<mosbench::MemoryRange> ranges;
    for (const auto &store : system_.getPhysMem().getBackingStore()) {
        if (store.inAddrMap && store.pmem) {
            ranges.push_back({store.range.start(), store.range.size(), store.pmem});
        }
    }
    return mosbench::write_elf_core(path, ranges, [&newer](uint64_t page) -> const uint8_t * {
        const auto at = newer.find(page);
        return at == newer.end() ? nullptr : at->second.data();
    });
}

} // namespace gem5::ruby

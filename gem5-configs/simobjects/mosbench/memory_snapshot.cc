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

std::string MemorySnapshot::write(const std::string &path) const
{
    const auto stores = system_.getPhysMem().getBackingStore();
    auto memory = [&stores](Addr page) -> const uint8_t * {
        for (const auto &store : stores) {
            if (store.inAddrMap && store.pmem && store.range.contains(page)) {
                return store.pmem + (page - store.range.start());
            }
        }
        return nullptr;
    };
    std::map<Addr, Page> newer; // pages with a line that a cache holds
    for (const CacheMemory *cache : caches_) {
        for (int index = 0; index < cache->getNumBlocks(); index++) {
            const Addr line = cache->getAddressAtIdx(index);
            const uint8_t *page = line == 0 ? nullptr : memory(line & ~(kPage - 1));
            if (page == nullptr) {
                continue;
            }
            // const_cast: the entry's data has no accessor for constant entries.
            auto *entry = const_cast<AbstractCacheEntry *>(cache->lookup(line));
            if (entry == nullptr ||
                (entry->m_Permission != AccessPermission_Read_Only && entry->m_Permission != AccessPermission_Read_Write)) {
                continue;
            }
            const uint8_t *data = entry->getDataBlk().getData(0, kLine);
            auto at = newer.find(line & ~(kPage - 1));
            if (at == newer.end()) {
                if (std::memcmp(page + line % kPage, data, kLine) == 0) {
                    continue;
                }
                at = newer.emplace(line & ~(kPage - 1), Page{}).first;
                std::memcpy(at->second.data(), page, kPage);
            }
            std::memcpy(at->second.data() + line % kPage, data, kLine);
        }
    }
    std::vector<mosbench::MemoryRange> ranges;
    for (const auto &store : stores) {
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

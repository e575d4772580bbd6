// SPDX-License-Identifier: BSD-3-Clause
#include "mosbench/reference_memory.hh"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gem5 {

namespace {

constexpr size_t kPage = 4096;

bool empty(const uint8_t *page)
{
    return std::all_of(page, page + kPage, [](uint8_t byte) { return byte == 0; });
}

// Where `how` maps the bytes of a file that begin at `offset`.
uint8_t *map(void *place, size_t bytes, int how, int file, off_t offset)
{
    void *const mapped = mmap(place, bytes, PROT_READ | PROT_WRITE, how | MAP_NORESERVE, file, offset);
    fatal_if(mapped == MAP_FAILED, "No room for a second memory of the guest, of %d bytes: %s.", bytes, strerror(errno));
    return static_cast<uint8_t *>(mapped);
}

} // namespace

ReferenceMemory::ReferenceMemory(const Params &p) : SimpleMemory(p), guest_(*p.system)
{
    system(p.system); // which it does not itself: this is none of its memories, or a checkpoint would have to have it
    const size_t bytes = getAddrRange().size();
    const int file = memfd_create("guest", MFD_CLOEXEC);
    fatal_if(file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0, "No file for the guest's memory: %s.", strerror(errno));
    contents_ = map(nullptr, bytes, MAP_SHARED, file, 0);
    for (const auto &store : guest_.getPhysMem().getBackingStore()) {
        if (store.inAddrMap && store.pmem) {
            map(store.pmem, store.range.size(), MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(store.range.start()));
        }
    }
    close(file);
    setBackingStore(contents_);
}

ReferenceMemory::~ReferenceMemory()
{
    munmap(contents_, getAddrRange().size());
}

void ReferenceMemory::part()
{
    map(contents_, getAddrRange().size(), MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (const auto &store : guest_.getPhysMem().getBackingStore()) {
        if (!store.inAddrMap || !store.pmem) {
            continue;
        }
        for (size_t at = 0; at < store.range.size(); at += kPage) {
            if (!empty(store.pmem + at)) { // a page that nobody touched takes no memory here either
                std::memcpy(contents_ + store.range.start() + at, store.pmem + at, kPage);
            }
        }
    }
}

} // namespace gem5

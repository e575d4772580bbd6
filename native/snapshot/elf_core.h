// SPDX-License-Identifier: BSD-3-Clause
//
// A guest's physical memory as an ELF64 core file, the form that analysis/attribute/snapshot.py reads: one PT_LOAD for each run
// of pages, p_paddr the guest physical address; pages of zeros are left out. Both engines write theirs with this.
#ifndef MOSBENCH_NATIVE_SNAPSHOT_ELF_CORE_H
#define MOSBENCH_NATIVE_SNAPSHOT_ELF_CORE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mosbench {

inline constexpr size_t kSnapshotPage = 4096;

// Memory of the guest from physical address `start`; both numbers, and the place of anonymous data, are multiples of a page.
struct MemoryRange {
    uint64_t start, bytes;
    const uint8_t *data;
    // Private anonymous memory: a page that this process never touched is zeros, and reading it would only cost the host a page
    // of tables. No page is looked at then that /proc/self/pagemap says is not there.
    bool anonymous = false;
};

// `ranges` in any order. `newer(address)` gives the page at a physical address where it is not what `ranges` has (a cache holds
// a line of it), else nullptr; without it there are none. Returns an empty string, or a sentence that says what went wrong; then
// there is no file at `path`.
std::string write_elf_core(const std::string &path, std::vector<MemoryRange> ranges,
                           const std::function<const uint8_t *(uint64_t address)> &newer = {});

} // namespace mosbench

#endif

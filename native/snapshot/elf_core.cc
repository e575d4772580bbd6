// SPDX-License-Identifier: BSD-3-Clause
#include "native/snapshot/elf_core.h"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace mosbench {

namespace {

struct Run {
    uint64_t start;
    std::vector<const uint8_t *> pages;
};

bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && std::memcmp(page, page + 1, kSnapshotPage - 1) == 0;
}

std::vector<Run> find_runs(const std::vector<MemoryRange> &ranges, const std::function<const uint8_t *(uint64_t)> &newer)
{
    std::vector<Run> runs;
    uint64_t next = ~uint64_t{0};
    for (const MemoryRange &range : ranges) {
        for (uint64_t offset = 0; offset < range.bytes; offset += kSnapshotPage) {
            const uint64_t address = range.start + offset;
            const uint8_t *page = newer(address);
            if (page == nullptr) {
                page = range.data + offset;
            }
            if (is_zero(page)) {
                continue;
            }
            if (address != next) {
                runs.push_back({address, {}});
            }
            runs.back().pages.push_back(page);
            next = address + kSnapshotPage;
        }
    }
    return runs;
}

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};

bool put(std::FILE *file, const void *data, size_t bytes)
{
    return std::fwrite(data, 1, bytes, file) == bytes;
}

// More segments than e_phnum can say: their count is in section 0's sh_info (ELF gABI).
bool write_file(std::FILE *file, const std::vector<Run> &runs)
{
    const bool many = runs.size() >= PN_XNUM;
    const uint64_t headers = sizeof(Elf64_Ehdr) + runs.size() * sizeof(Elf64_Phdr);
    const uint64_t end = headers + (many ? sizeof(Elf64_Shdr) : 0);
    uint64_t offset = (end + kSnapshotPage - 1) / kSnapshotPage * kSnapshotPage;
    const std::vector<uint8_t> padding(offset - end);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<uint16_t>(many ? PN_XNUM : runs.size());
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shoff = many ? headers : 0;
    header.e_shnum = many ? 1 : 0;
    bool good = put(file, &header, sizeof header);
    for (const Run &run : runs) {
        Elf64_Phdr segment{};
        segment.p_type = PT_LOAD;
        segment.p_flags = PF_R | PF_W;
        segment.p_offset = offset;
        segment.p_paddr = run.start;
        segment.p_filesz = segment.p_memsz = run.pages.size() * kSnapshotPage;
        segment.p_align = kSnapshotPage;
        good = good && put(file, &segment, sizeof segment);
        offset += segment.p_filesz;
    }
    if (many) {
        Elf64_Shdr section{};
        section.sh_info = static_cast<uint32_t>(runs.size());
        good = good && put(file, &section, sizeof section);
    }
    good = good && put(file, padding.data(), padding.size());
    for (const Run &run : runs) {
        for (const uint8_t *page : run.pages) {
            good = good && put(file, page, kSnapshotPage);
        }
    }
    return good && std::fflush(file) == 0;
}

} // namespace

std::string write_elf_core(const std::string &path, std::vector<MemoryRange> ranges,
                           const std::function<const uint8_t *(uint64_t address)> &newer)
{
    std::sort(ranges.begin(), ranges.end(), [](const MemoryRange &a, const MemoryRange &b) { return a.start < b.start; });
    const std::string unfinished = path + ".unfinished";
    std::unique_ptr<std::FILE, Close> file(std::fopen(unfinished.c_str(), "wb"));
    const bool written = file != nullptr && write_file(file.get(), find_runs(ranges, newer));
    int error = written ? 0 : errno;
    if (file != nullptr && std::fclose(file.release()) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && std::rename(unfinished.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error == 0) {
        return "";
    }
    std::remove(unfinished.c_str());
    return "cannot write " + path + ": " + std::strerror(error);
}

} // namespace mosbench

// SPDX-License-Identifier: BSD-3-Clause
#include "native/snapshot/elf_core.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace mosbench {

namespace {

// Contents in the memory of this process.
struct Piece {
    const uint8_t *data;
    uint64_t bytes;
};

struct Run {
    uint64_t start, bytes = 0;
    std::vector<Piece> pieces{};
};

bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && std::memcmp(page, page + 1, kSnapshotPage - 1) == 0;
}

// Which pages of this process are in memory or swapped out (Documentation/admin-guide/mm/pagemap.rst, since Linux 2.6.25).
class Pagemap {
  public:
    Pagemap() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
    ~Pagemap()
    {
        if (file_ >= 0) {
            close(file_);
        }
    }
    Pagemap(const Pagemap &) = delete;
    Pagemap &operator=(const Pagemap &) = delete;

    // True also where the kernel does not say.
    bool present(const uint8_t *page)
    {
        const uint64_t number = reinterpret_cast<uintptr_t>(page) / kSnapshotPage;
        if (number < first_ || number >= first_ + known_) {
            const off_t offset = static_cast<off_t>(number * sizeof entries_[0]);
            const ssize_t got = file_ < 0 ? -1 : pread(file_, entries_.data(), sizeof entries_, offset);
            first_ = number;
            known_ = got > 0 ? static_cast<size_t>(got) / sizeof entries_[0] : 0;
            if (known_ == 0) {
                return true;
            }
        }
        return entries_[number - first_] >> 62 != 0; // bit 63: present, bit 62: swapped out
    }

  private:
    int file_;
    std::array<uint64_t, 512> entries_{};
    uint64_t first_ = 0, known_ = 0;
};

using Newer = std::function<const uint8_t *(uint64_t)>;

// The page at an address as the guest sees it; nullptr for zeros.
const uint8_t *contents(const MemoryRange &range, uint64_t offset, const Newer &newer, Pagemap &pagemap)
{
    if (const uint8_t *page = newer ? newer(range.start + offset) : nullptr) {
        return is_zero(page) ? nullptr : page;
    }
    const uint8_t *page = range.data + offset;
    return (range.anonymous && !pagemap.present(page)) || is_zero(page) ? nullptr : page;
}

std::vector<Run> find_runs(const std::vector<MemoryRange> &ranges, const Newer &newer)
{
    std::vector<Run> runs;
    Pagemap pagemap;
    for (const MemoryRange &range : ranges) {
        for (uint64_t offset = 0; offset < range.bytes; offset += kSnapshotPage) {
            const uint64_t address = range.start + offset;
            const uint8_t *page = contents(range, offset, newer, pagemap);
            if (page == nullptr) {
                continue;
            }
            if (runs.empty() || runs.back().start + runs.back().bytes != address) {
                runs.push_back({.start = address});
            }
            Run &run = runs.back();
            if (run.pieces.empty() || run.pieces.back().data + run.pieces.back().bytes != page) {
                run.pieces.push_back({page, 0});
            }
            run.pieces.back().bytes += kSnapshotPage;
            run.bytes += kSnapshotPage;
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
        segment.p_filesz = segment.p_memsz = run.bytes;
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
        for (const Piece &piece : run.pieces) {
            good = good && put(file, piece.data, piece.bytes);
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

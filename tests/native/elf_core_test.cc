// SPDX-License-Identifier: BSD-3-Clause
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "native/snapshot/elf_core.h"

namespace mosbench::test {
namespace {

constexpr uint64_t kHigh = uint64_t{4} << 30;

struct Segment {
    uint64_t address, bytes;
    uint8_t first; // byte of its contents
};

struct ElfCoreTest : testing::Test {
    std::string path = testing::TempDir() + "core-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".elf";
    std::vector<uint8_t> low = std::vector<uint8_t>(8 * kSnapshotPage), high = std::vector<uint8_t>(2 * kSnapshotPage);

    // In no order, as memories may be.
    std::vector<MemoryRange> ranges() const { return {{kHigh, high.size(), high.data()}, {0, low.size(), low.data()}}; }

    std::vector<Segment> segments() const
    {
        std::ifstream file(path, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        Elf64_Ehdr header;
        std::memcpy(&header, bytes.data(), sizeof header);
        EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
        EXPECT_EQ(header.e_type, ET_CORE);
        std::vector<Segment> found;
        for (unsigned i = 0; i < header.e_phnum; i++) {
            Elf64_Phdr segment;
            std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
            EXPECT_EQ(segment.p_offset % kSnapshotPage, 0u);
            EXPECT_LE(segment.p_offset + segment.p_filesz, bytes.size());
            found.push_back({segment.p_paddr, segment.p_filesz, static_cast<uint8_t>(bytes[segment.p_offset])});
        }
        return found;
    }

    ~ElfCoreTest() override { std::filesystem::remove(path); }
};

TEST_F(ElfCoreTest, PagesOfZerosAreLeftOutAndNeighboursAreOneSegment)
{
    low[1 * kSnapshotPage] = 11;
    low[2 * kSnapshotPage + 5] = 12;
    low[7 * kSnapshotPage] = 13;
    high[0] = 14;
    ASSERT_EQ(write_elf_core(path, ranges()), "");
    const std::vector<Segment> found = segments();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].address, kSnapshotPage);
    EXPECT_EQ(found[0].bytes, 2 * kSnapshotPage);
    EXPECT_EQ(found[0].first, 11);
    EXPECT_EQ(found[1].address, 7 * kSnapshotPage);
    EXPECT_EQ(found[2].address, kHigh);
    EXPECT_EQ(found[2].first, 14);
}

TEST_F(ElfCoreTest, WhatACacheHoldsIsNewerThanMemory)
{
    std::vector<uint8_t> page(kSnapshotPage, 99);
    low[0] = 1;
    auto newer = [&](uint64_t address) -> const uint8_t * { return address == 3 * kSnapshotPage ? page.data() : nullptr; };
    ASSERT_EQ(write_elf_core(path, ranges(), newer), "");
    const std::vector<Segment> found = segments();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].address, 3 * kSnapshotPage);
    EXPECT_EQ(found[1].first, 99);
}

TEST_F(ElfCoreTest, MemoryThatWasNeverTouchedStaysSo)
{
    constexpr size_t kPages = 1024;
    void *place =
        mmap(nullptr, kPages * kSnapshotPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(place, MAP_FAILED);
    auto *memory = static_cast<uint8_t *>(place);
    ASSERT_EQ(madvise(place, kPages * kSnapshotPage, MADV_NOHUGEPAGE), 0); // a huge page would be there as a whole
    memory[3 * kSnapshotPage] = 21;
    memory[4 * kSnapshotPage] = 0; // touched, and zeros
    memory[1000 * kSnapshotPage + 9] = 22;
    const auto touched = [&] {
        std::vector<unsigned char> resident(kPages);
        EXPECT_EQ(mincore(place, kPages * kSnapshotPage, resident.data()), 0);
        return std::count_if(resident.begin(), resident.end(), [](unsigned char one) { return one & 1; });
    };
    ASSERT_EQ(touched(), 3);
    ASSERT_EQ(write_elf_core(path, {{kHigh, kPages * kSnapshotPage, memory, true}}), "");
    EXPECT_EQ(touched(), 3);
    const std::vector<Segment> found = segments();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].address, kHigh + 3 * kSnapshotPage);
    EXPECT_EQ(found[0].first, 21);
    EXPECT_EQ(found[1].address, kHigh + 1000 * kSnapshotPage);
    munmap(place, kPages * kSnapshotPage);
}

TEST_F(ElfCoreTest, PagesBesideEachOtherInTheGuestNeedNotBeSoHere)
{
    low[7 * kSnapshotPage] = 31;
    high[0] = 32;
    const uint64_t start = 8 * kSnapshotPage;
    ASSERT_EQ(write_elf_core(path, {{start, high.size(), high.data()}, {0, low.size(), low.data()}}), "");
    const std::vector<Segment> found = segments();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].address, 7 * kSnapshotPage);
    EXPECT_EQ(found[0].bytes, 2 * kSnapshotPage);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(bytes.at(bytes.size() - kSnapshotPage), 32);
}

TEST_F(ElfCoreTest, MoreSegmentsThanTheHeaderCanSay)
{
    constexpr size_t kSegments = 66'000;
    const std::vector<uint8_t> page(kSnapshotPage, 1), zeros(kSnapshotPage);
    const auto every_second = [&](uint64_t address) { return (address / kSnapshotPage % 2 ? zeros : page).data(); };
    ASSERT_EQ(write_elf_core(path, {{0, 2 * kSegments * kSnapshotPage, nullptr}}, every_second), "");
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header;
    file.read(reinterpret_cast<char *>(&header), sizeof header);
    EXPECT_EQ(header.e_phnum, PN_XNUM);
    ASSERT_EQ(header.e_shnum, 1);
    Elf64_Shdr section;
    file.seekg(static_cast<std::streamoff>(header.e_shoff));
    file.read(reinterpret_cast<char *>(&section), sizeof section);
    EXPECT_EQ(section.sh_info, kSegments);
}

TEST_F(ElfCoreTest, AFolderThatIsNotThereIsASentence)
{
    const std::string problem = write_elf_core("/nowhere/core.elf", ranges());
    EXPECT_NE(problem.find("/nowhere/core.elf"), std::string::npos) << problem;
    EXPECT_NE(problem.find("No such file"), std::string::npos) << problem;
}

} // namespace
} // namespace mosbench::test

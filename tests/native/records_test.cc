// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>

#include "native/records/records_file.h"
#include "tests/native/read_records.h"

namespace mosbench::test {
namespace {

using Values = std::vector<uint64_t>;

const FileHeader kHeader = {.engine = "fast", .machine = "tiny", .period_cycles = 9973, .roi_cycles = 5000};

uint64_t physical(uint32_t line)
{
    return 0x100000000 + uint64_t{line} * 64;
}

Toucher toucher(uint32_t line, uint64_t pc, uint16_t core, AccessKind kind = AccessKind::read)
{
    return {.pc = pc,
            .address = 0x7000 + line * 64 + 12,
            .line = line,
            .core = core,
            .kind = kind,
            .kernel = false,
            .address_known = true};
}

struct RecordsFileTest : testing::Test {
    std::string path = testing::TempDir() + "records-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".bin";

    RecordsFile round_trip(const Records &records)
    {
        EXPECT_EQ(write_records(path, kHeader, records, physical), "");
        return read_records(path);
    }
    ~RecordsFileTest() override { std::filesystem::remove(path); }
};

TEST_F(RecordsFileTest, EmptyRecordsAreAFile)
{
    const RecordsFile file = round_trip(Records(100, 2, 4, false));
    EXPECT_TRUE(file.header.starts_with(
        "{\"engine\":\"fast\",\"machine\":\"tiny\",\"period_cycles\":9973,\"roi_cycles\":5000,\"tables\":["));
    EXPECT_EQ(file.tables.size(), 5u);
    EXPECT_TRUE(file.tables.at("lines").at("paddr").empty());
    EXPECT_FALSE(file.tables.at("lines").contains("reads")); // not known without count_hits: left out
    EXPECT_EQ(file.tables.at("cores").at("core"), (Values{0, 1, 2, 3}));
}

TEST_F(RecordsFileTest, WhatAnEngineCannotKnowIsLeftOut)
{
    Records records(100, 2, 4, false);
    records.event(toucher(7, 0x500, 1), Source::dram_local, false, 200);
    FileHeader header = kHeader;
    header.unknown = {"lines.l3_hits", "sites.l3_hits", "cores.l3_hits"};
    ASSERT_EQ(write_records(path, header, records, physical), "");
    const RecordsFile file = read_records(path);
    for (const char *table : {"lines", "sites", "cores"}) {
        EXPECT_FALSE(file.tables.at(table).contains("l3_hits")) << table;
        EXPECT_TRUE(file.tables.at(table).contains("dram_local")) << table;
    }
    EXPECT_EQ(file.tables.at("lines").at("dram_local"), Values{1});
}

TEST_F(RecordsFileTest, LinesAreTheSumOfTheirSites)
{
    Records records(1000, 2, 4, false);
    records.event(toucher(70, 0x500, 1, AccessKind::atomic), Source::core_other_socket, false, 200);
    records.event(toucher(70, 0x400, 2), Source::core_same_socket, false, 117);
    records.event(toucher(70, 0x400, 2, AccessKind::write), Source::held, true, 300);
    records.event(toucher(70, 0x400, 2), Source::l2, false, 11);
    records.event(toucher(70, 0x400, 3, AccessKind::write), Source::l2, true, 400);
    records.event(toucher(20, 0x400, 0), Source::dram_remote, false, 250);
    records.event(toucher(20, 0x400, 0), Source::dram_local, false, 119);
    records.event(toucher(20, 0x404, 0), Source::l3, false, 25);
    records.copy_lost(70, 1);
    records.written_back(20, 3);

    const RecordsFile file = round_trip(records);
    const Columns &lines = file.tables.at("lines");
    EXPECT_EQ(lines.at("paddr"), (Values{physical(20), physical(70)}));
    EXPECT_EQ(lines.at("vaddr"), (Values{0x7000 + 20 * 64 + 12, 0x7000 + 70 * 64 + 12}));
    EXPECT_EQ(lines.at("l1_misses"), (Values{3, 4}));
    EXPECT_EQ(lines.at("l2_hits"), (Values{0, 2}));
    EXPECT_EQ(lines.at("l3_hits"), (Values{1, 0}));
    EXPECT_EQ(lines.at("transfers_same_socket"), (Values{0, 1}));
    EXPECT_EQ(lines.at("transfers_other_socket"), (Values{0, 1}));
    EXPECT_EQ(lines.at("dram_local"), (Values{1, 0}));
    EXPECT_EQ(lines.at("dram_remote"), (Values{1, 0}));
    EXPECT_EQ(lines.at("upgrades"), (Values{0, 2}));
    EXPECT_EQ(lines.at("invalidations"), (Values{0, 1}));
    EXPECT_EQ(lines.at("writebacks"), (Values{1, 0}));
    EXPECT_EQ(lines.at("cycles"), (Values{394, 1028}));
    EXPECT_EQ(lines.at("cores"), (Values{1, 14}));
    EXPECT_EQ(lines.at("writers"), (Values{0, 14}));

    const Columns &sites = file.tables.at("sites");
    EXPECT_EQ(sites.at("paddr"), (Values{physical(20), physical(20), physical(70), physical(70)}));
    EXPECT_EQ(sites.at("pc"), (Values{0x400, 0x404, 0x400, 0x500}));
    EXPECT_EQ(sites.at("offset"), (Values{12, 12, 12, 12}));
    EXPECT_EQ(sites.at("accesses"), (Values{2, 1, 3, 1})); // an L2 hit alone is no event of a site
    EXPECT_EQ(sites.at("writes"), (Values{0, 0, 2, 1}));
    EXPECT_EQ(sites.at("upgrades"), (Values{0, 0, 2, 0}));
    EXPECT_EQ(sites.at("cycles"), (Values{369, 25, 817, 200}));

    const Columns &cores = file.tables.at("cores");
    EXPECT_EQ(cores.at("l1_misses"), (Values{3, 1, 2, 1}));
    EXPECT_EQ(cores.at("invalidations"), (Values{0, 1, 0, 0}));
    EXPECT_EQ(cores.at("writebacks"), (Values{0, 0, 0, 1}));
    EXPECT_EQ(cores.at("wait_cycles"), (Values{394, 200, 428, 400}));
}

TEST_F(RecordsFileTest, CountsEveryAccessWhenAsked)
{
    Records records(100, 1, 2, true);
    records.counted_access(toucher(5, 0x400, 0), false);
    records.counted_access(toucher(5, 0x400, 0, AccessKind::write), false);
    records.counted_access(toucher(5, 0x404, 1, AccessKind::atomic), true);
    records.event(toucher(5, 0x404, 1, AccessKind::atomic), Source::core_same_socket, false, 117);
    const RecordsFile file = round_trip(records);
    EXPECT_EQ(file.tables.at("lines").at("reads"), Values{1});
    EXPECT_EQ(file.tables.at("lines").at("writes"), Values{1});
    EXPECT_EQ(file.tables.at("lines").at("atomics"), Values{1});
    EXPECT_EQ(file.tables.at("sites").at("accesses"), (Values{2, 1}));
    EXPECT_EQ(file.tables.at("sites").at("writes"), (Values{1, 1}));
}

TEST_F(RecordsFileTest, MatrixCoresAndSamples)
{
    Records records(10, 2, 2, false);
    records.message(1, 0, Message::data_from_memory, 72);
    records.message(1, 0, Message::data_from_memory, 72);
    records.message(0, 1, Message::broadcast_probe, 16, 2);
    records.core_totals(1, 1000, 400, 100);
    records.sample(1, 0x900, true, 2);
    records.sample(0, 0x800, false, 1);
    records.sample(1, 0x900, true, 3);
    const RecordsFile file = round_trip(records);
    EXPECT_EQ(file.tables.at("matrix").at("home"), (Values{0, 1}));
    EXPECT_EQ(file.tables.at("matrix").at("requester"), (Values{1, 0}));
    EXPECT_EQ(file.tables.at("matrix").at("kind"), (Values{4, 6}));
    EXPECT_EQ(file.tables.at("matrix").at("messages"), (Values{2, 2}));
    EXPECT_EQ(file.tables.at("matrix").at("bytes"), (Values{32, 144}));
    EXPECT_EQ(file.tables.at("cores").at("cycles"), (Values{0, 1000}));
    EXPECT_EQ(file.tables.at("cores").at("instructions"), (Values{0, 400}));
    EXPECT_EQ(file.tables.at("cores").at("idle_cycles"), (Values{0, 100}));
    EXPECT_EQ(file.tables.at("samples").at("core"), (Values{0, 1}));
    EXPECT_EQ(file.tables.at("samples").at("pc"), (Values{0x800, 0x900}));
    EXPECT_EQ(file.tables.at("samples").at("kernel"), (Values{0, 1}));
    EXPECT_EQ(file.tables.at("samples").at("count"), (Values{1, 5}));
}

TEST_F(RecordsFileTest, ManySitesAndLinesComeBack)
{
    constexpr uint32_t count = 30'000; // more than the first hash table and the first chunks hold
    Records records(count, 1, 1, false);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t line = i * 7919 % count;
            records.event(toucher(line, 0x400 + line % 5, 0), Source::dram_local, false, 119);
            records.event(toucher(line, 0x900, 0), Source::l3, false, 25);
        }
    }
    const RecordsFile file = round_trip(records);
    EXPECT_EQ(file.tables.at("lines").at("dram_local"), Values(count, 2));
    EXPECT_EQ(file.tables.at("sites").at("accesses"), Values(2 * count, 2));
    EXPECT_TRUE(std::is_sorted(file.tables.at("lines").at("paddr").begin(), file.tables.at("lines").at("paddr").end()));
    records.clear();
    EXPECT_TRUE(round_trip(records).tables.at("sites").at("pc").empty());
}

TEST_F(RecordsFileTest, SitesOfAlignedLinesFindRoom)
{
    constexpr uint32_t count = 20'000; // every line the first of 16: all begin their look-up at the same place among neighbours
    Records records(count * 16, 1, 1, false);
    for (uint32_t i = 0; i < count; i++) {
        records.event(toucher(i * 16, 0x400, 0), Source::dram_local, false, 119);
        records.event(toucher(i * 16, 0x404, 0), Source::l3, false, 25);
        records.event(toucher(i * 16, 0x400, 0), Source::l3, false, 25);
    }
    EXPECT_EQ(round_trip(records).tables.at("sites").at("accesses").size(), 2u * count);
}

TEST_F(RecordsFileTest, AFileThatCannotBeWrittenIsASentenceAndNoFile)
{
    const Records records(10, 1, 1, false);
    EXPECT_EQ(write_records("/nonexistent/records.bin", kHeader, records, physical),
              "cannot write /nonexistent/records.bin: No such file or directory");
    std::filesystem::create_directory(path); // a folder stands where the file should be
    EXPECT_EQ(write_records(path, kHeader, records, physical), "cannot write " + path + ": Is a directory");
    EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
}

TEST_F(RecordsFileTest, AFullDiskIsASentence)
{
    Sink sink("/dev/full");
    sink.put_text("something");
    EXPECT_EQ(sink.close(), "No space left on device");
}

} // namespace
} // namespace mosbench::test

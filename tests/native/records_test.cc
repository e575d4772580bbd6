// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "native/records/records_file.h"
#include "native/records/schema.h"
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
            .address_known = true,
            .size = 4};
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
    EXPECT_EQ(file.tables.size(), 8u);
    EXPECT_TRUE(file.tables.at("lines").at("paddr").empty());
    EXPECT_FALSE(file.tables.at("lines").contains("reads")); // not known without count_hits: said so, and no numbers
    EXPECT_EQ(file.unknown.at("lines"), "\"reads\",\"writes\",\"atomics\"");
    EXPECT_EQ(file.unknown.at("cores"), "");
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
        EXPECT_NE(file.unknown.at(table).find("\"l3_hits\""), std::string::npos) << table;
    }
    EXPECT_EQ(file.tables.at("lines").at("dram_local"), Values{1});
}

TEST_F(RecordsFileTest, WhatTheSchemaDoesNotAllowIsNotWritten)
{
    const std::map<std::string, std::string> said = {
        {"lines.l4_hits", "the table lines has no column lines.l4_hits"},
        {"rows.paddr", "there is no column rows.paddr"},
        {"l3_hits", "there is no column l3_hits"},
        {"lines.cycles", "every engine has to know the column lines.cycles"},
    };
    for (const auto &[column, sentence] : said) {
        FileHeader header = kHeader;
        header.unknown = {column};
        EXPECT_EQ(write_records(path, header, Records(100, 2, 4, false), physical), "cannot write " + path + ": " + sentence);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RecordsFileTest, ATableIsWhole)
{
    const auto one = [](size_t) { return 1; };
    Table table(schema::samples::table, 1);
    table.column(schema::samples::core, one);
    table.column(schema::samples::pc, one);
    table.column(schema::samples::kernel, one);
    EXPECT_EQ(write_tables(path, kHeader, {table}), "cannot write " + path + ": nothing fills the column samples.count");
    table.column(schema::samples::count, one);
    EXPECT_EQ(write_tables(path, kHeader, {table}), "");
    EXPECT_EQ(read_records(path).tables.at("samples").at("count"), Values{1});
    table.column(schema::cores::cycles, one);
    EXPECT_EQ(table.fault(), "the table samples has no column cores.cycles");
}

TEST_F(RecordsFileTest, KindsOfMessagesHaveTheNamesOfTheSchema)
{
    const auto name = [](Message kind) { return std::string(schema::matrix::kind_values[static_cast<size_t>(kind)]); };
    EXPECT_EQ(name(Message::read), "read");
    EXPECT_EQ(name(Message::read_exclusive), "write");
    EXPECT_EQ(name(Message::upgrade), "upgrade");
    EXPECT_EQ(name(Message::directed_probe), "directed probe");
    EXPECT_EQ(name(Message::broadcast_probe), "broadcast probe");
    EXPECT_EQ(name(Message::data_from_core), "data from core");
    EXPECT_EQ(name(Message::data_from_memory), "data from memory");
    EXPECT_EQ(name(Message::writeback), "writeback");
    EXPECT_EQ(name(Message::back_invalidation), "back-invalidation");
    EXPECT_EQ(name(Message::dma), "DMA");
}

TEST_F(RecordsFileTest, WhatTheCardDidIsBesideTheCores)
{
    Records records(1000, 2, 4, false);
    records.event(toucher(70, 0x500, 1, AccessKind::write), Source::dram_local, false, 200);
    records.by_card(70, false);
    records.by_card(70, true);
    records.by_card(70, true);
    records.by_card(71, false); // and nobody else
    const RecordsFile file = round_trip(records);
    const Columns &lines = file.tables.at("lines");
    EXPECT_EQ(lines.at("paddr"), (Values{physical(70), physical(71)}));
    EXPECT_EQ(lines.at("card_reads"), (Values{1, 1}));
    EXPECT_EQ(lines.at("card_writes"), (Values{2, 0}));
    EXPECT_EQ(lines.at("cores"), (Values{2, 0}));
    EXPECT_EQ(lines.at("writers"), (Values{2, 0}));
    EXPECT_EQ(lines.at("l1_misses"), (Values{1, 0}));
    records.clear();
    EXPECT_TRUE(round_trip(records).tables.at("lines").at("paddr").empty());
    records.by_card(70, false);
    EXPECT_EQ(round_trip(records).tables.at("lines").at("card_writes"), Values{0});
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
    EXPECT_EQ(sites.at("size"), (Values{4, 4, 4, 4}));
    EXPECT_EQ(sites.at("cores"), (Values{1, 1, 12, 2}));
    EXPECT_EQ(sites.at("accesses"), (Values{2, 1, 3, 1})); // an L2 hit alone is no event of a site
    EXPECT_EQ(sites.at("writes"), (Values{0, 0, 2, 1}));
    EXPECT_EQ(sites.at("upgrades"), (Values{0, 0, 2, 0}));
    EXPECT_EQ(sites.at("cycles"), (Values{369, 25, 817, 200}));

    const Columns &cores = file.tables.at("cores");
    EXPECT_EQ(cores.at("l1_misses"), (Values{3, 1, 2, 1}));
    EXPECT_EQ(cores.at("invalidations"), (Values{0, 1, 0, 0}));
    EXPECT_EQ(cores.at("writebacks"), (Values{0, 0, 0, 1}));
    EXPECT_EQ(cores.at("l2_cycles"), (Values{0, 0, 11, 0}));
    EXPECT_EQ(cores.at("l3_cycles"), (Values{25, 0, 0, 0}));
    EXPECT_EQ(cores.at("same_socket_cycles"), (Values{0, 0, 117, 0}));
    EXPECT_EQ(cores.at("other_socket_cycles"), (Values{0, 200, 0, 0}));
    EXPECT_EQ(cores.at("dram_local_cycles"), (Values{119, 0, 0, 0}));
    EXPECT_EQ(cores.at("dram_remote_cycles"), (Values{250, 0, 0, 0}));
    EXPECT_EQ(cores.at("upgrade_cycles"), (Values{0, 0, 300, 400})); // also where the copy was in the L2
}

TEST_F(RecordsFileTest, AWaitInPiecesIsTheLinesAsAWholeAndTheCoresPieceByPiece)
{
    Records records(100, 2, 2, false);
    records.event(toucher(7, 0x400, 0), Source::dram_local, false, 100);
    records.sent_away(0, Source::core_other_socket, 60); // it was told to come back, and then found the line nearer
    records.event(toucher(7, 0x400, 0), Source::core_same_socket, false, 150, 60);
    records.streamed(toucher(8, 0x404, 0, AccessKind::write), Source::dram_remote, 33);
    const RecordsFile file = round_trip(records);
    EXPECT_EQ(file.tables.at("lines").at("cycles"), (Values{250, 33}));
    EXPECT_EQ(file.tables.at("cores").at("other_socket_cycles")[0], 60u);
    EXPECT_EQ(file.tables.at("cores").at("same_socket_cycles")[0], 90u);
    EXPECT_EQ(file.tables.at("cores").at("dram_local_cycles")[0], 100u);
    EXPECT_EQ(file.tables.at("cores").at("dram_remote_cycles")[0], 33u);
}

TEST_F(RecordsFileTest, ProgramCountersOfKernelAndUserComeBack)
{
    Records records(100, 1, 1, false);
    constexpr uint64_t kernel = 0xffffffff81000123, module = 0xffff800000000000, user = 0x00007fffffffffff;
    for (const uint64_t pc : {kernel, module, user}) {
        Toucher who = toucher(5, pc, 0);
        who.kernel = pc >> 63;
        who.size = 64;
        who.address = 0x7000 + 5 * 64;
        records.event(who, Source::dram_local, false, 1);
        records.event(who, Source::core_same_socket, false, 1);
    }
    const RecordsFile file = round_trip(records);
    EXPECT_EQ(file.tables.at("sites").at("pc"), (Values{user, module, kernel}));
    EXPECT_EQ(file.tables.at("sites").at("kernel"), (Values{0, 1, 1}));
    EXPECT_EQ(file.tables.at("sites").at("size"), (Values{64, 64, 64}));
    EXPECT_EQ(file.tables.at("sites").at("accesses"), (Values{2, 2, 2}));
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
    records.core_totals(1, {.cycles = 1000,
                            .instructions = 400,
                            .idle_cycles = 100,
                            .instruction_cycles = 401,
                            .l1_cycles = 402,
                            .pause_cycles = 80,
                            .card_cycles = 17});
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
    EXPECT_EQ(file.tables.at("cores").at("instruction_cycles"), (Values{0, 401}));
    EXPECT_EQ(file.tables.at("cores").at("l1_cycles"), (Values{0, 402}));
    EXPECT_EQ(file.tables.at("cores").at("pause_cycles"), (Values{0, 80}));
    EXPECT_EQ(file.tables.at("cores").at("card_cycles"), (Values{0, 17}));
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

// What the tables must say, kept in the plainest way.
struct Plain {
    struct Line {
        uint64_t vaddr = 0, cores = 0, writers = 0, cycles = 0, l2_hits = 0, invalidations = 0, writebacks = 0;
        bool kernel = false, seen = false;
    };
    struct Site {
        uint64_t accesses = 0, writes = 0, upgrades = 0, cycles = 0, offset = 0, size = 0, cores = 0, kernel = 0;
        std::array<uint64_t, kSourcesBeyondL2> from{};
    };
    std::map<uint32_t, Line> lines;
    std::map<std::pair<uint32_t, uint64_t>, Site> sites; // by line and program counter

    Line &touch(const Toucher &who)
    {
        Line &line = lines[who.line];
        if (!line.seen) {
            line.seen = true;
            line.kernel = who.kernel;
        }
        if (line.vaddr == 0 && who.address_known) {
            line.vaddr = who.address;
        }
        line.cores |= uint64_t{1} << who.core;
        line.writers |= who.kind == AccessKind::read ? 0 : uint64_t{1} << who.core;
        return line;
    }
    void event(const Toucher &who, Source source, bool upgrade, uint64_t cycles)
    {
        Line &line = touch(who);
        line.l2_hits += source == Source::l2;
        if (source == Source::l2 && !upgrade) {
            line.cycles += cycles;
            return;
        }
        const bool first = !sites.contains({who.line, who.pc});
        Site &site = sites[{who.line, who.pc}];
        if (first) {
            site.kernel = who.kernel;
            site.offset = who.address_known ? who.address % 64 : 0;
            site.size = who.size;
        }
        site.cores |= uint64_t{1} << who.core;
        site.accesses++;
        site.writes += who.kind != AccessKind::read;
        site.upgrades += upgrade;
        site.cycles += cycles;
        if (source < Source::l2) {
            site.from[static_cast<size_t>(source)]++;
        }
    }
};

// Lines of every sort: of one core and place, of several, lines whose numbers grow past what a short row holds, walks, addresses
// that are no neighbours'.
TEST_F(RecordsFileTest, WhatTheTablesSayDoesNotDependOnHowRowsAreKept)
{
    constexpr uint32_t count = 4000;
    std::mt19937 random(7);
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    Records records(count, 2, 4, false);
    Plain plain;
    for (uint32_t i = 0; i < 400'000; i++) {
        const uint32_t line = below(2) ? below(3) : below(count), sort = line % 16;
        const auto rarely = [&](uint32_t value, uint32_t other) { return below(1000) == 0 ? other : value; };
        Toucher who = toucher(line, 0x400 + 4 * (sort < 8 ? line % 3 : rarely(line % 3, below(5))),
                              static_cast<uint16_t>(sort < 10 ? line % 4 : rarely(line % 4, below(4))),
                              (sort < 12 ? line : rarely(line, below(2))) % 2 ? AccessKind::write : AccessKind::read);
        who.kernel = sort == 12 || rarely(0, 1);
        who.address_known = sort != 13 && rarely(1, 0);
        who.size = static_cast<uint8_t>(rarely(8, 1 + below(64)));
        who.address += sort == 14 ? 64 : rarely(0, 8);
        who.address += line / 64 % 8 == 7 ? 4096 * below(2) : 0; // two mappings
        const uint32_t what = below(100);
        if (what < 3) {
            records.copy_lost(line, who.core);
            plain.lines[line].invalidations++;
        } else if (what < 6) {
            records.written_back(line, who.core);
            plain.lines[line].writebacks++;
        } else if (what < 9) {
            records.first_write(who);
            plain.touch(who);
        } else {
            constexpr Source kinds[] = {Source::l3, Source::dram_local, Source::dram_remote, Source::l2,
                                        Source::core_same_socket};
            const Source source = what < 40   ? Source::l2
                                  : what < 60 ? Source::l3
                                  : sort < 15 ? kinds[1 + line % 2]
                                              : kinds[below(5)];
            const bool upgrade = rarely(0, 1);
            const uint64_t cycles = line == 5 ? 1u << 30 : source == Source::l2 ? rarely(11, 12) : 100 + below(50);
            records.event(who, source, upgrade, cycles);
            plain.event(who, source, upgrade, cycles);
        }
    }

    const RecordsFile file = round_trip(records);
    const Columns &lines = file.tables.at("lines"), &sites = file.tables.at("sites");
    ASSERT_EQ(lines.at("paddr").size(), plain.lines.size());
    ASSERT_EQ(sites.at("paddr").size(), plain.sites.size());
    size_t i = 0;
    for (const auto &[key, site] : plain.sites) {
        EXPECT_EQ(sites.at("paddr")[i], physical(key.first));
        EXPECT_EQ(sites.at("pc")[i], key.second);
        EXPECT_EQ(sites.at("kernel")[i], site.kernel);
        EXPECT_EQ(sites.at("offset")[i], site.offset);
        EXPECT_EQ(sites.at("size")[i], site.size);
        EXPECT_EQ(sites.at("cores")[i], site.cores);
        EXPECT_EQ(sites.at("accesses")[i], site.accesses);
        EXPECT_EQ(sites.at("writes")[i], site.writes);
        EXPECT_EQ(sites.at("upgrades")[i], site.upgrades);
        EXPECT_EQ(sites.at("cycles")[i], site.cycles);
        EXPECT_EQ(sites.at("l3_hits")[i], site.from[0]);
        EXPECT_EQ(sites.at("transfers_same_socket")[i], site.from[1]);
        EXPECT_EQ(sites.at("dram_local")[i], site.from[3]);
        EXPECT_EQ(sites.at("dram_remote")[i], site.from[4]);
        Plain::Line &line = plain.lines[key.first];
        line.cycles += site.cycles;
        i++;
    }
    i = 0;
    for (const auto &[number, line] : plain.lines) {
        EXPECT_EQ(lines.at("paddr")[i], physical(number));
        EXPECT_EQ(lines.at("vaddr")[i], line.vaddr) << number;
        EXPECT_EQ(lines.at("kernel")[i], line.kernel);
        EXPECT_EQ(lines.at("cores")[i], line.cores);
        EXPECT_EQ(lines.at("writers")[i], line.writers);
        EXPECT_EQ(lines.at("l2_hits")[i], line.l2_hits) << number;
        EXPECT_EQ(lines.at("invalidations")[i], line.invalidations);
        EXPECT_EQ(lines.at("writebacks")[i], line.writebacks);
        EXPECT_EQ(lines.at("cycles")[i], line.cycles) << number;
        i++;
    }
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

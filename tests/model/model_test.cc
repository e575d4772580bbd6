// SPDX-License-Identifier: GPL-2.0-or-later
//
// Through the C interface, as the engine does it.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "fast-engine/model/model_abi.h"
#include "tests/model/opteron.h"
#include "tests/native/read_records.h"

namespace mosbench::test {
namespace {

class Model {
  public:
    explicit Model(const Settings &settings)
    {
        const std::string file = testing::TempDir() + "machine.conf";
        std::ofstream(file) << flat(settings);
        char error[256] = "";
        model_ = mosbench_model_create(file.c_str(), &operations, error, sizeof error);
        if (!model_) {
            throw std::runtime_error(error);
        }
        filters_.resize(operations.cores);
        std::vector<model_filter *> filters;
        for (model_filter &filter : filters_) {
            filters.push_back(&filter);
        }
        // The PC's hole below 4 GiB, made small: the second MiB is elsewhere in the guest's physical addresses.
        const model_memory pieces[] = {{0, 0, 1 << 20}, {1 << 20, 0x100000000, 1 << 20}};
        operations.attach(model_, pieces, 2, filters.data(), nullptr);
        operations.warm(model_, 0);
    }
    ~Model() { operations.destroy(model_); }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    uint64_t access(uint16_t core, uint32_t line, model_access_kind kind)
    {
        const model_access access = {
            now, 0x400000, 0x5000 + uint64_t{line} * 64, line, core, static_cast<uint8_t>(kind), 0, false, false, 8, 0, 0, 0, {}};
        const uint64_t wait = operations.access(model_, &access);
        now += wait + operations.l1_cycles;
        return wait;
    }
    void begin() { operations.begin(model_, now); }
    void end() { operations.end(model_, now); }
    RecordsFile records() { return read_records(write()); }
    std::string bytes() { return read_bytes(write()); }
    model *handle() { return model_; }
    const model_filter &filter(uint16_t core) const { return filters_[core]; }

    model_operations operations{};
    uint64_t now = 0;

  private:
    std::string write()
    {
        const std::string path = testing::TempDir() + "model-records.bin";
        char error[256] = "";
        EXPECT_EQ(operations.write_records(model_, path.c_str(), error, sizeof error), 0) << error;
        return path;
    }

    model *model_;
    std::vector<model_filter> filters_;
};

using Values = std::vector<uint64_t>;

TEST(Model, DescribesTheMachine)
{
    Model model(tiny());
    EXPECT_EQ(model.operations.abi_version, static_cast<uint32_t>(MODEL_ABI_VERSION));
    EXPECT_EQ(model.operations.quantum, 60u);
    EXPECT_EQ(model.operations.sockets, 2u);
    EXPECT_EQ(model.operations.cores, 4u);
    EXPECT_EQ(model.operations.l1_cycles, 3u);
    EXPECT_EQ(model.operations.l1d_sets, 8u);
    EXPECT_EQ(model.operations.l1i_sets, 4u);
    EXPECT_EQ(model.operations.clock_ghz, 2.4);
}

TEST(Model, SaysWhatIsWrongWithAMachine)
{
    Settings settings = tiny();
    settings["l2_cycles"] = "three";
    try {
        Model model(settings);
        FAIL();
    } catch (const std::runtime_error &error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("machine file "), std::string::npos);
        EXPECT_NE(text.find("l2_cycles is \"three\", not a whole number"), std::string::npos);
    }
}

TEST(Model, WritesGuestMemoryWhereTheGuestHasIt)
{
    Model model(tiny());
    constexpr size_t kPiece = 1 << 20, kPage = 4096;
    alignas(kPage) static uint8_t memory[2 * kPiece];
    memory[kPiece - kPage] = 41; // last page of the first piece, first of the second
    memory[kPiece] = 42;
    const std::string path = testing::TempDir() + "model-memory.elf";
    char error[256] = "";
    ASSERT_EQ(model.operations.write_snapshot(model.handle(), memory, path.c_str(), error, sizeof error), 0) << error;
    const std::string bytes = read_bytes(path);
    Elf64_Phdr segments[2];
    std::memcpy(segments, bytes.data() + sizeof(Elf64_Ehdr), sizeof segments);
    EXPECT_EQ(segments[0].p_paddr, kPiece - kPage);
    EXPECT_EQ(bytes.at(segments[0].p_offset), 41);
    EXPECT_EQ(segments[1].p_paddr, 0x100000000u);
    EXPECT_EQ(bytes.at(segments[1].p_offset), 42);
    std::filesystem::remove(path);
    EXPECT_EQ(model.operations.write_snapshot(model.handle(), memory, "/nowhere/memory.elf", error, sizeof error), -1);
    EXPECT_EQ(std::string(error), "cannot write /nowhere/memory.elf: No such file or directory");
}

TEST(Model, CountsOnlyBetweenBeginAndEnd)
{
    Model model(tiny());
    model.access(0, 1, MODEL_WRITE);
    model.begin();
    model.access(1, 1, MODEL_WRITE);
    model.operations.sample(model.handle(), 1, 0x123, 1, 4);
    const uint64_t cycles = model.now;
    model.now += 10;
    model.end();
    model.access(0, 1, MODEL_WRITE);
    model.operations.sample(model.handle(), 1, 0x123, 1, 4);
    const model_core_totals totals = {.cycles = 500,
                                      .instructions = 250,
                                      .idle_cycles = 200,
                                      .instruction_cycles = 250,
                                      .l1_cycles = 27,
                                      .pause_cycles = 20,
                                      .device_cycles = 3};
    model.operations.core_totals(model.handle(), 0, &totals);
    const RecordsFile file = model.records();
    EXPECT_EQ(file.tables.at("lines").at("transfers_same_socket"), Values{1});
    EXPECT_EQ(file.tables.at("lines").at("dram_local"), Values{0});
    EXPECT_EQ(file.tables.at("lines").at("cores"), Values{2});
    EXPECT_EQ(file.tables.at("samples").at("count"), Values{4});
    const auto of_core_0 = [&](const char *column) { return file.tables.at("cores").at(column)[0]; };
    EXPECT_EQ(of_core_0("cycles"), 500u);
    EXPECT_EQ(of_core_0("instructions"), 250u);
    EXPECT_EQ(of_core_0("idle_cycles"), 200u);
    EXPECT_EQ(of_core_0("instruction_cycles"), 250u);
    EXPECT_EQ(of_core_0("l1_cycles"), 27u);
    EXPECT_EQ(of_core_0("pause_cycles"), 20u);
    EXPECT_EQ(of_core_0("card_cycles"), 3u);
    EXPECT_NE(file.header.find("\"roi_cycles\":" + std::to_string(10 + cycles - 122)), std::string::npos) << file.header;
}

TEST(Model, LinesHaveThePhysicalAddressOfTheirPiece)
{
    Model model(tiny());
    model.begin();
    model.access(0, 3, MODEL_READ);
    model.access(0, (1 << 14) + 3, MODEL_READ);
    EXPECT_EQ(model.records().tables.at("lines").at("paddr"), (Values{3 * 64, 0x100000000 + 3 * 64}));
}

TEST(Model, WarmForgetsCachesAndBeginKeepsThem)
{
    Model model(tiny());
    EXPECT_EQ(model.access(0, 1, MODEL_READ), 119u);
    model.begin();
    EXPECT_EQ(model.access(0, 1, MODEL_READ), 0u);
    EXPECT_EQ(model.filter(0).pass[1].read, model_place(&model.filter(0), 1));
    model.operations.warm(model.handle(), model.now);
    EXPECT_EQ(model.filter(0).pass[1].read, MODEL_NO_PLACE);
    EXPECT_EQ(model.access(0, 1, MODEL_READ), 119u);
}

TEST(Model, WithCountHitsEveryAccessIsAskedAndCounted)
{
    Settings settings = tiny();
    settings["count_hits"] = "1";
    Model model(settings);
    model.begin();
    for (int i = 0; i < 7; i++) {
        model.access(0, 1, MODEL_READ);
        model.access(0, 1, MODEL_WRITE);
    }
    model.access(1, 1, MODEL_ATOMIC);
    for (int i = 0; i < 3; i++) {
        model.access(0, 2, MODEL_STREAM);
    }
    EXPECT_EQ(model.filter(0).pass[1].read, MODEL_NO_PLACE);
    EXPECT_EQ(model.filter(0).pass[1].write, MODEL_NO_PLACE);
    const RecordsFile file = model.records();
    EXPECT_EQ(file.tables.at("lines").at("reads"), (Values{7, 0}));
    EXPECT_EQ(file.tables.at("lines").at("writes"), (Values{7, 3}));
    EXPECT_EQ(file.tables.at("lines").at("atomics"), (Values{1, 0}));
    EXPECT_EQ(file.tables.at("sites").at("accesses"), (Values{15, 3}));
}

std::string random_run(const Settings &settings)
{
    Model model(settings);
    std::mt19937 random(23);
    auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    for (int i = 0; i < 20'000; i++) {
        if (i == 3'000) {
            model.begin();
        }
        const uint32_t line = below(2) << 14 | below(300);
        model.access(static_cast<uint16_t>(below(4)), line, static_cast<model_access_kind>(below(5)));
        if (below(100) == 0) {
            model.operations.dma(model.handle(), model.now, line, below(2) == 0, below(2) == 0);
        }
    }
    model.end();
    return model.bytes();
}

TEST(Model, EqualRunsGiveEqualBytes)
{
    const std::string first = random_run(tiny());
    EXPECT_GT(first.size(), 10'000u);
    EXPECT_EQ(first, random_run(tiny()));
}

TEST(Model, AccessOutsideMemoryIsFatal)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(Model(tiny()).access(0, 1 << 20, MODEL_READ), "outside the attached memory");
}

} // namespace
} // namespace mosbench::test

// SPDX-License-Identifier: GPL-2.0-or-later
//
// Host nanoseconds (of CPU time: other load does not count) per call of the model, filters honoured as the engine does. Usage:
// bench MACHINE_FILE [PART_OF_A_NAME]; `scons bench` takes the 8 x 6 Opteron.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

#include "fast-engine/model/model_abi.h"

namespace {

// Cores in order of their clocks, as the engine's scheduler runs them.
class Engine {
  public:
    explicit Engine(const char *machine_file)
    {
        char error[512];
        model_ = mosbench_model_create(machine_file, &operations, error, sizeof error);
        if (!model_) {
            std::fprintf(stderr, "%s\n", error);
            std::exit(1);
        }
        filters_.resize(operations.cores);
        std::vector<model_filter *> filters;
        for (model_filter &filter : filters_) {
            filters.push_back(&filter);
        }
        const model_memory memory = {0, 0, uint64_t{operations.sockets} << 30};
        operations.attach(model_, &memory, 1, filters.data(), nullptr);
        operations.warm(model_, 0);
        clock.assign(operations.cores, 0);
    }
    ~Engine() { operations.destroy(model_); }
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    void begin() { operations.begin(model_, 0); }

    void access(uint16_t core, uint32_t line, model_access_kind kind, uint64_t pc = 0x401000)
    {
        const model_filter &filter = filters_[core];
        const uint32_t set = line % operations.l1d_sets;
        clock[core] += operations.l1_cycles;
        const auto &pass = filter.pass[set];
        if ((kind == MODEL_READ ? pass.read : pass.write) == model_place(&filter, line)) {
            return;
        }
        calls++;
        const model_access access = {
            clock[core], pc, uint64_t{line} * 64 + 8, line, core, static_cast<uint8_t>(kind), 0, false, false, 8, 0, 0, 0, {}};
        clock[core] += operations.access(model_, &access);
    }

    // What the engine says where a core stops before an access.
    void expect(uint16_t core, uint32_t line, model_access_kind kind)
    {
        operations.expect(model_, core, line, static_cast<uint8_t>(kind));
    }

    uint16_t slowest() const
    {
        uint16_t core = 0;
        for (uint16_t other = 1; other < clock.size(); other++) {
            core = clock[other] < clock[core] ? other : core;
        }
        return core;
    }

    model_operations operations{};
    std::vector<uint64_t> clock;
    uint64_t calls = 0;

  private:
    model *model_;
    std::vector<model_filter> filters_;
};

const char *wanted = "";

double cpu_nanoseconds()
{
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void measure(const char *machine_file, const char *name, const std::function<void(Engine &)> &prepare,
             const std::function<void(Engine &)> &run)
{
    if (std::strstr(name, wanted) == nullptr) {
        return;
    }
    Engine engine(machine_file);
    engine.begin();
    prepare(engine);
    engine.calls = 0;
    const double start = cpu_nanoseconds();
    run(engine);
    const double nanoseconds = cpu_nanoseconds() - start;
    uint64_t cycles = 0;
    for (uint64_t clock : engine.clock) {
        cycles = clock > cycles ? clock : cycles;
    }
    std::printf("%-44s %8.1f ns a call %10.2f M calls %12.2f M cycles\n", name, nanoseconds / static_cast<double>(engine.calls),
                static_cast<double>(engine.calls) / 1e6, static_cast<double>(cycles) / 1e6);
}

constexpr uint32_t kNodeLines = 1u << 24;

// Every core walks over memory of its own, of its own node. The pieces are spread over the sets of the probe filter.
void walk(Engine &engine, uint32_t lines, uint32_t rounds, model_access_kind kind)
{
    const uint32_t per_socket = engine.operations.cores / engine.operations.sockets;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t line = 0; line < lines; line++) {
            for (uint16_t core = 0; core < engine.operations.cores; core++) {
                const uint32_t first = core / per_socket * kNodeLines + core % per_socket * (lines + 10923);
                engine.access(core, first + line, kind);
                engine.expect(core, first + line + 1, kind);
            }
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench MACHINE_FILE [PART_OF_A_NAME]\n");
        return 2;
    }
    const char *machine = argv[1];
    wanted = argc > 2 ? argv[2] : "";
    const auto nothing = [](Engine &) {};

    measure(machine, "calls of this program: filter hits", nothing, [](Engine &engine) {
        engine.calls = 20'000'000;
        for (uint32_t i = 0; i < 20'000'000; i++) {
            engine.access(0, 7, MODEL_READ);
        }
    });
    measure(machine, "one line, atomics of all cores", nothing, [](Engine &engine) {
        for (uint32_t i = 0; i < 3'000'000; i++) {
            engine.access(static_cast<uint16_t>(i * 7 % engine.operations.cores), 7, MODEL_ATOMIC, 0x401000 + i % 3 * 16);
        }
    });
    measure(machine, "one line, read by all, then written by one", nothing, [](Engine &engine) {
        for (uint32_t i = 0; i < 100'000; i++) {
            for (uint16_t core = 0; core < engine.operations.cores; core++) {
                engine.access(core, 7, MODEL_READ);
            }
            engine.access(static_cast<uint16_t>(i % engine.operations.cores), 7, MODEL_WRITE);
        }
    });
    measure(
        machine, "L2 hits of one core (256 KiB)",
        [](Engine &engine) {
            for (uint32_t line = 0; line < 8192; line++) {
                engine.access(0, line % 4096, MODEL_READ);
            }
        },
        [](Engine &engine) {
            for (uint32_t i = 0; i < 5'000'000; i++) {
                engine.access(0, i % 4096, MODEL_READ);
            }
        });
    measure(
        machine, "L2 hits of all cores (256 KiB each)", [](Engine &engine) { walk(engine, 4096, 2, MODEL_READ); },
        [](Engine &engine) { walk(engine, 4096, 20, MODEL_READ); });
    measure(
        machine, "streaming reads of all cores (4 MiB each)", [](Engine &engine) { walk(engine, 65536, 1, MODEL_READ); },
        [](Engine &engine) { walk(engine, 65536, 2, MODEL_READ); });
    measure(machine, "the same, lines not counted before", nothing, [](Engine &engine) { walk(engine, 65536, 1, MODEL_READ); });
    measure(
        machine, "streaming writes of all cores (4 MiB each)", [](Engine &engine) { walk(engine, 65536, 1, MODEL_WRITE); },
        [](Engine &engine) { walk(engine, 65536, 2, MODEL_WRITE); });
    measure(machine, "streaming reads of one core (64 MiB)", nothing, [](Engine &engine) {
        for (uint32_t round = 0; round < 4; round++) {
            for (uint32_t line = 0; line < 1u << 20; line++) {
                engine.access(0, line, MODEL_READ);
            }
        }
    });
    return 0;
}

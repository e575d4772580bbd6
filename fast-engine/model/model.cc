// SPDX-License-Identifier: GPL-2.0-or-later
//
// The C interface of model_abi.h on top of Coherence and Records.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fast-engine/model/coherence.h"
#include "fast-engine/model/machine_file.h"
#include "fast-engine/model/model_abi.h"
#include "native/records/records_file.h"
#include "native/snapshot/elf_core.h"
#include "native/stack/walker.h"

namespace {

// The stacks of the engine's cores.
class GuestStacks : public mosbench::CallerSource, private mosbench::GuestMemory {
  public:
    GuestStacks(const model_guest &guest, const std::string &kernel) : guest_(guest), walker_(kernel) {}

    std::span<const uint64_t> callers(uint16_t core, uint64_t pc) override
    {
        mosbench::StackRegisters registers{.pc = pc, .stack_pointer = 0, .frame_pointer = 0};
        guest_.stack(core, &registers.stack_pointer, &registers.frame_pointer);
        return walker_.walk(registers, *this);
    }

  private:
    bool read(uint64_t address, uint64_t &value) override { return guest_.read(address, &value); }

    const model_guest guest_;
    mosbench::StackWalker walker_;
};

} // namespace

struct model {
    mosbench::Machine machine;
    std::unique_ptr<GuestStacks> stacks; // may be null
    std::vector<model_memory> memory;
    std::unique_ptr<mosbench::Coherence> coherence; // from attach on
    uint64_t lines = 0;
    uint64_t begun = 0, ended = 0;
};

namespace {

using mosbench::Coherence;
using mosbench::Machine;

void say(char *error, size_t error_bytes, const char *text)
{
    if (error_bytes != 0) {
        std::snprintf(error, error_bytes, "%s", text);
    }
}

// The caller broke the interface's rules; no result of this run can be right.
[[noreturn]] void broken(const char *what)
{
    std::fprintf(stderr, "coherence model: %s\n", what);
    std::abort();
}

void attach(model *self, const model_memory *pieces, size_t count, model_filter *const *filters, model_line_lost *lost)
{
    self->memory.assign(pieces, pieces + count);
    for (const model_memory &piece : self->memory) {
        self->lines = std::max<uint64_t>(self->lines, (piece.offset + piece.bytes) / 64);
    }
    if (self->lines > uint64_t{self->machine.node_mib} * self->machine.sockets << 14) {
        broken("guest memory is larger than the machine's nodes (sockets x node_mib)");
    }
    std::vector<model_filter *> kept;
    if (!self->machine.count_hits) {
        kept.assign(filters, filters + self->machine.cores());
    } else { // never filled, but they must not let anything through
        for (uint32_t core = 0; core < self->machine.cores(); core++) {
            if (filters[core]) {
                std::memset(filters[core], 0xff, sizeof *filters[core]);
            }
        }
    }
    self->coherence = std::make_unique<Coherence>(self->machine, self->lines, kept, lost);
    self->coherence->follow_calls(self->stacks.get());
}

void warm(model *self, uint64_t)
{
    self->coherence->clear();
    self->coherence->count(false);
}

void begin(model *self, uint64_t now)
{
    self->coherence->records().clear();
    self->coherence->count(true);
    self->begun = self->ended = now;
}

void end(model *self, uint64_t now)
{
    self->coherence->count(false);
    self->ended = now;
}

uint64_t access(model *self, const model_access *access)
{
    if (access->line >= self->lines || access->core >= self->machine.cores()) [[unlikely]] {
        broken("access outside the attached memory or by a core that the machine does not have");
    }
    return self->coherence->access(*access);
}

uint64_t serialized(model *self, uint16_t core, uint64_t now)
{
    return self->coherence->serialized(core, now);
}

void expect(model *self, uint16_t core, uint32_t line, uint8_t kind)
{
    if (line < self->lines) {
        self->coherence->expect(core, line, kind == MODEL_FETCH);
    }
}

bool watch(model *self, uint16_t core, const uint32_t *lines, size_t count)
{
    return self->coherence->watch(core, {lines, count});
}

void dma(model *self, uint64_t now, uint32_t line, bool write, bool card)
{
    if (line >= self->lines) [[unlikely]] {
        broken("device access outside the attached memory");
    }
    self->coherence->dma(now, line, write, card);
}

void sample(model *self, uint16_t core, uint64_t pc, uint8_t kernel, uint32_t periods)
{
    self->coherence->sample(core, pc, kernel != 0, periods);
}

void core_totals(model *self, uint16_t core, const model_core_totals *totals)
{
    self->coherence->records().core_totals(core, {.cycles = totals->cycles,
                                                  .instructions = totals->instructions,
                                                  .idle_cycles = totals->idle_cycles,
                                                  .instruction_cycles = totals->instruction_cycles,
                                                  .l1_cycles = totals->l1_cycles,
                                                  .pause_cycles = totals->pause_cycles,
                                                  .card_cycles = totals->device_cycles});
}

uint64_t physical(const model *self, uint32_t line)
{
    const uint64_t offset = uint64_t{line} * 64;
    for (const model_memory &piece : self->memory) {
        if (offset - piece.offset < piece.bytes) {
            return piece.physical + (offset - piece.offset);
        }
    }
    broken("a line was counted that no piece of memory holds");
}

// What `body` says went wrong with the file, or throws, as the interface tells it.
template <typename Body> int write(const char *path, char *error, size_t error_bytes, Body body)
{
    std::string problem;
    try {
        problem = body();
    } catch (const std::exception &exception) {
        problem = std::string("cannot write ") + path + ": " + exception.what();
    }
    say(error, error_bytes, problem.c_str());
    return problem.empty() ? 0 : -1;
}

int write_records(model *self, const char *path, char *error, size_t error_bytes)
{
    const mosbench::FileHeader header = {.engine = "fast",
                                         .machine = self->machine.name,
                                         .period_cycles = self->machine.sample_period_cycles,
                                         .roi_cycles = self->ended - self->begun};
    return write(path, error, error_bytes, [&] {
        return mosbench::write_records(path, header, self->coherence->records(),
                                       [self](uint32_t line) { return physical(self, line); });
    });
}

int write_snapshot(model *self, const void *memory, const char *path, char *error, size_t error_bytes)
{
    return write(path, error, error_bytes, [&] {
        std::vector<mosbench::MemoryRange> ranges;
        for (const model_memory &piece : self->memory) {
            ranges.push_back({.start = piece.physical,
                              .bytes = piece.bytes,
                              .data = static_cast<const uint8_t *>(memory) + piece.offset,
                              .anonymous = true});
        }
        return mosbench::write_elf_core(path, std::move(ranges));
    });
}

int follow_calls(model *self, const model_guest *guest, const char *kernel, char *error, size_t error_bytes)
{
    try {
        self->stacks = std::make_unique<GuestStacks>(*guest, kernel);
        return 0;
    } catch (const std::exception &exception) {
        say(error, error_bytes, exception.what());
        return -1;
    }
}

void destroy(model *self)
{
    delete self;
}

} // namespace

extern "C" __attribute__((visibility("default"))) model *
mosbench_model_create(const char *machine_file, model_operations *operations, char *error, size_t error_bytes)
{
    try {
        auto self = std::make_unique<model>();
        self->machine = mosbench::load_machine(machine_file);
        const Machine &machine = self->machine;
        *operations = {.abi_version = MODEL_ABI_VERSION,
                       .quantum = machine.quantum(),
                       .sockets = machine.sockets,
                       .cores = machine.cores(),
                       .l1_cycles = machine.l1_cycles,
                       .l1d_sets = machine.l1d.sets,
                       .l1i_sets = machine.l1i.sets,
                       .clock_ghz = machine.clock_ghz,
                       .attach = attach,
                       .follow_calls = follow_calls,
                       .warm = warm,
                       .begin = begin,
                       .end = end,
                       .access = access,
                       .serialized = serialized,
                       .expect = expect,
                       .watch = watch,
                       .dma = dma,
                       .sample = sample,
                       .core_totals = core_totals,
                       .write_records = write_records,
                       .write_snapshot = write_snapshot,
                       .destroy = destroy};
        return self.release();
    } catch (const std::exception &exception) {
        say(error, error_bytes, exception.what());
        return nullptr;
    }
}

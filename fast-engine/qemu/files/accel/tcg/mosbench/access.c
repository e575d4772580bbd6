/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From an access that the inline filter let through to the model, and its wait to the core's clock.
 */
#include "qemu/osdep.h"
#include "exec/cpu_ldst.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "mosbench/hooks.h"
#include "accel/tcg/tb-context.h"
#include "tcg/tcg.h"
#include "arena.h"
#include "budget.h"
#include "core.h"
#include "guest_clock.h"
#include "settings.h"
#include "sleep.h"
#include "stacks.h"
#include "stop.h"

#define MAX_REFUSALS 4

static inline bool in_arena(uintptr_t host)
{
    return host - mosbench_arena < mosbench_arena_used();
}

static inline uint32_t line_of(uintptr_t host)
{
    return (uint32_t)(host >> 6);
}

static inline bool filtered(CPUArchState *env, uint32_t line, unsigned kind)
{
    const struct model_filter *filter = &cpu_neg(env_cpu(env))->mosbench_filter;

    switch (kind) {
    case MODEL_READ:
    case MODEL_WALK:
        return filter->pass[line & mosbench_l1d_mask].read == model_place(filter, line);
    case MODEL_ATOMIC:
        return filter->pass[line & mosbench_l1d_mask].write == model_place(filter, line) && !filter->stores_under_way;
    case MODEL_FETCH:
        return filter->fetch[line & mosbench_l1i_mask] == line;
    case MODEL_STREAM:
        return false;
    default:
        return filter->pass[line & mosbench_l1d_mask].write == model_place(filter, line);
    }
}

/* What of an access lies in one line. */
typedef struct Part {
    uint64_t address;
    uint8_t size;
} Part;

static inline Part part_in(uint32_t line, uintptr_t host, uint64_t address, unsigned size)
{
    unsigned before = line == line_of(host) ? 0 : (line - line_of(host)) * LINE_BYTES - host % LINE_BYTES;

    return (Part) { address + before, MIN(size - before, LINE_BYTES - (host + before) % LINE_BYTES) };
}

/* Instructions of the core up to the end of its block. */
static inline uint64_t instructions_so_far(CPUArchState *env, const Core *core)
{
    return core->instructions + cpu_neg(env_cpu(env))->mosbench_instructions;
}

/* `teller`: the return address of generated code that has said what it knows of the access, or 0. */
static void add_told(CPUArchState *env, const Core *core, struct model_access *access, uintptr_t teller)
{
    const CPUNegativeOffsetState *neg = cpu_neg(env_cpu(env));

    access->instruction = instructions_so_far(env, core);
    if (teller) {
        access->block = access->instruction;
        access->instruction -= MOSBENCH_TOLD_INSTRUCTIONS(neg->mosbench_told);
        access->load = MOSBENCH_TOLD_LOAD(neg->mosbench_told);
        access->origin = neg->mosbench_origin;
    }
    if (access->kind == MODEL_WALK) {
        access->origin.into_registers = 0;
    }
}

/* `return_address`: 0, or where the instruction can be left; it then starts anew when its turn has come. `teller`: see add_told(). */
static void perform(CPUArchState *env, Core *core, uint32_t line, Part part, uint64_t pc, unsigned kind, uint32_t remaining,
                    uintptr_t return_address, uintptr_t teller)
{
    struct model_access access = {
        /* Never further than the slice goes: an access that could not be refused must not book queues in others' future. */
        .now = MIN(mosbench_core_now(core, remaining), core->time.limit),
        .pc = pc,
        .address = part.address,
        .line = line,
        .core = env_cpu(env)->cpu_index,
        .kind = kind,
        .kernel = (env->hflags & HF_CPL_MASK) == 0,
        .may_defer = return_address != 0,
        .size = part.size,
    };
    uint64_t wait;

    add_told(env, core, &access, teller);
    wait = mosbench_operations.access(mosbench_model, &access);
    core->time.calm_slices = 0;
    core->spin.observing = false;
    if (unlikely(wait & MODEL_DEFERRED)) {
        mosbench_core_defer(core, wait & ~MODEL_DEFERRED, return_address);
    }
    if (wait) {
        mosbench_core_wait(core, wait);
    }
}

/* Others' earlier accesses come first: the instruction starts anew when this core is the slowest again, and that only
 * MAX_REFUSALS times, so two cores cannot starve each other. */
static inline void give_way(Core *core, uint32_t line, unsigned kind, uint64_t pc, uint32_t remaining, uintptr_t return_address)
{
    if (mosbench_core_now(core, remaining) >= MIN(core->time.limit, core->time.ordered) &&
        (core->refused_pc != pc || core->refusals < MAX_REFUSALS)) {
        core->refusals = core->refused_pc == pc ? core->refusals + 1 : 1;
        core->refused_pc = pc;
        mosbench_operations.expect(mosbench_model, core->cpu->cpu_index, line, kind);
        mosbench_core_yield(core, return_address);
    }
    core->refused_pc = 0;
}

/* The same where the core can stop and go on: an access that generated code is about to make, its host address in hand. Memory
 * does not move and nothing else is held, so the access is as good later. */
static void perform_in_order(Core *core, uint32_t remaining, uintptr_t return_address)
{
    struct model_access *access = &core->access;
    uint64_t wait = 0;
    bool deferred = false, now;

    core->time.calm_slices = 0;
    access->now = mosbench_core_now(core, remaining);
    now = (int64_t)access->now < core->time.limit;
    if (now) {
        access->early = (int64_t)access->now >= core->time.ordered;
        wait = mosbench_operations.access(mosbench_model, access);
        deferred = (wait & MODEL_DEFERRED) != 0;
    }
    if (!now) {
        mosbench_operations.expect(mosbench_model, access->core, access->line, access->kind);
    }
    if (!now || deferred) {
        uint64_t away = deferred ? wait & ~MODEL_DEFERRED : 0;
        if (!mosbench_core_stand(core, away, away != 0, remaining)) {
            mosbench_core_start_anew(core, return_address);
        }
        wait = core->answer;
    } else if (wait) {
        mosbench_core_wait(core, wait);
    }
    if (unlikely(core->spin.observing)) {
        mosbench_spin_access(core, access->line, access->kind, wait != 0);
    }
}

void mosbench_miss(void *opaque, uintptr_t host, uint64_t address, uint64_t pc, uint32_t info, uintptr_t return_address)
{
    CPUArchState *env = opaque;
    Core *core = mosbench_core_of(env_cpu(env));
    struct model_access *access = &core->access;
    unsigned size = MOSBENCH_INFO_SIZE(info);
    uint32_t remaining = MOSBENCH_INFO_REMAINING(info);
    uint32_t last;
    Part part;

    if (!in_arena(host)) {
        return;
    }
    part = part_in(line_of(host), host, address, size);
    *access = (struct model_access) {
        .pc = pc,
        .address = address,
        .line = line_of(host),
        .core = env_cpu(env)->cpu_index,
        .kind = MOSBENCH_INFO_KIND(info),
        .kernel = (env->hflags & HF_CPL_MASK) == 0,
        .may_defer = true,
        .size = part.size,
    };
    add_told(env, core, access, return_address);
    __builtin_prefetch((void *)host);    /* others and the model come before the access itself */
    last = line_of(host + size - 1);
    if (unlikely(!mosbench_can_stop(core))) {
        for (uint32_t line = access->line; line <= last; line++) {
            perform(env, core, line, part_in(line, host, address, size), pc, access->kind, remaining, 0,
                    return_address);
        }
        return;
    }
    perform_in_order(core, remaining, return_address);
    if (unlikely(last != access->line)) {
        part = part_in(last, host, address, size);
        access->line = last;
        access->address = part.address;
        access->size = part.size;
        perform_in_order(core, remaining, return_address);
    }
}

/* The same for places of late: a page walk asks four times, and code that often misses the TLB does so again. Generated code stays
 * where it is until all of it goes. */
typedef struct Place {
    uintptr_t return_address;
    unsigned flushes;
    uint32_t remaining;
    uint64_t pc;
} Place;
#define PLACES 1024

/* The program counter and the cycles of its block still to come, for a place in generated code. */
static void locate(CPUArchState *env, uintptr_t return_address, uint64_t *pc, uint32_t *remaining)
{
    static Place places[PLACES];
    uint64_t data[TARGET_INSN_START_WORDS];
    Place *place = &places[return_address % PLACES];
    unsigned flushes = qatomic_read(&tb_ctx.tb_flush_count);
    TranslationBlock *block;

    if (return_address && place->return_address == return_address && place->flushes == flushes) {
        *pc = place->pc;
        *remaining = place->remaining;
        return;
    }
    block = return_address ? tcg_tb_lookup(return_address) : NULL;
    if (block && cpu_unwind_state_data(env_cpu(env), return_address, data)) {
        *pc = data[0];
        *remaining = block->mosbench_cycles - (uint32_t)(data[1] >> MOSBENCH_DATA_SHIFT);
        *place = (Place) { return_address, flushes, *remaining, *pc };
    } else {
        *pc = env->eip + env->segs[R_CS].base;
        *remaining = 0;
    }
}

bool mosbench_store_begun;

void mosbench_access(void *opaque, void *place, unsigned size, uint64_t address, unsigned kind, uintptr_t return_address)
{
    CPUArchState *env = opaque;
    Core *core = mosbench_core_of(env_cpu(env));
    uintptr_t host = (uintptr_t)place, leave = mosbench_store_begun ? 0 : return_address;
    uint64_t pc;
    uint32_t remaining;
    uintptr_t teller = return_address == cpu_neg(env_cpu(env))->mosbench_teller ? return_address : 0;

    mosbench_store_begun = false;
    core->spin.observing = false;
    if (!in_arena(host)) {
        return;
    }
    for (uint32_t line = line_of(host); line <= line_of(host + size - 1); line++) {
        if (!filtered(env, line, kind)) {
            locate(env, return_address, &pc, &remaining);
            if (leave) {
                give_way(core, line, kind, pc, remaining, leave);    /* as safe as a page fault, which it could be */
            }
            perform(env, core, line, part_in(line, host, address, size), pc, kind, remaining, leave, teller);
        }
    }
}

/* A page walk does not know what it walks for; the TLB fill says so before it starts. */
static uint64_t walk_address;
static uintptr_t walk_return_address;

void mosbench_walk_for(uint64_t address, uintptr_t return_address)
{
    walk_address = address;
    walk_return_address = return_address;
}

void mosbench_walk(void *env, void *host)
{
    if (mosbench_hooks) {
        mosbench_access(env, host, 8, walk_address, MODEL_WALK, walk_return_address);
    }
}

/* The fetch check of a block found a line that is not the last used of its set. */
void HELPER(mosbench_fetch)(CPUX86State *env, uint64_t pc, uint64_t host, uint32_t bytes)
{
    Core *core = mosbench_core_of(env_cpu(env));

    for (uint32_t line = line_of(host); line <= line_of(host + bytes - 1); line++) {
        if (!filtered(env, line, MODEL_FETCH)) {
            perform(env, core, line, (Part) { pc & ~(uint64_t)(LINE_BYTES - 1), LINE_BYTES }, pc, MODEL_FETCH, 0, 0, 0);
        }
        pc = ROUND_UP(pc + 1, LINE_BYTES);
    }
}

bool mosbench_dma_of_card;

void mosbench_dma(void *place, size_t bytes, bool write)
{
    uintptr_t host = (uintptr_t)place;

    if (!mosbench_hooks || !bytes || !in_arena(host)) {
        return;
    }
    for (uint32_t line = line_of(host); line <= line_of(host + bytes - 1); line++) {
        mosbench_operations.dma(mosbench_model, mosbench_now(), line, write, mosbench_dma_of_card);
    }
}

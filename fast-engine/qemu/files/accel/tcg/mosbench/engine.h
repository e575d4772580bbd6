/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inside of the fast engine: what scheduler, clock, access path and region-of-interest control share.
 */
#ifndef MOSBENCH_ENGINE_H
#define MOSBENCH_ENGINE_H

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "hw/core/cpu.h"
#include "mosbench/hooks.h"
#include "mosbench/model_abi.h"

#define MAX_CORES 64
#define NEVER INT64_MAX
#define LINE_BYTES 64u
/* Bring-up of application processors spins on guest time; at the full clock it would spin for billions of instructions. */
#define MOSBENCH_BOOT_CLOCK_GHZ 0.1

/* A loop with PAUSE as spin.c sees it. */
typedef struct Spin {
    uint64_t pc, registers[CPU_NB_REGS], flags[4];    /* at the last PAUSE */
    int64_t clock, instructions;
    bool observing;        /* the round under way has done nothing but read */
    unsigned lines;
    uint32_t line[MODEL_MAX_WATCHED];
    int64_t round_cycles, round_instructions;
} Spin;

/* A core as the scheduler sees it. `clock` is exact between slices; inside one, what the budget has lost comes on top. */
typedef struct Core {
    /* What the scheduler looks at comes first: with many cores it is cold. */
    int64_t clock;         /* cycles; of one that waits before an access, when that is to happen */
    int64_t limit;         /* accesses that reach the model are before it */
    int64_t ordered;       /* those that ask others are before this as well */
    int64_t far;           /* blocks begin before it */
    int64_t next_sample;
    CPUState *cpu;
    void *stack;           /* where it stopped; NULL: has not run yet */
    int32_t budget;        /* cycles given to the generated code at the last refill */
    uint32_t calm_slices;  /* ended without a call of the model since its last one */
    int result;            /* of cpu_exec, or EXCP_INTERRUPT where the core stopped inside it */
    bool cut;              /* the last slice ended before its limit */
    bool waiting;          /* stands before an access, in the middle of a block: the loop makes it when its time has come */
    bool answered;         /* the loop has made it, and what it costs is in the clock */
    bool at_head;          /* stands at the beginning of a block */
    bool start_anew;       /* it is to leave the block there and to start the block or instruction anew */
    bool deferred;         /* sent away from a busy line until its clock: its turn */
    bool asleep;           /* in a spin loop: the clock is ahead; nothing happens until then unless the core is woken */
    struct model_access access;     /* that the core makes or stands before */
    uint64_t code_pages;   /* mosbench_code_pages when it stopped there */
    uint64_t answer;
    int64_t instructions;
    int64_t idle;          /* cycles halted */
    uint64_t refused_pc;   /* instruction whose access was refused last, and how often in a row */
    unsigned refusals;
    Spin spin;
} QEMU_ALIGNED(64) Core;

/* The core's next access to the line of its last call is a call again. */
static inline void mosbench_forget_held(Core *core)
{
    struct model_filter *filter = &cpu_neg(core->cpu)->mosbench_filter;

    filter->held_read = filter->held_write = MODEL_NO_LINE;
}

extern Core mosbench_cores[MAX_CORES];
extern int mosbench_core_count;

/* Settings of `-object mosbench-engine`. */
typedef struct EngineSettings {
    char *machine;         /* resolved machine, "key value" lines */
    char *model;           /* shared object of the coherence model; NULL: order and clock only */
    char *output;          /* folder for records.bin, memory.elf, engine.json */
    uint32_t quantum;      /* cycles; 0: the model's */
    bool reverse;          /* break ties of equal clocks from the highest core down: a check, results must not depend on it */
    bool snapshot;         /* write memory.elf at the end of the region */
    double clock_ghz;
    uint32_t sample_period;
    uint32_t tlb_entries;
} EngineSettings;

extern EngineSettings mosbench_settings;
extern struct model *mosbench_model;
extern struct model_operations mosbench_operations;
extern bool mosbench_counting;

/* scheduler.c */
int64_t mosbench_now(void);                     /* cycles: of the core that runs, else of the scheduler */
void mosbench_set_clock_ghz(double ghz);
int64_t mosbench_core_now(Core *core, uint32_t remaining);
void mosbench_core_wait(Core *core, uint64_t cycles);
bool mosbench_core_stand(Core *core, int64_t until, bool deferred, uint32_t remaining);
bool mosbench_core_over(const Core *core);
G_NORETURN void mosbench_core_start_anew(Core *core, uintptr_t return_address);
G_NORETURN void mosbench_core_yield(Core *core, uintptr_t return_address);
G_NORETURN void mosbench_core_defer(Core *core, int64_t until, uintptr_t return_address);
int64_t mosbench_total_instructions(void);
void mosbench_wake_all(int64_t now);
void mosbench_line_lost(uint16_t core, uint64_t now);
extern uint64_t mosbench_switches, mosbench_refused, mosbench_deferred;

/* stacks.c */
void mosbench_rcu_enter(void);
void mosbench_rcu_leave(void);

/* spin.c */
bool mosbench_spin_pause(Core *core, const CPUX86State *env, uint64_t pc);
void mosbench_spin_access(Core *core, uint32_t line, unsigned kind, bool waited);
void mosbench_spin_shorten(Core *core, int64_t now);
void mosbench_spin_end(Core *core);
extern uint64_t mosbench_skipped;               /* instructions that cores slept through */

/* region.c */
void mosbench_region_init(void);
void mosbench_marker(CPUState *cpu, uint32_t id);

/* snapshot.c */
bool mosbench_write_snapshot(const char *path, Error **errp);
size_t mosbench_memory_pieces(struct model_memory *pieces, size_t room);
uint64_t mosbench_arena_used(void);

#endif

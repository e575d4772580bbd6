/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A core as the engine sees it.
 */
#ifndef MOSBENCH_CORE_H
#define MOSBENCH_CORE_H

#include "cpu.h"
#include "hw/core/cpu.h"
#include "mosbench/model_abi.h"
#include "logic/core_time.h"
#include "logic/spin.h"

#define LINE_BYTES 64u

typedef struct Core {
    /* What the loop looks at comes first: with many cores it is cold. */
    CoreTime time;
    CPUState *cpu;
    void *stack;           /* where it stopped; NULL: has not run yet */
    int result;            /* of cpu_exec, or EXCP_INTERRUPT where the core stopped inside it */
    bool at_head;          /* stands at the beginning of a block */
    bool start_anew;       /* it is to leave the block there and to start the block or instruction anew */
    bool asleep;           /* in a spin loop: the clock is ahead; nothing happens until then unless the core is woken */
    struct model_access access;     /* that the core makes or stands before */
    uint64_t code_pages;   /* mosbench_code_pages when it stopped there */
    uint64_t answer;
    int64_t instructions;  /* without those of rounds that it sleeps through still */
    int64_t idle;          /* cycles halted */
    int64_t issued;        /* cycles of instructions with their L1 hits, without PAUSE */
    int64_t paused;        /* cycles in PAUSE */
    int64_t device;        /* cycles waited for devices */
    uint64_t refused_pc;   /* instruction whose access was refused last, and how often in a row */
    unsigned refusals;
    Spin spin;
} QEMU_ALIGNED(64) Core;

extern Core mosbench_cores[MAX_CORES];
extern int mosbench_core_count;

/* What the cores did, for engine.json. */
typedef struct CoreCounts {
    uint64_t switches;     /* from one core to another */
    uint64_t refused;      /* accesses that had to wait for others' earlier ones */
    uint64_t deferred;     /* accesses sent away from a busy line */
    uint64_t skipped;      /* instructions that cores slept through */
} CoreCounts;

extern CoreCounts mosbench_counts;

static inline Core *mosbench_core_of(const CPUState *cpu)
{
    return &mosbench_cores[cpu->cpu_index];
}

/* The core's next access to the line of its last call is a call again. */
static inline void mosbench_forget_held(const Core *core)
{
    struct model_filter *filter = &cpu_neg(core->cpu)->mosbench_filter;

    filter->held_read = filter->held_write = MODEL_NO_LINE;
}

#endif

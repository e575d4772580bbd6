/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Between a core's clock and the generated code, which counts cycles down and instructions up in one 64-bit word.
 */
#ifndef MOSBENCH_BUDGET_H
#define MOSBENCH_BUDGET_H

#include "core.h"

static inline int32_t mosbench_budget_left(CPUState *cpu)
{
    return (int16_t)cpu_neg(cpu)->icount_decr.u16.low;
}

static inline void mosbench_account(Core *core)
{
    CPUState *cpu = core->cpu;
    int64_t before = core->time.clock;

    core_time_charge(&core->time, mosbench_budget_left(cpu));
    core->issued += core->time.clock - before;
    core->instructions += cpu_neg(cpu)->mosbench_instructions;
    cpu_neg(cpu)->mosbench_instructions = 0;
}

/* An exit that was asked for stays asked for. */
static inline void mosbench_refill(Core *core)
{
    CPUState *cpu = core->cpu;
    bool asked = cpu_neg(cpu)->icount_decr.u16.high != 0 && core->time.budget >= 0;

    core_time_refill(&core->time);
    cpu_neg(cpu)->mosbench_margin = core_time_margin(&core->time);
    cpu_neg(cpu)->icount_decr.u32 = (uint16_t)core->time.budget;
    if (asked || core->time.budget < 0) {
        cpu_neg(cpu)->icount_decr.u16.high = -1;
    }
}

/* The clock inside a slice, `remaining` cycles before the end of what is charged. */
static inline int64_t mosbench_core_now(const Core *core, uint32_t remaining)
{
    return core->time.clock + (core->time.budget - mosbench_budget_left(core->cpu)) - remaining;
}

static inline void mosbench_core_wait(Core *core, uint64_t cycles)
{
    mosbench_account(core);
    core->time.clock += cycles;
    mosbench_refill(core);
}

#endif

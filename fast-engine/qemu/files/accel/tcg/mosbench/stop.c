/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See stop.h.
 */
#include "qemu/osdep.h"
#include "stop.h"
#include "exec/exec-all.h"
#include "mosbench/hooks.h"
#include "budget.h"
#include "stacks.h"

static inline void count_stop(bool deferred)
{
    if (deferred) {
        mosbench_counts.deferred++;
    } else {
        mosbench_counts.refused++;
    }
}

bool mosbench_store_is_stale(const Core *core)
{
    return core->code_pages != mosbench_code_pages &&
           (core->access.kind == MODEL_WRITE || core->access.kind == MODEL_STREAM);
}

bool mosbench_core_stand(Core *core, uint64_t away, bool deferred, uint32_t remaining)
{
    count_stop(deferred);
    mosbench_account(core);
    core_time_stand(&core->time, away, deferred, remaining);
    core->code_pages = mosbench_code_pages;
    mosbench_stop(core);
    core_time_go_on(&core->time, remaining);
    if (core->start_anew) {
        core->start_anew = false;
        return false;
    }
    if (mosbench_store_is_stale(core)) {    /* others ran after its access was made, too */
        return false;
    }
    mosbench_refill(core);
    return true;
}

void mosbench_give_back(void *opaque, uint32_t cycles, uint32_t instructions)
{
    CPUState *cpu = opaque;

    cpu_neg(cpu)->icount_decr.u16.low += cycles;
    /* Not in the word itself: what the block counted there may have been taken out since. */
    mosbench_core_of(cpu)->instructions -= instructions;
}

G_NORETURN static void leave(Core *core, uint64_t away, uintptr_t return_address)
{
    cpu_restore_state(core->cpu, return_address);    /* gives the block's unexecuted cycles back */
    mosbench_account(core);
    core->time.clock += away;
    core_time_end_at(&core->time, core->time.clock);
    mosbench_refill(core);
    cpu_loop_exit(core->cpu);
}

void mosbench_core_start_anew(Core *core, uintptr_t return_address)
{
    leave(core, 0, return_address);
}

void mosbench_core_yield(Core *core, uintptr_t return_address)
{
    count_stop(false);
    leave(core, 0, return_address);
}

void mosbench_core_defer(Core *core, uint64_t away, uintptr_t return_address)
{
    count_stop(true);
    core->time.deferred = true;
    leave(core, away, return_address);
}

/* The budget is used up, and the core not in generated code, or somebody asked it to leave that. */
void mosbench_slice_over(void *cpu)
{
    mosbench_stop(mosbench_core_of(cpu));
}

/* Who stands in generated code leaves it and starts anew. */
void mosbench_before_flush(void)
{
    CPUState *before = current_cpu;

    for (int i = 0; i < mosbench_core_count; i++) {
        Core *core = &mosbench_cores[i];
        if (core->time.waiting || core->time.answered || core->at_head) {
            core->start_anew = true;
            mosbench_resume(core);
        }
    }
    current_cpu = before;
}

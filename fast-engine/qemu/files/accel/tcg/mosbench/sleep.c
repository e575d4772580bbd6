/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See sleep.h.
 */
#include "qemu/osdep.h"
#include "sleep.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "mosbench/hooks.h"
#include "budget.h"
#include "run_queue.h"
#include "settings.h"
#include "slice.h"

/* The round's accesses are all to be asked about. */
static void observe(Core *core)
{
    struct model_filter *filter = &cpu_neg(core->cpu)->mosbench_filter;

    memset(filter->pass, 0xff, (mosbench_l1d_mask + 1) * sizeof(filter->pass[0]));    /* MODEL_NO_PLACE */
    mosbench_forget_held(core);
}

/* The core, whose clock is exact, has executed PAUSE. True: it sleeps, its clock is ahead. */
static bool fall_asleep(Core *core, const CPUX86State *env, uint64_t pc)
{
    const uint64_t flags[SPIN_FLAGS] = { env->cc_dst, env->cc_src, env->cc_src2, env->cc_op };
    Spin *spin = &core->spin;

    QEMU_BUILD_BUG_ON(sizeof(env->regs) != sizeof(spin->registers));
    QEMU_BUILD_BUG_ON(SPIN_MAX_LINES > MODEL_MAX_WATCHED);
    switch (spin_pause(spin, pc, env->regs, flags, core->time.clock, core->instructions)) {
    case SPIN_OBSERVE:
        observe(core);
        return false;
    case SPIN_SLEEP:
        if (!mosbench_operations.watch(mosbench_model, core->cpu->cpu_index, spin->line, spin->lines)) {
            spin_forget(spin);
            return false;
        }
        core->asleep = true;
        core->time.clock = spin_sleep_end(spin);
        return true;
    default:
        return false;
    }
}

/* PAUSE lets all others come first. */
void HELPER(mosbench_pause)(CPUX86State *env, uint64_t pc)
{
    int index = env_cpu(env)->cpu_index;
    Core *core = &mosbench_cores[index];
    int64_t other = order_other(&mosbench_order, index);

    mosbench_account(core);
    core->time.clock += mosbench_settings.pause_cycles;
    core->paused += mosbench_settings.pause_cycles;
    if (mosbench_hooks && fall_asleep(core, env, pc)) {
        other = 0;
    }
    core_time_end_at(&core->time, other);
    mosbench_slice.yielded = core->time.far <= core->time.clock;
    mosbench_refill(core);
}

void mosbench_spin_access(Core *core, uint32_t line, unsigned kind, bool waited)
{
    if (spin_access(&core->spin, line, kind == MODEL_READ && !waited)) {
        cpu_neg(core->cpu)->mosbench_filter.pass[line & mosbench_l1d_mask].write = MODEL_NO_PLACE;
        mosbench_forget_held(core);
    }
}

void mosbench_wake(int index, int64_t now)
{
    Core *core = &mosbench_cores[index];
    Core *other = mosbench_running();

    if (!core->asleep) {
        return;
    }
    core->time.clock = earlier(core->time.clock, spin_round_from(&core->spin, now));
    mosbench_order_update(index, true);
    if (other && other != core) {
        core_time_other_woken(&other->time, core->time.clock, mosbench_quantum);
        mosbench_account(other);
        mosbench_refill(other);
    }
}

void mosbench_wake_all(int64_t now)
{
    for (int i = 0; i < mosbench_core_count; i++) {
        mosbench_wake(i, now);
    }
}

void mosbench_line_lost(uint16_t core, uint64_t now)
{
    mosbench_wake(core, now);
}

SleptThrough mosbench_slept_through(const Core *core)
{
    int64_t rounds = core->asleep ? spin_rounds(&core->spin, core->time.clock) : 0;

    /* A round ends with PAUSE, and waits for nothing. */
    return (SleptThrough) {
        .instructions = rounds * core->spin.round_instructions,
        .issued = rounds * (core->spin.round_cycles - mosbench_settings.pause_cycles),
        .paused = rounds * mosbench_settings.pause_cycles,
    };
}

void mosbench_sleep_end(Core *core)
{
    SleptThrough slept = mosbench_slept_through(core);

    core->asleep = false;
    core->instructions += slept.instructions;
    core->issued += slept.issued;
    core->paused += slept.paused;
    mosbench_counts.skipped += slept.instructions;
}

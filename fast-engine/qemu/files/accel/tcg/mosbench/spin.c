/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A core that spins on memory sleeps until the memory changes. Round a loop with PAUSE in it that left all registers as they were,
 * stored nothing, saw no clock and no device and only read lines that it holds, every further round is the same until a line is
 * taken away or an interrupt comes. So the core's clock is set some rounds ahead, and back to the first round that can see
 * a difference. Its cycles and instructions are those of the rounds; only host time is saved.
 */
#include "engine.h"

/* A round is no longer, and a core looks again after so many cycles, should it wait for something that the model does not see. */
#define MAX_ROUND_CYCLES 1000
#define MAX_SLEEP_CYCLES 16384

uint64_t mosbench_skipped;

static bool same_state(Spin *spin, const CPUX86State *env, uint64_t pc)
{
    const uint64_t flags[] = { env->cc_dst, env->cc_src, env->cc_src2, env->cc_op };
    bool same = spin->pc == pc && !memcmp(spin->registers, env->regs, sizeof(env->regs)) &&
                !memcmp(spin->flags, flags, sizeof(flags));

    if (!same) {
        spin->pc = pc;
        memcpy(spin->registers, env->regs, sizeof(env->regs));
        memcpy(spin->flags, flags, sizeof(flags));
    }
    return same;
}

static void observe(Core *core)
{
    struct model_filter *filter = &cpu_neg(core->cpu)->mosbench_filter;

    /* The round's accesses are all to be asked about. */
    memset(filter->pass, 0xff, (mosbench_l1d_mask + 1) * sizeof(filter->pass[0]));    /* MODEL_NO_PLACE */
    mosbench_forget_held(core);
    core->spin.lines = 0;
    core->spin.observing = true;
}

/* The core, whose clock is exact, has executed PAUSE. True: it sleeps, its clock is ahead. */
bool mosbench_spin_pause(Core *core, const CPUX86State *env, uint64_t pc)
{
    Spin *spin = &core->spin;
    int64_t cycles = core->clock - spin->clock;
    int64_t instructions = core->instructions - spin->instructions;
    bool observed = spin->observing && spin->lines && cycles <= MAX_ROUND_CYCLES;

    spin->observing = false;
    spin->clock = core->clock;
    spin->instructions = core->instructions;
    if (!same_state(spin, env, pc)) {
        return false;
    }
    if (!observed) {
        observe(core);
        return false;
    }
    if (!mosbench_operations.watch(mosbench_model, core->cpu->cpu_index, spin->line, spin->lines)) {
        spin->pc = 0;
        return false;
    }
    core->asleep = true;
    spin->round_cycles = cycles;
    spin->round_instructions = instructions;
    core->clock += MAX_SLEEP_CYCLES / cycles * cycles;
    return true;
}

/* An access of the round under observation that reached the model. */
void mosbench_spin_access(Core *core, uint32_t line, unsigned kind, bool waited)
{
    Spin *spin = &core->spin;
    unsigned i = 0;

    while (i < spin->lines && spin->line[i] != line) {
        i++;
    }
    if (kind != MODEL_READ || waited || i == MODEL_MAX_WATCHED) {
        spin->observing = false;
        return;
    }
    spin->line[i] = line;
    spin->lines = MAX(spin->lines, i + 1);
    cpu_neg(core->cpu)->mosbench_filter.pass[line & mosbench_l1d_mask].write = MODEL_NO_PLACE;
    mosbench_forget_held(core);
}

/* The core's clock, whose sleep ends at `now` if it has not ended before: that of the first round not before. */
void mosbench_spin_shorten(Core *core, int64_t now)
{
    int64_t rounds = now <= core->spin.clock ? 0 : DIV_ROUND_UP(now - core->spin.clock, core->spin.round_cycles);

    core->clock = MIN(core->clock, core->spin.clock + rounds * core->spin.round_cycles);
}

/* The core runs again. */
void mosbench_spin_end(Core *core)
{
    int64_t instructions = (core->clock - core->spin.clock) / core->spin.round_cycles * core->spin.round_instructions;

    core->asleep = false;
    core->instructions += instructions;
    mosbench_skipped += instructions;
}

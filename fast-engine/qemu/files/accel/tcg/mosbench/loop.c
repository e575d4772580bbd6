/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One host thread runs all cores in the order of their clocks: always the slowest (logic/order.h), as far as logic/core_time.h
 * says. Nothing depends on the host's time: the same input gives the same run.
 */
#include "qemu/osdep.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "hw/core/tcg-cpu-ops.h"
#include "mosbench/hooks.h"
#include "qemu/guest-random.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "sysemu/cpus.h"
#include "tcg/tcg.h"
#include "budget.h"
#include "debugger.h"
#include "guest_clock.h"
#include "region.h"
#include "run_queue.h"
#include "settings.h"
#include "sleep.h"
#include "slice.h"
#include "stacks.h"
#include "stop.h"

/* What is asked for of a core's stack and of its registers. */
#define STACK_AHEAD 512
#define REGISTERS_AHEAD 256

/* Which cores can run, and when the next timer is due. With the big lock held. */
static bool survey(bool *all_stopped)
{
    bool any = false;
    int64_t now = guest_time_latest(&mosbench_time);

    *all_stopped = true;
    for (int i = 0; i < mosbench_core_count; i++) {
        Core *core = &mosbench_cores[i];
        bool can_run = core->cpu && cpu_can_run(core->cpu);

        if (can_run) {
            *all_stopped = false;
        }
        if (can_run && (!core->cpu->halted || cpu_has_work(core->cpu))) {
            any = true;
            if (!order_has(&mosbench_order, i)) {
                core->idle += core_time_idle_until(&core->time, now);
            }
            mosbench_order_update(i, true);
        } else {
            mosbench_order_update(i, false);
        }
    }
    mosbench_time.deadline = mosbench_next_deadline();
    return any;
}

static void take_sample(Core *core, int index)
{
    uint32_t periods = core_time_sample(&core->time, mosbench_settings.sample_period);

    if (periods) {
        CPUX86State *env = core->cpu->env_ptr;
        mosbench_operations.sample(mosbench_model, index, core->time.waiting ? core->access.pc : env->eip,
                                   (env->hflags & HF_CPL_MASK) == 0, periods);
    }
}

/* Make the access that a core stands before, whose time has come. It need not run for that, and when it has to wait for its turn it
 * stands there still. */
static void make_access(int index)
{
    Core *core = &mosbench_cores[index];
    int64_t limit = core_time_bounds(&core->time, &mosbench_order, index, mosbench_quantum).limit;
    uint64_t answer;

    if (mosbench_store_is_stale(core)) {
        core->start_anew = true;
        return;
    }
    core->access.now = core->time.clock;
    core->access.early = false;
    answer = mosbench_operations.access(mosbench_model, &core->access);
    if (answer & MODEL_DEFERRED) {
        core_time_sent_away(&core->time, answer & ~MODEL_DEFERRED);
        mosbench_counts.deferred++;
        if (mosbench_counting) {
            take_sample(core, index);
        }
    } else {
        core_time_served(&core->time, answer, limit);
        core->answer = answer;
        mosbench_slice.core = index;
        mosbench_slice.yielded = false;
    }
    mosbench_order_update(index, true);
}

/* A slice is a hundred instructions, and with many cores what the next one begins with has left the host's caches since: the core,
 * what it has on its stack, its registers. Asked for now it comes while this slice runs. */
static inline void prefetch_core(const Core *core)
{
    const char *state = (const char *)core->cpu, *stack = core->stack, *first = (const char *)core;

    for (size_t at = 0; at < offsetof(Core, spin); at += LINE_BYTES) {
        __builtin_prefetch(first + at);
    }
    for (size_t at = 0; at < STACK_AHEAD; at += LINE_BYTES) {
        __builtin_prefetch(stack + at);
    }
    if (state) {
        const char *registers = (const char *)core->cpu->env_ptr;
        __builtin_prefetch(&core->cpu->interrupt_request);
        __builtin_prefetch(&core->cpu->exit_request);
        __builtin_prefetch(&cpu_neg(core->cpu)->icount_decr);
        for (size_t at = 0; at < REGISTERS_AHEAD; at += LINE_BYTES) {
            __builtin_prefetch(registers + at);
        }
    }
}

static void begin_slice(Core *core)
{
    CPUState *cpu = core->cpu;
    int64_t end = mosbench_time.deadline;

    if (mosbench_counting) {
        end = earlier(end, core->time.next_sample);
    }
    core_time_begin_slice(&core->time, core_time_bounds(&core->time, &mosbench_order, cpu->cpu_index, mosbench_quantum),
                          end);
    cpu_neg(cpu)->icount_decr.u32 = 0;
    mosbench_refill(core);
    cpu->exit_request = 0;
    if (unlikely(cpu->interrupt_request)) {
        cpu_neg(cpu)->icount_decr.u16.high = -1;
    }
    mosbench_slice.yielded = false;
    mosbench_slice.ended = false;

    mosbench_slice.under_way = true;
    if (!core->time.answered) {
        mosbench_forget_held(core);
    }
}

static void end_slice(Core *core)
{
    CPUState *cpu = core->cpu;

    mosbench_slice.under_way = false;
    mosbench_slice.ended = true;
    if (!core->time.waiting) {
        mosbench_account(core);
    }
    core_time_end_slice(&core->time, cpu->halted);
    if (mosbench_counting && !core->asleep) {
        take_sample(core, cpu->cpu_index);
    }
    mosbench_order_update(cpu->cpu_index, !cpu->halted || cpu_has_work(cpu));
}

/* Let a core run until it stops. */
static void run_slice(int index)
{
    Core *core = &mosbench_cores[index];

    mosbench_slice.core = index;
    if (unlikely(core->asleep)) {
        mosbench_sleep_end(core);
    }
    prefetch_core(&mosbench_cores[order_next(&mosbench_order, index)]);
    begin_slice(core);
    mosbench_resume(core);
    if (!mosbench_slice.ended) {
        end_slice(core);
    }
}

/* Who runs next; -1: nobody, or somebody wants attention or a timer is due. */
static int next_core(void)
{
    int next, last = mosbench_slice.core;
    int64_t slowest;

    if (unlikely(qatomic_read(&mosbench_slice.attention)) || order_is_empty(&mosbench_order)) {
        return -1;
    }
    next = order_slowest(&mosbench_order);
    slowest = mosbench_cores[next].time.clock;
    if (guest_time_advance(&mosbench_time, slowest)) {
        return -1;
    }
    if (last >= 0 && !mosbench_slice.yielded) {
        next = core_time_next(&mosbench_order, next, slowest, last, &mosbench_cores[last].time, mosbench_quantum);
    }
    return next;
}

/* The core stands at the beginning of a block, its budget used up. True: its next slice has begun. With a timer near slices are
 * a block long, and most go to the core of the last one: it need not leave its stack for that. */
static bool slice_again(Core *core)
{
    if (core->asleep || mosbench_slice.yielded) {
        return false;
    }
    end_slice(core);
    if (unlikely(mosbench_debug_pending()) || next_core() != core->cpu->cpu_index) {
        return false;
    }
    begin_slice(core);
    return true;
}

/* A block found the budget used up, or an exit asked for. Returns, in the core's next slice, whether the block is to be left. */
uint32_t HELPER(mosbench_slice_over)(CPUX86State *env, void *opaque)
{
    CPUState *cpu = env_cpu(env);
    Core *core = mosbench_core_of(cpu);
    const TranslationBlock *block = opaque;

    if (mosbench_budget_left(cpu) >= 0 || !mosbench_can_stop(core)) {
        return true;
    }
    cpu->cc->tcg_ops->synchronize_from_tb(cpu, block);
    core->at_head = true;
    if (!slice_again(core)) {
        mosbench_stop(core);
    }
    core->at_head = false;
    if (core->start_anew) {
        core->start_anew = false;
        return true;
    }
    return cpu_neg(cpu)->icount_decr.u16.high || tb_cflags(block) & CF_INVALID;
}

/* Run slices until somebody wants attention, a timer is due or nobody can run. Without the big lock. */
static void run_slices(void)
{
    static int resumed = -1;    /* the core of the last slice */

    for (int next; (next = next_core()) >= 0;) {
        Core *core = &mosbench_cores[next];

        if (core->time.waiting) {
            make_access(next);
            if (!core->start_anew) {
                continue;
            }
        }
        if (next != resumed) {
            mosbench_counts.switches++;
            resumed = next;
        }
        run_slice(next);
        if (unlikely(core->result == EXCP_ATOMIC)) {
            cpu_exec_step_atomic(core->cpu);
        }
        if (unlikely(core->result == EXCP_DEBUG)) {
            core->result = EXCP_INTERRUPT;
            mosbench_debug_stop(core);
        }
        if (unlikely(mosbench_debug_pending())) {
            mosbench_before_flush();    /* who stands in the middle of a block goes back to the beginning of an instruction */
            return;
        }
    }
}

static bool stop_is_asked(void)
{
    for (int i = 0; i < mosbench_core_count; i++) {
        if (mosbench_cores[i].cpu && mosbench_cores[i].cpu->stop) {
            return true;
        }
    }
    return false;
}

static void force_rcu(Notifier *notifier G_GNUC_UNUSED, void *data G_GNUC_UNUSED)
{
    mosbench_cut_slice();
}

void *mosbench_cpu_thread(void *argument)
{
    Notifier rcu_notifier = { .notify = force_rcu };
    CPUState *cpu = argument;

    rcu_register_thread();
    rcu_add_force_rcu_notifier(&rcu_notifier);
    tcg_register_thread();
    qemu_mutex_lock_iothread();
    qemu_thread_get_self(cpu->thread);
    cpu->thread_id = qemu_get_thread_id();
    cpu->can_do_io = 1;
    cpu_thread_signal_created(cpu);
    qemu_guest_random_seed_thread_part2(cpu->random_seed);
    mosbench_slice.thread = cpu->thread;
    while (first_cpu->stopped) {
        qemu_cond_wait_iothread(first_cpu->halt_cond);
        CPU_FOREACH(cpu) {
            current_cpu = cpu;
            qemu_wait_io_event_common(cpu);
        }
    }
    CPU_FOREACH(cpu) {
        g_assert(cpu->cpu_index < MAX_CORES);
        mosbench_core_of(cpu)->cpu = cpu;
        mosbench_core_count = MAX(mosbench_core_count, cpu->cpu_index + 1);
    }
    order_init(&mosbench_order, mosbench_settings.reverse);
    qemu_clock_enable(QEMU_CLOCK_VIRTUAL, true);

    for (;;) {
        bool all_stopped;

        qatomic_set(&mosbench_slice.attention, 0);
        smp_mb();
        if (unlikely(stop_is_asked())) {
            /* Somebody will look at the cores, and waits until they say that they have stopped. */
            qemu_mutex_unlock_iothread();
            mosbench_rcu_enter();
            mosbench_before_flush();
            mosbench_rcu_leave();
            qemu_mutex_lock_iothread();
        }
        for (int i = 0; i < mosbench_core_count; i++) {
            if (mosbench_cores[i].cpu) {
                current_cpu = mosbench_cores[i].cpu;
                qemu_wait_io_event_common(current_cpu);
            }
        }
        mosbench_run_timers();
        if (survey(&all_stopped)) {
            qemu_mutex_unlock_iothread();
            mosbench_rcu_enter();
            run_slices();
            mosbench_rcu_leave();
            qemu_mutex_lock_iothread();
            mosbench_tell_debugger();
        } else if (!all_stopped && guest_time_jump(&mosbench_time)) {
            continue;    /* the timer is due */
        } else if (!qatomic_read(&mosbench_slice.attention)) {
            qemu_cond_wait_iothread(first_cpu->halt_cond);
        }
    }
    return NULL;
}

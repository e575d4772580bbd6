/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One host thread runs all cores in the order of their clocks: always the slowest. No core makes an access that the model sees
 * further past the second slowest than a quantum (the smallest time from a request of one core to its effect on another), so that
 * none can see an access before it happened. What hits lines that only this core uses is nobody else's business: there it may run
 * ahead some quanta more.
 * The guest's time is the clock of the core that runs. Nothing here depends on the host's time: the same input gives the same run.
 */
#include "engine.h"
#include "stacks.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "qemu/guest-random.h"
#include "sysemu/accel-ops.h"
#include "sysemu/cpus.h"
#include "sysemu/tcg.h"
#include "exec/helper-proto.h"
#include "hw/core/tcg-cpu-ops.h"
#include "tcg/tcg.h"
#include "../tcg-accel-ops.h"

#define PAUSE_CYCLES 40
/* The budget is 16 bits wide with its sign, and a block may overdraw it. */
#define MAX_BUDGET 16000
/* Quanta that a core may run ahead on lines of its own, and how far one may that has asked the model for nothing in its last slices.
 * Interrupts come late by as much. */
#define AHEAD 8
#define CALM_AHEAD 16
#define CALM_SLICES 2

Core mosbench_cores[MAX_CORES];
int mosbench_core_count;
uint64_t mosbench_switches, mosbench_refused, mosbench_deferred;

static int running = -1;           /* the core of the slice under way, or of the last one or access */
static int resumed = -1;           /* the core of the slice under way, or of the last one */
static bool in_slice;
static bool yielded;               /* the last slice ended in PAUSE: the running core has no right to go on */
static int attention;              /* somebody wants the outer loop */
static QemuThread *engine_thread;

/* ---- the order of the cores: tournament trees over their clocks ---- */

/* A node holds the lesser of its two children: a clock with the core's number below it, so one comparison also breaks ties. */
#define CORE_BITS 6
typedef int64_t Tree[2 * MAX_CORES];

static Tree clocks;                /* of the cores that can run: the slowest runs */
static Tree turns;                 /* of those that wait for their turn at a line, which its holder must not run past */
static bool runnable[MAX_CORES];
static uint64_t tie_mask;          /* flips the order among equal clocks */

static inline void tree_set(Tree tree, int core, int64_t clock)
{
    int64_t value = clock == NEVER ? NEVER : (int64_t)((uint64_t)clock << CORE_BITS | (core ^ tie_mask));

    tree[MAX_CORES + core] = value;
    for (int node = MAX_CORES + core; node > 1; node >>= 1) {
        value = MIN(value, tree[node ^ 1]);
        tree[node >> 1] = value;
    }
}

/* The least clock of all cores but one. */
static inline int64_t tree_least_other(const Tree tree, int core)
{
    int64_t least = NEVER;

    for (int node = MAX_CORES + core; node > 1; node >>= 1) {
        least = MIN(least, tree[node ^ 1]);
    }
    return least == NEVER ? NEVER : least >> CORE_BITS;
}

static inline int slowest(void)
{
    return (clocks[1] ^ tie_mask) & (MAX_CORES - 1);
}

/* Cycles that a core may be ahead of the slowest other one, as long as it asks nothing of the model. */
static inline int64_t ahead(const Core *core)
{
    return (core->calm_slices < CALM_SLICES ? AHEAD : CALM_AHEAD) * (int64_t)mosbench_settings.quantum;
}

/* How far a core may run: its accesses a quantum past the slowest other one, and not past anybody's turn. */
typedef struct Bounds {
    int64_t limit, far;
} Bounds;

static inline Bounds bounds(int core)
{
    int64_t other = tree_least_other(clocks, core);
    int64_t turn = turns[1] == NEVER ? NEVER : tree_least_other(turns, core);

    if (other == NEVER) {
        return (Bounds) { turn, NEVER };
    }
    return (Bounds) { MIN(other + mosbench_settings.quantum, turn), other + ahead(&mosbench_cores[core]) };
}

/* Whether a core may go on that is not the slowest; that one's clock is `slowest`. */
static inline bool may_go_on(int index, int64_t slowest)
{
    const Core *core = &mosbench_cores[index];

    if (core->waiting || core->answered) {
        return core->clock < slowest + mosbench_settings.quantum && (turns[1] == NEVER || core->clock < tree_least_other(turns, index));
    }
    return core->clock < slowest + ahead(core);
}

static void order_update(int core, bool can_run)
{
    const Core *c = &mosbench_cores[core];
    int64_t turn = can_run && c->deferred ? c->clock : NEVER;

    runnable[core] = can_run;
    tree_set(clocks, core, can_run ? c->clock : NEVER);
    if (turn != NEVER || turns[MAX_CORES + core] != NEVER) {
        tree_set(turns, core, turn);
    }
}

static void order_init(void)
{
    QEMU_BUILD_BUG_ON(MAX_CORES != 1 << CORE_BITS);
    tie_mask = mosbench_settings.reverse ? MAX_CORES - 1 : 0;
    for (int i = 0; i < 2 * MAX_CORES; i++) {
        clocks[i] = turns[i] = NEVER;
    }
}

/* ---- budgets: the generated code counts cycles down and instructions up in one 64-bit word ---- */

static inline int32_t budget_left(CPUState *cpu)
{
    return (int16_t)cpu_neg(cpu)->icount_decr.u16.low;
}

static inline void account(Core *core)
{
    CPUState *cpu = core->cpu;
    int32_t left = budget_left(cpu);

    core->clock += core->budget - left;
    core->budget = left;
    core->instructions += cpu_neg(cpu)->mosbench_instructions;
    cpu_neg(cpu)->mosbench_instructions = 0;
}

/* Blocks run while the budget is not negative. An exit that was asked for stays asked for. */
static inline void refill(Core *core)
{
    CPUState *cpu = core->cpu;
    int64_t left = core->far - core->clock - 1;
    bool asked = cpu_neg(cpu)->icount_decr.u16.high != 0 && core->budget >= 0;

    core->budget = left < 0 ? -1 : MIN(left, MAX_BUDGET);
    cpu_neg(cpu)->mosbench_margin = MAX(core->clock + core->budget - core->limit, INT32_MIN / 2);
    cpu_neg(cpu)->icount_decr.u32 = (uint16_t)core->budget;
    if (asked || left < 0) {
        cpu_neg(cpu)->icount_decr.u16.high = -1;
    }
}

int64_t mosbench_core_now(Core *core, uint32_t remaining)
{
    return core->clock + (core->budget - budget_left(core->cpu)) - remaining;
}

bool mosbench_core_over(const Core *core)
{
    return core->clock + (core->budget - budget_left(core->cpu)) >= core->limit;
}

void mosbench_core_wait(Core *core, uint64_t cycles)
{
    account(core);
    core->clock += cycles;
    refill(core);
}

/* Stand before core->access (`remaining` cycles before the end of what is charged) until the loop has made it, not before `until`, and
 * the core is resumed. False: it has not been made, the core is to leave the block instead. */
bool mosbench_core_stand(Core *core, int64_t until, bool deferred, uint32_t remaining)
{
    if (deferred) {
        mosbench_deferred++;
    } else {
        mosbench_refused++;
    }
    account(core);
    core->clock = MAX(core->clock - remaining, until);
    core->code_pages = mosbench_code_pages;
    core->waiting = true;
    core->deferred = deferred;
    mosbench_stop(core);
    core->waiting = core->answered = false;
    core->clock += remaining;
    if (core->start_anew) {
        core->start_anew = false;
        return false;
    }
    refill(core);
    return true;
}

void mosbench_give_back(void *opaque, uint32_t cycles, uint32_t instructions)
{
    CPUState *cpu = opaque;

    cpu_neg(cpu)->icount_decr.u16.low += cycles;
    /* Not in the word itself: what the block counted there may have been taken out since. */
    mosbench_cores[cpu->cpu_index].instructions -= instructions;
}

/* Leave the instruction before its access; it starts anew in a later slice. */
G_NORETURN static void leave(Core *core, int64_t until, uintptr_t return_address)
{
    cpu_restore_state(core->cpu, return_address);    /* gives the block's unexecuted cycles back */
    account(core);
    core->clock = MAX(core->clock, until);
    core->limit = MIN(core->limit, core->clock);
    core->far = core->limit;
    refill(core);
    cpu_loop_exit(core->cpu);
}

void mosbench_core_start_anew(Core *core, uintptr_t return_address)
{
    leave(core, 0, return_address);
}

void mosbench_core_yield(Core *core, uintptr_t return_address)
{
    mosbench_refused++;
    leave(core, 0, return_address);
}

void mosbench_core_defer(Core *core, int64_t until, uintptr_t return_address)
{
    mosbench_deferred++;
    core->deferred = true;
    leave(core, until, return_address);
}

/* The budget is used up, and the core not in generated code, or somebody asked it to leave that. */
void mosbench_slice_over(void *cpu)
{
    mosbench_stop(&mosbench_cores[((CPUState *)cpu)->cpu_index]);
}

/* A block found the budget used up, or an exit asked for. Returns, in the core's next slice, whether the block is to be left. */
uint32_t HELPER(mosbench_slice_over)(CPUX86State *env, void *opaque)
{
    CPUState *cpu = env_cpu(env);
    Core *core = &mosbench_cores[cpu->cpu_index];
    const TranslationBlock *block = opaque;

    if (budget_left(cpu) >= 0 || !mosbench_can_stop(core)) {
        return true;
    }
    cpu->cc->tcg_ops->synchronize_from_tb(cpu, block);
    core->at_head = true;
    mosbench_stop(core);
    core->at_head = false;
    if (core->start_anew) {
        core->start_anew = false;
        return true;
    }
    return cpu_neg(cpu)->icount_decr.u16.high || tb_cflags(block) & CF_INVALID;
}

/* Of all cores, those that were executed: what cores slept through is left out. */
int64_t mosbench_total_instructions(void)
{
    int64_t total = 0;
    for (int i = 0; i < mosbench_core_count; i++) {
        if (mosbench_cores[i].cpu) {
            total += mosbench_cores[i].instructions + cpu_neg(mosbench_cores[i].cpu)->mosbench_instructions;
        }
    }
    return total - mosbench_skipped;
}

/* ---- the guest's time ---- */

static int64_t scheduler_now;      /* cycles: no core that can run is slower */
static int64_t deadline = NEVER;   /* cycles: the next timer of QEMU_CLOCK_VIRTUAL */
static int64_t last_read;          /* time never goes back, whichever core reads it */
/* nanoseconds = scale_ns + (cycles - scale_cycles) * ns_per_cycle_q32 / 2^32 */
static int64_t scale_ns, scale_cycles;
static uint64_t ns_per_cycle_q32;

int64_t mosbench_now(void)
{
    int64_t now = scheduler_now;

    if (in_slice && qemu_thread_is_self(engine_thread)) {
        now = mosbench_core_now(&mosbench_cores[running], 0);
        mosbench_cores[running].spin.observing = false;    /* what it sees changes by itself */
    }
    last_read = MAX(last_read, now);
    return last_read;
}

static int64_t cycles_to_ns(int64_t cycles)
{
    return scale_ns + (int64_t)(((__int128)(cycles - scale_cycles) * ns_per_cycle_q32) >> 32);
}

/* The next timer's time in cycles: the first at which the clock shows it. The same whenever it is asked for. */
static int64_t next_deadline(void)
{
    int64_t ns = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
    __int128 after_scale;

    if (ns < 0) {
        return NEVER;
    }
    after_scale = (__int128)(qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + ns - scale_ns) << 32;
    return scale_cycles + (int64_t)((after_scale + ns_per_cycle_q32 - 1) / ns_per_cycle_q32);
}

void mosbench_set_clock_ghz(double ghz)
{
    int64_t now = mosbench_now();

    if (ns_per_cycle_q32) {
        scale_ns = cycles_to_ns(now);
    }
    scale_cycles = now;
    ns_per_cycle_q32 = (uint64_t)(4294967296.0 / ghz);
    qatomic_set(&attention, 1);
}

static int64_t virtual_clock(void)
{
    return cycles_to_ns(mosbench_now());
}

/* The time stamp counter runs at the machine's clock against guest time, also while the boot clock is slow. */
static int64_t elapsed_ticks(void)
{
    return (int64_t)(virtual_clock() * mosbench_settings.clock_ghz);
}

/* ---- interrupts, kicks and timers cut a slice short ---- */

static void cut_slice(void)
{
    qatomic_set(&attention, 1);
    if (in_slice && running >= 0) {
        CPUState *cpu = mosbench_cores[running].cpu;
        qatomic_set(&cpu->exit_request, 1);
        qatomic_set(&cpu_neg(cpu)->icount_decr.u16.high, -1);
    }
}

/* A core that sleeps in a loop goes on, its clock not before `now`; and so nobody runs far past it. */
static void wake(int index, int64_t now)
{
    Core *core = &mosbench_cores[index];
    Core *other = &mosbench_cores[running];

    if (!core->asleep) {
        return;
    }
    mosbench_spin_shorten(core, now);
    order_update(index, true);
    if (in_slice && other != core) {
        other->limit = MIN(other->limit, core->clock + mosbench_settings.quantum);
        other->far = MIN(other->far, core->clock + ahead(other));
        account(other);
        refill(other);
    }
}

void mosbench_wake_all(int64_t now)
{
    for (int i = 0; i < mosbench_core_count; i++) {
        wake(i, now);
    }
}

void mosbench_line_lost(uint16_t core, uint64_t now)
{
    wake(core, now);
}

/* The core that runs talks to a device. */
void mosbench_disturbed(void)
{
    if (in_slice) {
        mosbench_cores[running].spin.observing = false;
    }
}

static void handle_interrupt(CPUState *cpu, int mask)
{
    cpu->interrupt_request |= mask;
    wake(cpu->cpu_index, mosbench_now());
    if (in_slice && qemu_thread_is_self(engine_thread)) {
        qatomic_set(&cpu_neg(cpu)->icount_decr.u16.high, -1);
        if (cpu->halted) {
            cut_slice();
        }
    } else {
        qemu_cpu_kick(cpu);
    }
}

static void kick(CPUState *cpu)
{
    cut_slice();
}

static void force_rcu(Notifier *notifier, void *data)
{
    cut_slice();
}

void mosbench_timer_changed(void)
{
    if (engine_thread && qemu_thread_is_self(engine_thread)) {
        if (in_slice && next_deadline() < deadline) {
            cut_slice();
        }
    } else {
        cut_slice();
        if (first_cpu && first_cpu->halt_cond) {
            qemu_cond_broadcast(first_cpu->halt_cond);
        }
    }
}

void mosbench_accel_ops(AccelOpsClass *ops)
{
    mosbench_set_clock_ghz(MOSBENCH_BOOT_CLOCK_GHZ);
    ops->handle_interrupt = handle_interrupt;
    ops->kick_vcpu_thread = kick;
    ops->get_virtual_clock = virtual_clock;
    ops->get_elapsed_ticks = elapsed_ticks;
}

void HELPER(mosbench_pause)(CPUX86State *env, uint64_t pc)
{
    Core *core = &mosbench_cores[env_cpu(env)->cpu_index];
    int64_t other = tree_least_other(clocks, env_cpu(env)->cpu_index);

    account(core);
    core->clock += PAUSE_CYCLES;
    if (mosbench_hooks && mosbench_spin_pause(core, env, pc)) {
        other = 0;
    }
    core->limit = MIN(core->limit, other);
    core->far = core->limit;
    yielded = core->far <= core->clock;
    refill(core);
}

void HELPER(mosbench_marker)(CPUX86State *env, uint32_t id)
{
    mosbench_marker(env_cpu(env), id);
}

/* ---- the loop ---- */

/* Which cores can run, and when the next timer is due. With the big lock held. */
static bool survey(bool *all_stopped)
{
    bool any = false;
    int64_t now = MAX(scheduler_now, last_read);

    *all_stopped = true;
    for (int i = 0; i < mosbench_core_count; i++) {
        Core *core = &mosbench_cores[i];
        bool can_run = core->cpu && cpu_can_run(core->cpu);

        if (can_run) {
            *all_stopped = false;
        }
        if (can_run && (!core->cpu->halted || cpu_has_work(core->cpu))) {
            any = true;
            if (!runnable[i] && core->clock < now) {
                core->idle += now - core->clock;
                core->next_sample += now - core->clock;
                core->clock = now;
            }
            order_update(i, true);
        } else {
            order_update(i, false);
        }
    }
    deadline = next_deadline();
    return any;
}

static void run_timers(void)
{
    if (scheduler_now >= deadline && qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL) == 0) {
        last_read = MAX(last_read, scheduler_now);
        qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
    }
}

/* A core is sampled at the first end of a slice past its sampling time; the slice is cut there, so the place is reproducible. */
static void take_sample(Core *core, int index)
{
    if (core->clock >= core->next_sample) {
        uint32_t periods = (core->clock - core->next_sample) / mosbench_settings.sample_period + 1;
        CPUX86State *env = core->cpu->env_ptr;

        core->next_sample += (int64_t)periods * mosbench_settings.sample_period;
        mosbench_operations.sample(mosbench_model, index, core->waiting ? core->access.pc : env->eip,
                                   (env->hflags & HF_CPL_MASK) == 0, periods);
    }
}

/* Make the access that a core stands before, whose time has come. It need not run for that, and when it has to wait for its turn it
 * stands there still. */
static void make_access(int index)
{
    Core *core = &mosbench_cores[index];
    int64_t limit = bounds(index).limit;
    uint64_t answer;

    if (core->code_pages != mosbench_code_pages && core->access.kind == MODEL_WRITE) {
        core->start_anew = true;    /* its page may have code now, and then the store is not to be made like this */
        return;
    }
    core->access.now = core->clock;
    core->access.early = false;
    answer = mosbench_operations.access(mosbench_model, &core->access);
    core->clock += answer & ~MODEL_DEFERRED;
    core->deferred = answer & MODEL_DEFERRED;
    if (core->deferred) {
        mosbench_deferred++;
        if (mosbench_counting) {
            take_sample(core, index);
        }
    } else {
        /* Until it is the slowest again others' accesses come first, in the order of their times: a link or a memory that was
         * booked too early would seem busy to them. */
        core->ordered = limit;
        core->answer = answer;
        core->answered = true;
        core->waiting = false;
        running = index;
        yielded = false;
    }
    order_update(index, true);
}

/* Run slices until somebody wants attention, a timer is due or nobody can run. Without the big lock. */
static void run_slices(void)
{
    while (likely(!qatomic_read(&attention))) {
        int next;
        Bounds bound;
        int64_t end;
        Core *core;
        CPUState *cpu;

        if (clocks[1] == NEVER) {
            return;
        }
        next = slowest();
        scheduler_now = MAX(scheduler_now, MIN(mosbench_cores[next].clock, deadline));
        if (mosbench_cores[next].clock >= deadline) {
            return;
        }
        /* The core that ran goes on while it may: fewer switches, and the same order of events. */
        if (running >= 0 && running != next && runnable[running] && !yielded &&
            may_go_on(running, mosbench_cores[next].clock)) {
            next = running;
        }
        if (mosbench_cores[next].waiting) {
            make_access(next);
            if (!mosbench_cores[next].start_anew) {
                continue;
            }
        }
        if (next != resumed) {
            mosbench_switches++;
            resumed = next;
        }
        running = next;
        bound = bounds(next);
        core = &mosbench_cores[next];
        cpu = core->cpu;
        if (unlikely(core->asleep)) {
            mosbench_spin_end(core);
        }
        end = mosbench_counting ? MIN(deadline, core->next_sample) : deadline;
        bound.limit = MAX(MIN(bound.limit, end), core->clock + 1);
        bound.far = MAX(MIN(bound.far, end), bound.limit);
        if (core->cut) {
            /* Somebody outside ended the slice early: it goes on as if he had not. */
            bound.limit = MIN(bound.limit, core->limit);
            bound.far = MIN(bound.far, core->far);
        }
        core->limit = bound.limit;
        core->far = bound.far;
        if (!core->answered) {
            core->ordered = bound.limit;
        }
        core->deferred = false;
        core->budget = 0;
        cpu_neg(cpu)->icount_decr.u32 = 0;
        refill(core);
        cpu->exit_request = 0;
        if (unlikely(cpu->interrupt_request)) {
            cpu_neg(cpu)->icount_decr.u16.high = -1;
        }
        yielded = false;

        in_slice = true;
        if (!core->answered) {
            mosbench_forget_held(core);
        }
        mosbench_resume(core);
        in_slice = false;

        if (!core->waiting) {
            account(core);
            core->calm_slices = MIN(core->calm_slices + 1, CALM_SLICES);
        }
        core->cut = !core->waiting && core->clock < core->far && !cpu->halted;
        if (mosbench_counting && !core->asleep) {
            take_sample(core, next);
        }
        order_update(next, !cpu->halted || cpu_has_work(cpu));
        if (unlikely(core->result == EXCP_ATOMIC)) {
            cpu_exec_step_atomic(cpu);
        }
        if (unlikely(core->result == EXCP_DEBUG)) {
            return;
        }
    }
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
    engine_thread = cpu->thread;
    while (first_cpu->stopped) {
        qemu_cond_wait_iothread(first_cpu->halt_cond);
        CPU_FOREACH(cpu) {
            current_cpu = cpu;
            qemu_wait_io_event_common(cpu);
        }
    }
    CPU_FOREACH(cpu) {
        g_assert(cpu->cpu_index < MAX_CORES);
        mosbench_cores[cpu->cpu_index].cpu = cpu;
        mosbench_core_count = MAX(mosbench_core_count, cpu->cpu_index + 1);
    }
    order_init();
    qemu_clock_enable(QEMU_CLOCK_VIRTUAL, true);

    for (;;) {
        bool all_stopped;

        qatomic_set(&attention, 0);
        smp_mb();
        for (int i = 0; i < mosbench_core_count; i++) {
            if (mosbench_cores[i].cpu) {
                current_cpu = mosbench_cores[i].cpu;
                qemu_wait_io_event_common(current_cpu);
            }
        }
        run_timers();
        if (survey(&all_stopped)) {
            qemu_mutex_unlock_iothread();
            mosbench_rcu_enter();
            run_slices();
            mosbench_rcu_leave();
            qemu_mutex_lock_iothread();
        } else if (!all_stopped && deadline != NEVER) {
            scheduler_now = deadline;      /* everyone sleeps: straight to the next timer */
        } else if (!qatomic_read(&attention)) {
            qemu_cond_wait_iothread(first_cpu->halt_cond);
        }
    }
    return NULL;
}

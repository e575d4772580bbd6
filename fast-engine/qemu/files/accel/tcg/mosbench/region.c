/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The region of interest: the guest's markers switch the model on (warm-up, or before it the start of the job), start and stop the
 * counting, and write the results.
 */
#include "qemu/osdep.h"
#include "region.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "mosbench/hooks.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "arena.h"
#include "core.h"
#include "debugger.h"
#include "guest_clock.h"
#include "settings.h"
#include "sleep.h"
#include "snapshot.h"
#include "usage.h"

enum { MARK_WARM = 1, MARK_BEGIN = 2, MARK_END = 3, MARK_JOB = 4 };

/* Of a core, up to a moment. */
typedef struct CoreFigures {
    int64_t clock, instructions, idle, issued, paused, device;
} CoreFigures;

bool mosbench_counting;

static bool finished;
static CoreFigures at_begin[MAX_CORES];

static void attach_model(void)
{
    static struct model_filter *filters[MAX_CORES];
    struct model_memory pieces[4];
    size_t count = mosbench_memory_pieces(pieces, ARRAY_SIZE(pieces));

    for (int i = 0; i < mosbench_core_count; i++) {
        filters[i] = mosbench_cores[i].cpu ? &cpu_neg(mosbench_cores[i].cpu)->mosbench_filter : NULL;
        if (filters[i]) {
            filters[i]->base = mosbench_arena;
        }
    }
    mosbench_operations.attach(mosbench_model, pieces, count, filters, mosbench_line_lost);
}

static void warm(CPUState *cpu)
{
    mosbench_enter_phase(PHASE_WARM);
    mosbench_set_clock_ghz(mosbench_settings.clock_ghz);
    if (mosbench_model && !mosbench_hooks) {
        static bool attached;
        if (!attached) {
            attached = true;
            attach_model();
        }
        mosbench_operations.warm(mosbench_model, mosbench_now());
        mosbench_hooks = true;
        tb_flush(cpu);
    }
}

/* A core's clock is behind while it is halted; the difference to now is idle time. Where it stands in a block, all of that is
 * counted as executed; and where it sleeps in a loop, all rounds up to its clock. */
static CoreFigures figures(const Core *core, int64_t now)
{
    int64_t halted = core->cpu->halted ? later(0, now - core->time.clock) : 0;
    SleptThrough slept = mosbench_slept_through(core);

    return (CoreFigures) {
        .clock = core->time.clock + core->time.charged + halted,
        .instructions = core->instructions + slept.instructions,
        .idle = core->idle + halted,
        .issued = core->issued + slept.issued,
        .paused = core->paused + slept.paused,
        .device = core->device,
    };
}

/* An instruction takes a cycle; what it takes beyond that are L1 hits. Of a core that works ahead the two cannot be told apart. */
static struct model_core_totals totals_between(const CoreFigures *begin, const CoreFigures *end)
{
    int64_t instructions = end->instructions - begin->instructions, issued = end->issued - begin->issued;

    return (struct model_core_totals) {
        .cycles = end->clock - begin->clock,
        .instructions = instructions,
        .idle_cycles = end->idle - begin->idle,
        .instruction_cycles = mosbench_issue_width ? issued : instructions,
        .l1_cycles = mosbench_issue_width ? 0 : issued - instructions,
        .pause_cycles = end->paused - begin->paused,
        .device_cycles = end->device - begin->device,
    };
}

static void begin(CPUState *cpu)
{
    int64_t now = mosbench_now();

    if (mosbench_phase() == PHASE_BOOT) {
        warm(cpu);
    }
    mosbench_wake_all(now);
    mosbench_enter_phase(PHASE_REGION);
    if (mosbench_settings.gdb) {
        mosbench_debug_stop(mosbench_core_of(cpu));
        qemu_cpu_kick(cpu);
    }
    if (!mosbench_model) {
        return;
    }
    for (int i = 0; i < mosbench_core_count; i++) {
        Core *core = &mosbench_cores[i];
        if (core->cpu) {
            at_begin[i] = figures(core, now);
            /* One that sleeps is not sampled meanwhile: when it wakes up the loop sets this on by what it slept. */
            core->time.next_sample = core->time.clock + mosbench_settings.sample_period;
        }
    }
    mosbench_counting = true;
    mosbench_operations.begin(mosbench_model, now);
    qemu_cpu_kick(cpu);    /* the slice under way knows nothing of samples; a core alone would run it to the next timer */
}

static void end(CPUState *cpu)
{
    int64_t now = mosbench_now();

    mosbench_wake_all(now);
    mosbench_enter_phase(PHASE_AFTER);
    finished = true;
    mosbench_quantum = MAX(mosbench_settings.quantum, MOSBENCH_QUANTUM_AFTER);
    mosbench_set_clock_ghz(MOSBENCH_BOOT_CLOCK_GHZ);
    if (mosbench_hooks) {
        mosbench_hooks = false;
        tb_flush(cpu);
    }
    if (mosbench_model) {
        g_autofree char *records = g_build_filename(mosbench_settings.output, "records.bin", NULL);
        char error[256];

        mosbench_counting = false;
        mosbench_operations.end(mosbench_model, now);
        for (int i = 0; i < mosbench_core_count; i++) {
            const Core *core = &mosbench_cores[i];
            if (core->cpu) {
                CoreFigures at_end = figures(core, now);
                struct model_core_totals totals = totals_between(&at_begin[i], &at_end);
                mosbench_operations.core_totals(mosbench_model, i, &totals);
            }
        }
        if (mosbench_operations.write_records(mosbench_model, records, error, sizeof(error))) {
            mosbench_output_failed(error);
        }
    }
    if (mosbench_settings.snapshot) {
        g_autofree char *snapshot = g_build_filename(mosbench_settings.output, "memory.elf", NULL);
        Error *problem = NULL;
        if (!mosbench_write_snapshot(snapshot, &problem)) {
            mosbench_output_failed(error_get_pretty(problem));
        }
    }
}

static bool in_order(uint32_t id, Phase phase)
{
    bool warming = phase == PHASE_WARM && mosbench_settings.caches_from_job;

    switch (id) {
    case MARK_JOB:
        return phase == PHASE_BOOT;
    case MARK_WARM:
        return phase == PHASE_BOOT || warming;
    case MARK_BEGIN:
        return phase != PHASE_REGION;
    case MARK_END:
        return phase == PHASE_REGION;
    default:
        return false;
    }
}

/* Markers are executed once each, in order; one out of order is the guest program's fault and is said, not guessed around. */
void HELPER(mosbench_marker)(CPUX86State *env, uint32_t id)
{
    CPUState *cpu = env_cpu(env);
    Phase phase = mosbench_phase();

    if (finished || !in_order(id, phase)) {
        error_report("mosbench: marker %u out of order in phase %s", id, mosbench_phase_names[phase]);
        return;
    }
    switch (id) {
    case MARK_JOB:
        if (mosbench_settings.caches_from_job) {
            warm(cpu);
        }
        break;
    case MARK_WARM:
        if (phase == PHASE_BOOT) {
            warm(cpu);
        }
        break;
    case MARK_BEGIN:
        begin(cpu);
        break;
    case MARK_END:
        end(cpu);
        break;
    }
}

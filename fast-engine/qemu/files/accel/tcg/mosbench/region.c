/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The region of interest: the guest's markers switch the model on (warm-up), start and stop the counting, and write the results.
 */
#include "engine.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "sysemu/runstate.h"
#include "sysemu/sysemu.h"

#define EXIT_OUTPUT 3      /* exit status: results could not be written */

enum { MARK_WARM = 1, MARK_BEGIN = 2, MARK_END = 3 };
enum { PHASE_BOOT, PHASE_WARM, PHASE_REGION, PHASE_AFTER, PHASES };
static const char *const phase_names[PHASES] = { "boot", "warm", "region", "after" };

bool mosbench_counting;

static int phase = PHASE_BOOT;
static bool finished;

/* What a phase took; `start` holds the values at its beginning. */
typedef struct Usage {
    double wall, cpu;          /* seconds of the host */
    int64_t instructions, cycles;
    uint64_t switches, refused, deferred, skipped;
} Usage;

static Usage phase_start, phase_usage[PHASES];
static struct { int64_t clock, instructions, idle; } core_start[MAX_CORES];

static double seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static Usage usage_now(void)
{
    return (Usage) {
        .wall = seconds(CLOCK_MONOTONIC),
        .cpu = seconds(CLOCK_PROCESS_CPUTIME_ID),
        .instructions = mosbench_total_instructions(),
        .cycles = mosbench_now(),
        .switches = mosbench_switches,
        .refused = mosbench_refused,
        .deferred = mosbench_deferred,
        .skipped = mosbench_skipped,
    };
}

static void enter_phase(int next)
{
    Usage now = usage_now(), *sum = &phase_usage[phase];

    sum->wall += now.wall - phase_start.wall;
    sum->cpu += now.cpu - phase_start.cpu;
    sum->instructions += now.instructions - phase_start.instructions;
    sum->cycles += now.cycles - phase_start.cycles;
    sum->switches += now.switches - phase_start.switches;
    sum->refused += now.refused - phase_start.refused;
    sum->deferred += now.deferred - phase_start.deferred;
    sum->skipped += now.skipped - phase_start.skipped;
    phase_start = now;
    phase = next;
}

static void output_failed(const char *what)
{
    error_report("mosbench: output: %s", what);
    exit(EXIT_OUTPUT);
}

static void write_usage(void)
{
    g_autofree char *path = g_build_filename(mosbench_settings.output, "engine.json", NULL);
    FILE *file = fopen(path, "w");

    if (!file) {
        output_failed(strerror(errno));
    }
    fprintf(file, "{\n  \"quantum_cycles\": %u,\n  \"guest_memory_bytes\": %" PRIu64 ",\n  \"phases\": {\n",
            mosbench_settings.quantum, mosbench_arena_used());
    for (int i = 0; i < PHASES; i++) {
        const Usage *u = &phase_usage[i];
        fprintf(file, "    \"%s\": {\"wall_seconds\": %.3f, \"cpu_seconds\": %.3f, \"instructions\": %" PRId64
                ", \"cycles\": %" PRId64 ", \"switches\": %" PRIu64 ", \"refused\": %" PRIu64
                ", \"deferred\": %" PRIu64 ", \"skipped_instructions\": %" PRIu64 "}%s\n",
                phase_names[i], u->wall, u->cpu, u->instructions, u->cycles, u->switches, u->refused,
                u->deferred, u->skipped, i + 1 < PHASES ? "," : "");
    }
    fprintf(file, "  }\n}\n");
    if (fclose(file)) {
        output_failed(strerror(errno));
    }
}

static void at_exit(Notifier *notifier, void *data)
{
    enter_phase(PHASE_AFTER);
    write_usage();
}

static Notifier exit_notifier = { .notify = at_exit };

void mosbench_region_init(void)
{
    phase_start.wall = seconds(CLOCK_MONOTONIC);
    qemu_add_exit_notifier(&exit_notifier);
}

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
    enter_phase(PHASE_WARM);
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

/* A core's clock is behind while it sleeps; the difference to now is idle time. */
static void core_figures(const Core *core, int64_t now, int64_t *clock, int64_t *instructions, int64_t *idle)
{
    int64_t asleep = core->cpu->halted ? MAX(0, now - core->clock) : 0;

    *clock = core->clock + asleep;
    *idle = core->idle + asleep;
    *instructions = core->instructions;
}

static void begin(CPUState *cpu)
{
    int64_t now = mosbench_now();

    if (phase == PHASE_BOOT) {
        warm(cpu);
    }
    mosbench_wake_all(now);
    enter_phase(PHASE_REGION);
    if (!mosbench_model) {
        return;
    }
    for (int i = 0; i < mosbench_core_count; i++) {
        Core *core = &mosbench_cores[i];
        if (core->cpu) {
            core_figures(core, now, &core_start[i].clock, &core_start[i].instructions, &core_start[i].idle);
            core->next_sample = core_start[i].clock + mosbench_settings.sample_period;
            if (core->clock < core_start[i].clock) {
                core->next_sample = core->clock + mosbench_settings.sample_period;
            }
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
    enter_phase(PHASE_AFTER);
    finished = true;
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
            int64_t clock, instructions, idle;
            if (core->cpu) {
                core_figures(core, now, &clock, &instructions, &idle);
                mosbench_operations.core_totals(mosbench_model, i, clock - core_start[i].clock,
                                                instructions - core_start[i].instructions, idle - core_start[i].idle);
            }
        }
        if (mosbench_operations.write_records(mosbench_model, records, error, sizeof(error))) {
            output_failed(error);
        }
    }
    if (mosbench_settings.snapshot) {
        g_autofree char *snapshot = g_build_filename(mosbench_settings.output, "memory.elf", NULL);
        Error *problem = NULL;
        if (!mosbench_write_snapshot(snapshot, &problem)) {
            output_failed(error_get_pretty(problem));
        }
    }
}

/* Markers are executed once each, in order; one out of order is the guest program's fault and is said, not guessed around. */
void mosbench_marker(CPUState *cpu, uint32_t id)
{
    if (finished || (id == MARK_BEGIN && phase == PHASE_REGION) || (id == MARK_END && phase != PHASE_REGION) ||
        (id == MARK_WARM && phase != PHASE_BOOT) || id < MARK_WARM || id > MARK_END) {
        error_report("mosbench: marker %u out of order in phase %s", id, phase_names[phase]);
        return;
    }
    switch (id) {
    case MARK_WARM:
        warm(cpu);
        break;
    case MARK_BEGIN:
        begin(cpu);
        break;
    case MARK_END:
        end(cpu);
        break;
    }
}

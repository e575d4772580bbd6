/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See usage.h.
 */
#include "qemu/osdep.h"
#include "usage.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "sysemu/sysemu.h"
#include "arena.h"
#include "core.h"
#include "guest_clock.h"
#include "settings.h"

#define EXIT_OUTPUT 3      /* exit status: results could not be written */

const char *const mosbench_phase_names[PHASES] = { "boot", "warm", "region", "after" };

/* What a phase took, or what was used up to a moment. */
typedef struct Usage {
    double wall, cpu;          /* seconds of the host */
    int64_t instructions, cycles;
    CoreCounts counts;
} Usage;

static Phase phase = PHASE_BOOT;
static Usage at_start;         /* of the phase */
static Usage phases[PHASES];

static double seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* Of all cores, those that were executed: what cores slept through is left out. */
static int64_t executed_instructions(void)
{
    int64_t total = 0;
    for (int i = 0; i < mosbench_core_count; i++) {
        if (mosbench_cores[i].cpu) {
            total += mosbench_cores[i].instructions + cpu_neg(mosbench_cores[i].cpu)->mosbench_instructions;
        }
    }
    return total - mosbench_counts.skipped;
}

static Usage usage_now(void)
{
    return (Usage) {
        .wall = seconds(CLOCK_MONOTONIC),
        .cpu = seconds(CLOCK_PROCESS_CPUTIME_ID),
        .instructions = executed_instructions(),
        .cycles = mosbench_now(),
        .counts = mosbench_counts,
    };
}

Phase mosbench_phase(void)
{
    return phase;
}

void mosbench_enter_phase(Phase next)
{
    Usage now = usage_now(), *sum = &phases[phase];

    sum->wall += now.wall - at_start.wall;
    sum->cpu += now.cpu - at_start.cpu;
    sum->instructions += now.instructions - at_start.instructions;
    sum->cycles += now.cycles - at_start.cycles;
    sum->counts.switches += now.counts.switches - at_start.counts.switches;
    sum->counts.refused += now.counts.refused - at_start.counts.refused;
    sum->counts.deferred += now.counts.deferred - at_start.counts.deferred;
    sum->counts.skipped += now.counts.skipped - at_start.counts.skipped;
    at_start = now;
    phase = next;
}

void mosbench_output_failed(const char *what)
{
    error_report("mosbench: output: %s", what);
    exit(EXIT_OUTPUT);
}

static void write_phases(void)
{
    g_autofree char *path = g_build_filename(mosbench_settings.output, "engine.json", NULL);
    FILE *file = fopen(path, "w");

    if (!file) {
        mosbench_output_failed(strerror(errno));
    }
    fprintf(file, "{\n  \"quantum_cycles\": %u,\n  \"guest_memory_bytes\": %" PRIu64 ",\n  \"phases\": {\n",
            mosbench_settings.quantum, mosbench_arena_used());
    for (int i = 0; i < PHASES; i++) {
        const Usage *u = &phases[i];
        fprintf(file, "    \"%s\": {\"wall_seconds\": %.3f, \"cpu_seconds\": %.3f, \"instructions\": %" PRId64
                ", \"cycles\": %" PRId64 ", \"switches\": %" PRIu64 ", \"refused\": %" PRIu64
                ", \"deferred\": %" PRIu64 ", \"skipped_instructions\": %" PRIu64 "}%s\n",
                mosbench_phase_names[i], u->wall, u->cpu, u->instructions, u->cycles, u->counts.switches, u->counts.refused,
                u->counts.deferred, u->counts.skipped, i + 1 < PHASES ? "," : "");
    }
    fprintf(file, "  }\n}\n");
    if (fclose(file)) {
        mosbench_output_failed(strerror(errno));
    }
}

static void at_exit(Notifier *notifier G_GNUC_UNUSED, void *data G_GNUC_UNUSED)
{
    mosbench_enter_phase(PHASE_AFTER);
    write_phases();
}

static Notifier exit_notifier = { .notify = at_exit };

void mosbench_usage_init(void)
{
    at_start.wall = seconds(CLOCK_MONOTONIC);
    qemu_add_exit_notifier(&exit_notifier);
}

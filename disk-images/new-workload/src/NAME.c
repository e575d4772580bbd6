/* SPDX-License-Identifier: BSD-3-Clause */
/* Every core adds to a counter: warm up, mark the region, do a fixed amount of work, check it, report. */
#define _GNU_SOURCE
#include "roi.h"
#include "workers.h"

struct place {
    _Alignas(128) uint64_t additions;
};

static struct {
    struct meeting_place meetings[MAX_WORKERS];
    struct place counters[MAX_WORKERS];
    uint64_t cycles[MAX_WORKERS];
} *shared;

static int cores[MAX_WORKERS];
static unsigned core_count;
static uint64_t iterations, warmup;
static bool own;

static void add(struct place *counter, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        __atomic_add_fetch(&counter->additions, 1, __ATOMIC_RELAXED);
}

static void worker(unsigned index, void *unused)
{
    struct place *counter = &shared->counters[own ? index : 0];

    (void)unused;
    pin(cores[index]);
    add(counter, warmup);
    meet(shared->meetings, core_count, index, 1, roi_begin);
    uint64_t start = roi_cycles();

    add(counter, iterations);
    shared->cycles[index] = roi_cycles() - start;
    meet(shared->meetings, core_count, index, 2, roi_end);
}

int main(void)
{
    static uint64_t per_core[MAX_WORKERS];
    uint64_t sum = 0;

    core_count = read_cores(cores);
    iterations = number_setting("P_ITERATIONS");
    warmup = number_setting("P_WARMUP");
    own = !strcmp(text_setting("MOSBENCH_VARIANT"), "own");
    shared = shared_memory(sizeof(*shared));
    roi_warm();
    run_processes(core_count, worker, NULL);

    for (unsigned i = 0; i < core_count; i++) {
        per_core[i] = iterations;
        sum += shared->counters[i].additions;
    }
    struct roi_result result = {
        .units = core_count * iterations,
        .unit = "additions",
        .cores = core_count,
        .per_core = per_core,
        .cycles_per_core = shared->cycles,
        .cpus = cores,
        .checked = sum == core_count * (iterations + warmup),
        .detail = "the counters have the sum of all additions",
    };

    return roi_result(&result) ? 0 : 1;
}

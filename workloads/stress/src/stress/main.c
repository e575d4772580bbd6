/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stress: runs the variant MOSBENCH_VARIANT, one worker process on each of the cores MOSBENCH_CORES.
 */
#define _GNU_SOURCE
#include "stress.h"

#include "roi.h"

static const struct stress *const variants[] = {&connections_stress, &expiry_stress,  &files_stress,     &lookups_stress,
                                                &mounts_stress,      &network_stress, &pages_stress,     &seeks_stress,
                                                &sleepers_stress,    &sockets_stress, &superpages_stress};

static const struct stress *variant;
static struct meeting_place *places;
static struct slot *slots;
static int cores[MAX_WORKERS];
static unsigned worker_count;
static uint64_t iterations;

enum meeting { MEET_BEGIN = 1, MEET_END };

static void worker_main(unsigned index, void *argument)
{
    struct worker worker = {
        .index = index,
        .workers = worker_count,
        .random = 0x9E3779B97F4A7C15ull * (index + 1),
        .slot = &slots[index],
    };
    uint64_t begin;

    (void)argument;
    pin(cores[index]);
    meet(places, worker_count, index, MEET_BEGIN, roi_begin);
    begin = roi_cycles();
    variant->work(&worker, iterations);
    worker.slot->cycles = roi_cycles() - begin;
    meet(places, worker_count, index, MEET_END, roi_end);
}

static void report(void)
{
    uint64_t operations[MAX_WORKERS], cycles[MAX_WORKERS], total = 0;

    for (unsigned i = 0; i < worker_count; i++) {
        total += operations[i] = slots[i].operations;
        cycles[i] = slots[i].cycles;
    }
    errno = 0;
    if (!roi_result(&(struct roi_result){.units = total,
                                         .unit = "operations",
                                         .cores = worker_count,
                                         .per_core = operations,
                                         .cycles_per_core = cycles,
                                         .checked = true,
                                         .detail = "every call answered as it must"}))
        die("cannot write the result");
}

int main(void)
{
    const char *name = text_setting("MOSBENCH_VARIANT");

    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
        if (strcmp(variants[i]->name, name) == 0)
            variant = variants[i];
    if (!variant)
        die("no stress is called %s", name);
    worker_count = read_cores(cores);
    iterations = number_setting("P_ITERATIONS");
    places = shared_memory(worker_count * sizeof(*places));
    slots = shared_memory(worker_count * sizeof(*slots));
    pin(cores[0]);
    if (variant->setup)
        variant->setup();
    roi_warm();
    run_processes(worker_count, worker_main, NULL);
    if (variant->finish)
        variant->finish();
    report();
    return 0;
}

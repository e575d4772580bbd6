/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One address space changed by all cores. Workers are threads.
 */
#define _GNU_SOURCE
#include "micro.h"

#define PAGE_BYTES 4096

/* ---- mmap-munmap: map P_LENGTH pages and unmap them, touched or not ---- */

static size_t map_bytes;
static bool touch;

static void mmap_setup(void)
{
    map_bytes = number_setting("P_LENGTH") * PAGE_BYTES;
    touch = number_setting("P_TOUCH") != 0;
}

static void mmap_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        char *base = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (base == MAP_FAILED) {
            worker_error(worker, "mmap failed", (long)i);
            continue;
        }
        if (touch)
            for (size_t offset = 0; offset < map_bytes; offset += PAGE_BYTES) {
                volatile uint64_t *word = (volatile uint64_t *)(base + offset);

                word[0] = i; /* write first: a read would map the zero page and make a second fault of the write */
                EXPECT(worker, word[1] == 0, "a new page was not zero", word[1]);
            }
        EXPECT(worker, munmap(base, map_bytes) == 0, "munmap failed", i);
    }
    worker->units += iterations;
}

/* ---- page-fault: each worker touches pages of its own, each for the first time ----
 * The pages of a worker are in page tables of its own (2 MiB apart), so that the locks of page tables are not shared. */

#define TABLE_SPAN ((size_t)2 << 20)

struct region {
    char *base;
    uint64_t touched;
};

static void fault_prepare(struct worker *worker)
{
    struct region *region = memory(sizeof(*region), -1, PAGES_SMALL, NULL);
    size_t bytes = (run.warmup + run.iterations) * PAGE_BYTES;
    size_t room = (bytes + 2 * TABLE_SPAN - 1) & ~(TABLE_SPAN - 1);
    char *base = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        die("no memory for %zu bytes", room);
    madvise(base, room, MADV_NOHUGEPAGE); /* a kernel without transparent huge pages refuses: just as well */
    region->base = (char *)(((uintptr_t)base + TABLE_SPAN - 1) & ~(TABLE_SPAN - 1));
    worker->state = region;
}

static void fault_work(struct worker *worker, uint64_t iterations)
{
    struct region *region = worker->state;

    for (uint64_t i = 0; i < iterations; i++) {
        volatile uint64_t *word = (volatile uint64_t *)(region->base + region->touched++ * PAGE_BYTES);

        word[0] = i + 1; /* write first, as above */
        EXPECT(worker, word[1] == 0, "a new page was not zero", word[1]);
    }
    worker->units += iterations;
}

const struct benchmark vm_benchmarks[] = {
    {
        .name = "mmap-munmap",
        .unit = "mappings",
        .setup = mmap_setup,
        .work = mmap_work,
    },
    {
        .name = "page-fault",
        .unit = "pages",
        .prepare = fault_prepare,
        .work = fault_work,
    },
    {.name = NULL},
};

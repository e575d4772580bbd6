/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the families of microbenchmarks share: the description of one benchmark, its workers, parameters and the result line.
 *
 * A benchmark does a fixed number of iterations on each worker. Workers are threads of one process or processes, one pinned on
 * each core. The phases, with all workers meeting between them:
 *
 *   prepare | roi_warm | work(warmup) | roi_begin | work(iterations) | roi_end | finish
 *
 * Worker 0 executes the markers. A meeting is spinning on a line of one's own, so it adds one transfer per worker and no system
 * call.
 */
#ifndef MICRO_H
#define MICRO_H

#include "workers.h"

#include <stdbool.h>
#include <stddef.h>

#define LINE_BYTES 64

/* What one worker publishes after the region. */
struct slot {
    _Alignas(128) uint64_t units; /* done between begin and end */
    uint64_t cycles;              /* of the time stamp counter, from begin to the end of its own work */
    uint64_t errors;
    uint64_t sums[4]; /* what the check adds up over the workers; meaning is the benchmark's */
    const void *line; /* a line under test that belongs to this worker, or NULL */
    char error[120];  /* the first one, as a sentence */
};

struct worker {
    unsigned index;      /* 0 ... run.workers - 1 */
    unsigned core_index; /* into run.cores */
    int cpu;
    uint64_t units;
    uint64_t errors;
    uint64_t sums[4];
    struct slot *slot;
    void *state; /* of the benchmark, in memory of the worker */
};

struct benchmark {
    const char *name;
    const char *unit;
    bool processes;   /* workers are processes, not threads of one */
    unsigned minimum; /* workers it needs */
    /* Main process, pinned on the first core, before workers exist. May set run.workers and run.core_of. */
    void (*setup)(void);
    /* Each worker, pinned; everything the work touches is made and touched here. */
    void (*prepare)(struct worker *);
    /* Each worker: `iterations` iterations, adding to worker->units, ->errors and ->sums. */
    void (*work)(struct worker *, uint64_t iterations);
    /* Main process after all workers: check, with check(), and add keys to the result line, with result_*(). */
    void (*finish)(void);
};

struct run {
    const struct benchmark *benchmark;
    int cores[MAX_WORKERS]; /* CPU numbers of MOSBENCH_CORES */
    unsigned core_count;
    unsigned workers;
    unsigned core_of[MAX_WORKERS]; /* of each worker: index into cores */
    uint64_t iterations, warmup;
    struct meeting_place *places; /* shared by all workers, as are: */
    struct sleeping_place *ready;
    struct parking_place *parking;
    struct slot *slots;
};
extern struct run run;

extern const struct benchmark line_benchmarks[], memory_benchmarks[], vfs_benchmarks[], net_benchmarks[], card_benchmarks[],
    card_stream_benchmarks[], card_chat_benchmarks[], vm_benchmarks[], process_benchmarks[];

/* An error in a worker's work: counted, the first one kept as a sentence. Cheap when ok. */
void worker_error(struct worker *, const char *what, long got);
#define EXPECT(worker, condition, what, got)                                                                                     \
    do {                                                                                                                         \
        if (__builtin_expect(!(condition), 0))                                                                                   \
            worker_error(worker, what, (long)(got));                                                                             \
    } while (0)

/* NUMA node of a CPU, as the kernel says it. */
unsigned node_of(int cpu);

/* Memory: anonymous, private, page aligned, all of it touched. node < 0: where it is first touched. */
enum pages { PAGES_SMALL, PAGES_HUGE, PAGES_AUTO };
void *memory(size_t bytes, int node, enum pages, bool *huge);

/* Lines under test: `count` of them, 128 bytes apart (so that no prefetcher pairs them), on P_NODE. Line i of `lines(n)`:
 * line_at. */
#define LINE_STRIDE 128
void *lines(size_t count);
static inline void *line_at(void *base, size_t index)
{
    return (char *)base + index * LINE_STRIDE;
}

static inline uint64_t cycles_now(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

static inline void relax(void)
{
    __asm__ volatile("pause" ::: "memory");
}

static inline uint64_t next_random(uint64_t *random) /* Knuth's generator */
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

/* `least` to twice as many. Nothing is drawn for 0. */
static inline uint64_t random_count(uint64_t least, uint64_t *random)
{
    return least ? least + next_random(random) % least : 0;
}

/* `least` to twice as many turns of an empty loop. No PAUSE, which an engine may take for one instruction or for forty cycles. */
static inline void work_between(uint64_t least, uint64_t *random)
{
    for (uint64_t turns = random_count(least, random); turns; turns--)
        __asm__ volatile("" : "+r"(turns));
}

/* The result line. */
uint64_t sum_of(unsigned index);                           /* sums[index] over all workers */
uint64_t total_iterations(void);                           /* warm-up included, over all workers */
void check(const char *what, uint64_t got, uint64_t want); /* the work is wrong unless they are equal */
void result_line(const char *name, const void *address);   /* a line under test: key "lines" */
void result_expected(const char *counter, uint64_t count); /* over all lines under test, in the region: key "expected" */
void result_extra(const char *format, ...) __attribute__((format(printf, 1, 2))); /* ,"key":value */
void report(void);

#endif

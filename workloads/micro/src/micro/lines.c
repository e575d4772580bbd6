/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cache lines of user memory shared in the ways that matter. All workers are threads.
 *
 * Where turns are taken strictly, the traffic on the lines under test is known exactly, whatever the timing: `expected` in the
 * result line. The counts are MOESI's: reading a line that another core modified is one transfer; writing a line that others may
 * hold too is one upgrade; writing a line that one does not hold is one transfer. Such a benchmark passes its turns over lines
 * that are not under test.
 */
#define _GNU_SOURCE
#include "micro.h"

static void *under_test; /* lines(n) */
static void *turns;      /* lines(n), not under test */

static volatile uint64_t *word(void *base, size_t index)
{
    return line_at(base, index);
}

/* ---- shared-atomic: every core adds to one counter ---- */

static void shared_atomic_setup(void)
{
    under_test = lines(1);
}

static void shared_atomic_work(struct worker *worker, uint64_t iterations)
{
    uint64_t *counter = under_test;

    for (uint64_t i = 0; i < iterations; i++)
        __asm__ volatile("lock addq $1, %0" : "+m"(*counter) : : "cc");
    worker->units += iterations;
}

static void shared_atomic_finish(void)
{
    check("the shared counter", *word(under_test, 0), total_iterations());
    result_line("counter", under_test);
    result_expected("atomics", run.workers * run.iterations);
}

/* ---- private-counters: every core adds to its own counter, in memory of its own node ---- */

static void private_counters_prepare(struct worker *worker)
{
    worker->state = memory(4096, -1, PAGES_SMALL, NULL);
    worker->slot->line = worker->state;
}

static void private_counters_work(struct worker *worker, uint64_t iterations)
{
    uint64_t *counter = worker->state;

    for (uint64_t i = 0; i < iterations; i++)
        __asm__ volatile("addq $1, %0" : "+m"(*counter) : : "cc");
    worker->units += iterations;
}

static void private_counters_finish(void)
{
    char name[32];

    for (unsigned i = 0; i < run.workers; i++) {
        check("a private counter", *(const volatile uint64_t *)run.slots[i].line, run.warmup + run.iterations);
        snprintf(name, sizeof(name), "counter-%u", i);
        result_line(name, run.slots[i].line);
    }
    result_expected("transfers", 0);
    result_expected("upgrades", 0);
    result_expected("reads", run.workers * run.iterations);
    result_expected("writes", run.workers * run.iterations);
}

/* ---- false-sharing: every core writes its own byte of one line ----
 * turns=free: add to it without waiting for anybody. turns=strict: store to it, one core after the other.
 *
 * Cores that only add fall into step: the order in which they get the line repeats itself, and which of several such orders it is
 * hangs on how they began. With `between` each does something else for a random time after an addition, and the order mixes. */

static bool strict;
static uint64_t between;

static void false_sharing_setup(void)
{
    const char *text = text_setting("P_TURNS");

    strict = text[0] == 's';
    between = number_setting("P_BETWEEN");
    if (run.workers > LINE_BYTES)
        die("false-sharing has a byte for each of %d cores", LINE_BYTES);
    under_test = lines(1);
    turns = lines(run.workers);
}

static void false_sharing_work(struct worker *worker, uint64_t iterations)
{
    volatile uint8_t *own = (uint8_t *)under_test + worker->index;

    if (strict) {
        volatile uint64_t *turn = word(turns, worker->index);
        volatile uint64_t *next = word(turns, (worker->index + 1) % run.workers);
        uint64_t round = worker->sums[0];

        /* turns[i] is the number of turns worker i has been given. Worker 0's first one is free; after that the last worker of a
         * round gives it the next. */
        for (uint64_t i = 0; i < iterations; i++, round++) {
            while (*turn < round + (worker->index > 0))
                relax();
            *own = (uint8_t)(round + 1);
            *next = round + 1;
        }
    } else {
        const uint64_t least = between;
        uint64_t random = worker->index + 1;

        for (uint64_t i = 0; i < iterations; i++) {
            __asm__ volatile("addb $1, %0" : "+m"(*own) : : "cc");
            work_between(least, &random);
        }
    }
    worker->sums[0] += iterations;
    worker->units += iterations;
}

static void false_sharing_finish(void)
{
    for (unsigned i = 0; i < run.workers; i++)
        check("a byte of the line", ((volatile uint8_t *)under_test)[i], (uint8_t)(run.warmup + run.iterations));
    result_line("line", under_test);
    result_expected("writes", run.workers * run.iterations);
    if (strict) {
        result_expected("transfers", run.workers > 1 ? run.workers * run.iterations : 0);
        result_expected("upgrades", 0);
    }
}

/* ---- ping-pong and upgrades: two chosen cores ---- */

static void two_cores_setup(void)
{
    uint64_t a = number_setting("P_A"), b = number_setting("P_B");

    if (a >= run.core_count || b >= run.core_count || a == b)
        die("a=%lu and b=%lu must be two of the %u cores", a, b, run.core_count);
    run.workers = 2;
    run.core_of[0] = (unsigned)a;
    run.core_of[1] = (unsigned)b;
    under_test = lines(1);
    turns = lines(2);
}

/* One word goes up by one at each hand-off; worker 0 writes the odd values. A hand-off is one transfer (the other core's read of
 * the new value) and one upgrade (its write), however often the waiting core reads before. */
static void ping_pong_work(struct worker *worker, uint64_t iterations)
{
    volatile uint64_t *ball = word(under_test, 0);

    for (uint64_t i = 0; i < iterations; i++) {
        uint64_t value;

        while (((value = *ball) & 1) != worker->index)
            relax();
        *ball = value + 1;
    }
    worker->units += iterations;
}

static void ping_pong_finish(void)
{
    check("hand-offs", *word(under_test, 0), total_iterations());
    result_line("ball", under_test);
    result_expected("transfers", 2 * run.iterations);
    result_expected("upgrades", 2 * run.iterations);
    result_expected("writes", 2 * run.iterations);
}

/* Worker 0 reads the line and writes it; worker 1 reads it. The read of worker 1 is a transfer, after which both hold the line;
 * the write of worker 0 is an upgrade. */
static void upgrades_work(struct worker *worker, uint64_t iterations)
{
    volatile uint64_t *line = word(under_test, 0);
    volatile uint64_t *turn = word(turns, worker->index), *other = word(turns, 1 - worker->index);

    for (uint64_t i = 0; i < iterations; i++) {
        uint64_t round = worker->sums[0]++;

        if (worker->index == 0) {
            while (*turn < round)
                relax();
            EXPECT(worker, *line == round, "the writer read an old value", *line);
            *line = round + 1;
            *other = round + 1;
        } else {
            while (*turn < round + 1)
                relax();
            EXPECT(worker, *line == round + 1, "the reader read an old value", *line);
            *other = round + 1;
        }
        worker->units += worker->index == 0;
    }
}

static void upgrades_finish(void)
{
    check("writes", *word(under_test, 0), run.warmup + run.iterations);
    result_line("line", under_test);
    result_expected("transfers", run.iterations);
    result_expected("upgrades", run.iterations);
    result_expected("reads", 2 * run.iterations);
    result_expected("writes", run.iterations);
}

/* ---- read-mostly: every core reads one line; at every P_RATIO-th access core 0 writes it instead ---- */

static uint64_t ratio;

static void read_mostly_setup(void)
{
    ratio = number_setting("P_RATIO");
    under_test = lines(1);
}

static void read_mostly_work(struct worker *worker, uint64_t iterations)
{
    volatile uint64_t *line = word(under_test, 0);
    uint64_t last = worker->sums[1], backwards = 0;

    if (worker->index == 0) {
        for (uint64_t i = 0, until = ratio; i < iterations; i++) {
            if (--until == 0) {
                *line = ++last;
                worker->sums[0]++;
                until = ratio;
            } else {
                backwards += *line != last;
            }
        }
    } else {
        for (uint64_t i = 0; i < iterations; i++) {
            uint64_t value = *line;

            backwards += value < last;
            last = value;
        }
    }
    EXPECT(worker, backwards == 0, "values that went backwards", backwards);
    worker->sums[1] = last;
    worker->units += iterations;
}

static void read_mostly_finish(void)
{
    check("writes", *word(under_test, 0), run.warmup / ratio + run.iterations / ratio);
    check("writes of worker 0", sum_of(0), run.warmup / ratio + run.iterations / ratio);
    result_line("line", under_test);
    result_expected("writes", run.iterations / ratio);
    result_expected("reads", run.workers * run.iterations - run.iterations / ratio);
}

/* ---- ticket-lock: Linux's spin lock of 2008 to 2014, around one addition ---- */

struct ticket_lock {
    uint32_t owner, next; /* one line, as there */
};

static void ticket_lock_setup(void)
{
    under_test = lines(2);
}

static void ticket_lock_work(struct worker *worker, uint64_t iterations)
{
    struct ticket_lock *lock = under_test;
    volatile uint64_t *counter = word(under_test, 1);

    for (uint64_t i = 0; i < iterations; i++) {
        uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_ACQUIRE);

        while (__atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) != ticket)
            relax();
        *counter = *counter + 1;
        __atomic_store_n(&lock->owner, ticket + 1, __ATOMIC_RELEASE);
    }
    worker->units += iterations;
}

static void ticket_lock_finish(void)
{
    check("additions under the lock", *word(under_test, 1), total_iterations());
    result_line("lock", under_test);
    result_line("counter", line_at(under_test, 1));
    result_expected("atomics", run.workers * run.iterations);
}

const struct benchmark line_benchmarks[] = {
    {
        .name = "shared-atomic",
        .unit = "additions",
        .setup = shared_atomic_setup,
        .work = shared_atomic_work,
        .finish = shared_atomic_finish,
    },
    {
        .name = "private-counters",
        .unit = "additions",
        .prepare = private_counters_prepare,
        .work = private_counters_work,
        .finish = private_counters_finish,
    },
    {
        .name = "false-sharing",
        .unit = "writes",
        .setup = false_sharing_setup,
        .work = false_sharing_work,
        .finish = false_sharing_finish,
    },
    {
        .name = "ping-pong",
        .unit = "hand-offs",
        .minimum = 2,
        .setup = two_cores_setup,
        .work = ping_pong_work,
        .finish = ping_pong_finish,
    },
    {
        .name = "upgrades",
        .unit = "upgrades",
        .minimum = 2,
        .setup = two_cores_setup,
        .work = upgrades_work,
        .finish = upgrades_finish,
    },
    {
        .name = "read-mostly",
        .unit = "accesses",
        .setup = read_mostly_setup,
        .work = read_mostly_work,
        .finish = read_mostly_finish,
    },
    {
        .name = "ticket-lock",
        .unit = "acquisitions",
        .setup = ticket_lock_setup,
        .work = ticket_lock_work,
        .finish = ticket_lock_finish,
    },
    {.name = NULL},
};

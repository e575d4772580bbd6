/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the stress variants share: their description, their workers, random numbers that are the same on every run, and the check.
 */
#ifndef STRESS_H
#define STRESS_H

#include "workers.h"

#include <stdbool.h>
#include <stddef.h>

struct slot {
    _Alignas(128) uint64_t operations;
    uint64_t cycles;
};

struct worker {
    unsigned index;   /* 0 ... workers - 1 */
    unsigned workers; /* how many there are */
    uint64_t random;
    struct slot *slot;
};

struct stress {
    const char *name;
    /* Main process, before the workers exist, in the run's working folder (a tmpfs). May be NULL. */
    void (*setup)(void);
    /* Each worker, a process pinned on its own core. */
    void (*work)(struct worker *worker, uint64_t iterations);
    /* Main process, after all workers. May be NULL. */
    void (*finish)(void);
};

/* The run cannot go on: the kernel answered what it must not. */
#define MUST(condition, ...)                                                                                                     \
    do {                                                                                                                         \
        if (__builtin_expect(!(condition), 0))                                                                                   \
            die(__VA_ARGS__);                                                                                                    \
    } while (0)

/* Count `number` operations (calls of the kernel) as done. */
static inline void did(struct worker *worker, unsigned number)
{
    worker->slot->operations += number;
}

/* A number below `limit` (xorshift64*: the same numbers for the same worker on every run). */
static inline unsigned draw(struct worker *worker, unsigned limit)
{
    worker->random ^= worker->random >> 12;
    worker->random ^= worker->random << 25;
    worker->random ^= worker->random >> 27;
    return (unsigned)((worker->random * 0x2545F4914F6CDD1Dull >> 33) % limit);
}

/* Write a word to a file of /proc or /sys. */
static inline bool tell_kernel(const char *path, const char *word)
{
    FILE *file = fopen(path, "w");

    if (!file)
        return false;
    return (fputs(word, file) >= 0) & (fclose(file) == 0);
}

extern const struct stress connections_stress, expiry_stress, files_stress, lookups_stress, mounts_stress, network_stress,
    pages_stress, seeks_stress, sleepers_stress, sockets_stress, superpages_stress;

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs of the guest whose workers are threads.
 */
#ifndef MOSBENCH_THREADS_H
#define MOSBENCH_THREADS_H

#include <pthread.h>

#include "workers.h"

/* Run worker(index), the index as a pointer, in `count` threads, at most MAX_WORKERS; returns when all have ended. */
static inline void run_threads(unsigned count, void *(*worker)(void *index))
{
    pthread_t threads[MAX_WORKERS];

    for (unsigned i = 0; i < count; i++) {
        errno = pthread_create(&threads[i], NULL, worker, (void *)(uintptr_t)i);
        if (errno)
            die("cannot create thread %u", i);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

#endif

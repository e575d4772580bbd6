/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that add to one variable, between marks of the program's own. */
#define _GNU_SOURCE
#include <pthread.h>

#include "roi.h"

long own_counter;

static __attribute__((noinline)) void *count_up(void *unused)
{
    for (int i = 0; i < 20011; i++)
        __atomic_add_fetch(&own_counter, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void)
{
    pthread_t threads[3];

    roi_begin();
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, count_up, NULL);
    count_up(NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    roi_end();
    return own_counter == 4 * 20011 ? 0 : 1;
}

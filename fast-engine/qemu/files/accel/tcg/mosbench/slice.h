/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The slice under way: a core runs until its budget is used up or somebody wants it to end.
 */
#ifndef MOSBENCH_SLICE_H
#define MOSBENCH_SLICE_H

#include "qemu/thread.h"
#include "core.h"

typedef struct Slice {
    int core;              /* whose it is, or whose the last one or access was; -1: nobody's yet */
    bool under_way;
    bool yielded;          /* it ended in PAUSE: the core has no right to go on */
    bool ended;            /* it has ended already when the core stops */
    int attention;         /* somebody wants the outer loop */
    QemuThread *thread;    /* of the loop, and so of all cores */
} Slice;

extern Slice mosbench_slice;

/* The core of the slice under way, or NULL. */
static inline Core *mosbench_running(void)
{
    return mosbench_slice.under_way ? &mosbench_cores[mosbench_slice.core] : NULL;
}

/* Whether this is the thread of the slice under way, and not a device's. */
static inline bool mosbench_in_slice(void)
{
    return mosbench_slice.under_way && qemu_thread_is_self(mosbench_slice.thread);
}

static inline void mosbench_want_attention(void)
{
    qatomic_set(&mosbench_slice.attention, 1);
}

/* The outer loop is to look around: now if the slice's own thread wants it, else when the slice has ended, which is soon. Where a
 * slice ends must not depend on the host. */
void mosbench_cut_slice(void);

#endif

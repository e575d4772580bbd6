/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The cores in the order of their clocks.
 */
#ifndef MOSBENCH_RUN_QUEUE_H
#define MOSBENCH_RUN_QUEUE_H

#include "core.h"
#include "logic/order.h"

extern Order mosbench_order;

/* The core's clock has changed, or whether it can run. */
static inline void mosbench_order_update(int index, bool can_run)
{
    const CoreTime *time = &mosbench_cores[index].time;

    order_set(&mosbench_order, index, can_run, time->clock, time->deferred);
}

#endif

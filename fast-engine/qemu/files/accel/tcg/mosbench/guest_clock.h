/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's clocks and timers: its time is the clock of the core that runs, else of the slowest.
 */
#ifndef MOSBENCH_GUEST_CLOCK_H
#define MOSBENCH_GUEST_CLOCK_H

#include "logic/guest_time.h"

extern GuestTime mosbench_time;

/* Cycles. Who asks sees a thing that changes by itself: a core's round under observation is none any more. */
int64_t mosbench_now(void);
void mosbench_set_clock_ghz(double ghz);
int64_t mosbench_virtual_clock(void);     /* nanoseconds */
int64_t mosbench_elapsed_ticks(void);     /* the time stamp counter */

/* When the next timer of QEMU_CLOCK_VIRTUAL is due, in cycles, or NEVER. */
int64_t mosbench_next_deadline(void);
void mosbench_run_timers(void);

#endif

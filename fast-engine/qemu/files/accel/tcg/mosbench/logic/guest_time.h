/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's time: cycles of the cores, the nanoseconds they are, and the next timer.
 *
 * nanoseconds = scale_ns + (cycles - scale_cycles) * ns_per_cycle_q32 / 2^32
 */
#ifndef MOSBENCH_GUEST_TIME_H
#define MOSBENCH_GUEST_TIME_H

#include "cycles.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GuestTime {
    int64_t now;       /* cycles: no core that can run is slower */
    int64_t deadline;  /* cycles: the next timer, or NEVER */
    int64_t last_read; /* time never goes back, whichever core reads it */
    int64_t scale_ns, scale_cycles;
    uint64_t ns_per_cycle_q32; /* 0: the clock was never set */
} GuestTime;

/* From cycle `now` on the clock runs at that frequency; nanoseconds go on from where they are. */
void guest_time_set_clock(GuestTime *time, int64_t now, double ghz);

int64_t guest_time_ns(const GuestTime *time, int64_t cycles);

/* The first cycle at which the clock shows `ns`. The same whenever it is asked for. */
int64_t guest_time_cycles(const GuestTime *time, int64_t ns);

/* What a reader at cycle `now` sees. */
static inline int64_t guest_time_read(GuestTime *time, int64_t now)
{
    time->last_read = later(time->last_read, now);
    return time->last_read;
}

/* What a core that wakes up finds. */
static inline int64_t guest_time_latest(const GuestTime *time)
{
    return later(time->now, time->last_read);
}

/* The slowest core is at cycle `slowest`: so far has time come, but not past the next timer. True: that one is due. */
static inline bool guest_time_advance(GuestTime *time, int64_t slowest)
{
    time->now = later(time->now, earlier(slowest, time->deadline));
    return slowest >= time->deadline;
}

/* Everyone sleeps: straight to the next timer. False: there is none. */
static inline bool guest_time_jump(GuestTime *time)
{
    if (time->deadline == NEVER) {
        return false;
    }
    time->now = time->deadline;
    return true;
}

#ifdef __cplusplus
}
#endif
#endif

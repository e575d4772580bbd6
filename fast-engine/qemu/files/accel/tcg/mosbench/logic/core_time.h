/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A core's clock and how far it may run.
 *
 * No core makes an access that the model sees further past the second slowest than a quantum (the smallest time from a request of
 * one core to its effect on another), so that none can see an access before it happened. What hits lines that only this core uses
 * is nobody else's business: there it may run ahead some quanta more.
 */
#ifndef MOSBENCH_CORE_TIME_H
#define MOSBENCH_CORE_TIME_H

#include "cycles.h"
#include "order.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Quanta that a core may run ahead on lines of its own, and how far one may that has asked the model for nothing in its last
 * slices. Interrupts come late by as much. */
#define AHEAD 8
#define CALM_AHEAD 16
#define CALM_SLICES 2
/* A budget is 16 bits wide with its sign, and a block may overdraw it. */
#define MAX_BUDGET 16000

/* All times are cycles. `clock` is exact between slices; inside one, what the budget has lost comes on top. */
typedef struct CoreTime {
    int64_t clock;   /* of one that waits before an access, when that is to happen */
    int64_t limit;   /* accesses that reach the model are before it */
    int64_t ordered; /* those that ask others are before this as well */
    int64_t far;     /* blocks begin before it */
    int64_t next_sample;
    int32_t budget;       /* given to the generated code at the last refill */
    int32_t charged;      /* of one that waits or was answered: cycles past the access that its block was charged already */
    uint32_t calm_slices; /* ended without a call of the model since its last one */
    bool cut;             /* the last slice ended before its limit */
    bool waiting;         /* stands before an access, in the middle of a block: the loop makes it when its time has come */
    bool answered;        /* the loop has made it, and what it costs is in the clock */
    bool deferred;        /* sent away from a busy line until its clock: its turn */
} CoreTime;

/* How far a core may run, past what others do: its accesses, its blocks. */
typedef struct Bounds {
    int64_t limit, far;
} Bounds;

/* Cycles that a core may be ahead of the slowest other one, as long as it asks nothing of the model. */
static inline int64_t core_time_ahead(const CoreTime *time, int64_t quantum)
{
    return (time->calm_slices < CALM_SLICES ? AHEAD : CALM_AHEAD) * quantum;
}

/* A quantum past the slowest other one, and not past anybody's turn. */
static inline Bounds core_time_bounds(const CoreTime *time, const Order *order, int core, int64_t quantum)
{
    int64_t other = order_other(order, core);
    int64_t turn = order_other_turn(order, core);
    Bounds bounds = {turn, NEVER};

    if (other != NEVER) {
        bounds.limit = earlier(other + quantum, turn);
        bounds.far = other + core_time_ahead(time, quantum);
    }
    return bounds;
}

/* Whether a core may go on that is not the slowest; that one's clock is `slowest`. Not one that waits for its turn: the slowest
 * may be the holder, who has the line until then. */
static inline bool core_time_may_go_on(const CoreTime *time, const Order *order, int core, int64_t slowest, int64_t quantum)
{
    if (time->deferred) {
        return false;
    }
    if (time->waiting || time->answered) {
        return time->clock < slowest + quantum && time->clock < order_other_turn(order, core);
    }
    return time->clock < slowest + core_time_ahead(time, quantum);
}

/* Begin a slice in these bounds, none of it past `end` (a timer, a sample): at least a cycle. */
static inline void core_time_begin_slice(CoreTime *time, Bounds bounds, int64_t end)
{
    int64_t limit = later(earlier(bounds.limit, end), time->clock + 1);
    int64_t far = later(earlier(bounds.far, end), limit);

    if (time->cut) {
        /* The slice was ended early for something else: it goes on as if it had not been. */
        limit = earlier(limit, time->limit);
        far = earlier(far, time->far);
    }
    time->limit = limit;
    time->far = far;
    if (!time->answered) {
        time->ordered = limit;
    }
    time->deferred = false;
    time->budget = 0;
}

/* The slice is over, its clock charged if the core does not stand before an access. One that was cut short counts when it ends:
 * how far a core may run must not depend on who cut it. */
static inline void core_time_end_slice(CoreTime *time, bool halted)
{
    time->cut = !time->waiting && time->clock < time->far && !halted;
    if (!time->waiting && !time->cut && time->calm_slices < CALM_SLICES) {
        time->calm_slices++;
    }
}

/* What the generated code has used of the budget, of which `left` is left, goes to the clock. */
static inline void core_time_charge(CoreTime *time, int32_t left)
{
    time->clock += time->budget - left;
    time->budget = left;
}

/* A budget up to where the core may run; below zero: not even a block more. Blocks run while it is not negative. */
static inline void core_time_refill(CoreTime *time)
{
    int64_t left = time->far - time->clock - 1;

    time->budget = left < 0 ? -1 : (int32_t)earlier(left, MAX_BUDGET);
}

/* Cycles of the budget that lie beyond the limit; below zero: the budget ends before that. */
static inline int32_t core_time_margin(const CoreTime *time)
{
    return (int32_t)later(time->clock + time->budget - time->limit, INT32_MIN / 2);
}

/* Nothing more in this slice from `end` on. */
static inline void core_time_end_at(CoreTime *time, int64_t end)
{
    time->limit = earlier(time->limit, end);
    time->far = time->limit;
}

/* Another core can run from `clock` on, which was not known when the slice began. */
static inline void core_time_other_woken(CoreTime *time, int64_t clock, int64_t quantum)
{
    time->limit = earlier(time->limit, clock + quantum);
    time->far = earlier(time->far, clock + core_time_ahead(time, quantum));
}

/* The core stands before an access, `remaining` cycles before the end of what it was charged, for `away` cycles at least. */
static inline void core_time_stand(CoreTime *time, uint64_t away, bool deferred, uint32_t remaining)
{
    time->clock += (int64_t)away - remaining;
    time->charged = (int32_t)remaining;
    time->waiting = true;
    time->deferred = deferred;
}

/* It goes on from there: the access was made, or it is to start anew. */
static inline void core_time_go_on(CoreTime *time, uint32_t remaining)
{
    time->waiting = time->answered = false;
    time->charged = 0;
    time->clock += remaining;
}

/* The access that the core stood before was made, within `limit`, and took so long. Until it is the slowest again others'
 * accesses come first, in the order of their times: a link or a memory that was booked too early would seem busy to them. */
static inline void core_time_served(CoreTime *time, uint64_t cycles, int64_t limit)
{
    time->clock += cycles;
    time->deferred = false;
    time->ordered = limit;
    time->answered = true;
    time->waiting = false;
}

/* It was not: the core stands there still, its turn comes so much later. */
static inline void core_time_sent_away(CoreTime *time, uint64_t cycles)
{
    time->clock += cycles;
    time->deferred = true;
}

/* The core slept until `now` and was not sampled meanwhile. Returns the cycles. */
static inline int64_t core_time_idle_until(CoreTime *time, int64_t now)
{
    int64_t idle = now - time->clock;

    if (idle <= 0) {
        return 0;
    }
    time->next_sample += idle;
    time->clock = now;
    return idle;
}

/* A core is sampled at the first end of a slice past its sampling time; the slice is cut there, so the place is reproducible.
 * Returns the periods that this sample stands for, 0 before its time. */
static inline uint32_t core_time_sample(CoreTime *time, uint32_t period)
{
    uint32_t periods;

    if (time->clock < time->next_sample) {
        return 0;
    }
    periods = (uint32_t)((time->clock - time->next_sample) / period + 1);
    time->next_sample += (int64_t)periods * period;
    return periods;
}

/* Which core runs next, if `slowest` has the least clock, `clock`, and `last` ran last and gave up nothing: that one goes on
 * while it may. It is fewer switches, and the same order of events. */
static inline int core_time_next(const Order *order, int slowest, int64_t clock, int last, const CoreTime *last_time,
                                 int64_t quantum)
{
    return last != slowest && order_has(order, last) && core_time_may_go_on(last_time, order, last, clock, quantum) ? last
                                                                                                                    : slowest;
}

#ifdef __cplusplus
}
#endif
#endif

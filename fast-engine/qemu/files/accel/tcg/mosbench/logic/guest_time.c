/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See guest_time.h.
 */
#include "guest_time.h"

__extension__ typedef __int128 Wide;

#define ONE_Q32 4294967296.0

int64_t guest_time_ns(const GuestTime *time, int64_t cycles)
{
    return time->scale_ns + (int64_t)(((Wide)(cycles - time->scale_cycles) * time->ns_per_cycle_q32) >> 32);
}

int64_t guest_time_cycles(const GuestTime *time, int64_t ns)
{
    Wide after_scale = (Wide)(ns - time->scale_ns) * (1ll << 32);

    return time->scale_cycles + (int64_t)((after_scale + time->ns_per_cycle_q32 - 1) / time->ns_per_cycle_q32);
}

void guest_time_set_clock(GuestTime *time, int64_t now, double ghz)
{
    if (time->ns_per_cycle_q32) {
        time->scale_ns = guest_time_ns(time, now);
    }
    time->scale_cycles = now;
    time->ns_per_cycle_q32 = (uint64_t)(ONE_Q32 / ghz);
}

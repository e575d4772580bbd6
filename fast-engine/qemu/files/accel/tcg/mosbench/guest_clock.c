/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See guest_clock.h. Nothing here depends on the host's time.
 */
#include "qemu/osdep.h"
#include "guest_clock.h"
#include "qemu/timer.h"
#include "budget.h"
#include "settings.h"
#include "slice.h"

GuestTime mosbench_time = { .deadline = NEVER };

int64_t mosbench_now(void)
{
    int64_t now = mosbench_time.now;

    if (mosbench_in_slice()) {
        Core *core = mosbench_running();
        now = mosbench_core_now(core, 0);
        core->spin.observing = false;    /* what it sees changes by itself */
    }
    return guest_time_read(&mosbench_time, now);
}

int64_t mosbench_next_deadline(void)
{
    int64_t ns = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);

    return ns < 0 ? NEVER : guest_time_cycles(&mosbench_time, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + ns);
}

void mosbench_set_clock_ghz(double ghz)
{
    guest_time_set_clock(&mosbench_time, mosbench_now(), ghz);
    mosbench_want_attention();
}

int64_t mosbench_virtual_clock(void)
{
    return guest_time_ns(&mosbench_time, mosbench_now());
}

/* It runs at the machine's clock against guest time, also while the boot clock is slow. */
int64_t mosbench_elapsed_ticks(void)
{
    return (int64_t)(mosbench_virtual_clock() * mosbench_settings.clock_ghz);
}

void mosbench_run_timers(void)
{
    if (mosbench_time.now >= mosbench_time.deadline &&
        qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL) == 0) {
        guest_time_read(&mosbench_time, mosbench_time.now);
        qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
    }
}

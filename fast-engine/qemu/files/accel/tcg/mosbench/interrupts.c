/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Interrupts, kicks and timers cut a slice short.
 */
#include "qemu/osdep.h"
#include "mosbench/hooks.h"
#include "sysemu/accel-ops.h"
#include "sysemu/cpus.h"
#include "guest_clock.h"
#include "settings.h"
#include "sleep.h"
#include "slice.h"

static void handle_interrupt(CPUState *cpu, int mask)
{
    cpu->interrupt_request |= mask;
    mosbench_wake(cpu->cpu_index, mosbench_now());
    if (mosbench_in_slice()) {
        qatomic_set(&cpu_neg(cpu)->icount_decr.u16.high, -1);
        if (cpu->halted) {
            mosbench_cut_slice();
        }
    } else {
        qemu_cpu_kick(cpu);
    }
}

static void kick(CPUState *cpu G_GNUC_UNUSED)
{
    mosbench_cut_slice();
}

void mosbench_timer_changed(void)
{
    if (mosbench_slice.thread && qemu_thread_is_self(mosbench_slice.thread)) {
        if (mosbench_slice.under_way && mosbench_next_deadline() < mosbench_time.deadline) {
            mosbench_cut_slice();
        }
    } else {
        mosbench_cut_slice();
        if (first_cpu && first_cpu->halt_cond) {
            qemu_cond_broadcast(first_cpu->halt_cond);
        }
    }
}

void mosbench_accel_ops(AccelOpsClass *ops)
{
    mosbench_set_clock_ghz(MOSBENCH_BOOT_CLOCK_GHZ);
    ops->handle_interrupt = handle_interrupt;
    ops->kick_vcpu_thread = kick;
    ops->get_virtual_clock = mosbench_virtual_clock;
    ops->get_elapsed_ticks = mosbench_elapsed_ticks;
}

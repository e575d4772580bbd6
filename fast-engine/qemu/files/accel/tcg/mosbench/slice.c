/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See slice.h.
 */
#include "qemu/osdep.h"
#include "slice.h"
#include "mosbench/hooks.h"

Slice mosbench_slice = { .core = -1 };

void mosbench_cut_slice(void)
{
    mosbench_want_attention();
    if (mosbench_in_slice()) {
        CPUState *cpu = mosbench_running()->cpu;

        qatomic_set(&cpu->exit_request, 1);
        qatomic_set(&cpu_neg(cpu)->icount_decr.u16.high, -1);
    }
}

void mosbench_disturbed(void)
{
    Core *core = mosbench_running();

    if (core) {
        core->spin.observing = false;
    }
}

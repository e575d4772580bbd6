/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See debugger.h.
 */
#include "qemu/osdep.h"
#include "debugger.h"
#include "qemu/error-report.h"
#include "sysemu/cpus.h"

static Core *pending;

void mosbench_debug_stop(Core *core)
{
    if (!pending) {
        pending = core;
    }
}

bool mosbench_debug_pending(void)
{
    return pending != NULL;
}

/* The main loop would stop the others one by one, after they had run on for as long as that takes: they count as stopped at once. */
void mosbench_tell_debugger(void)
{
    Core *core = pending;

    if (!core) {
        return;
    }
    pending = NULL;
    info_report("mosbench: stopped for a debugger");
    cpu_handle_guest_debug(core->cpu);
    for (int i = 0; i < mosbench_core_count; i++) {
        if (mosbench_cores[i].cpu) {
            mosbench_cores[i].cpu->stopped = true;
        }
    }
}

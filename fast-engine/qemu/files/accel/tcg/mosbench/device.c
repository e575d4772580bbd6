/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What an access to a device costs the core that makes it.
 */
#include "qemu/osdep.h"
#include "budget.h"
#include "settings.h"
#include "slice.h"
#include "mosbench/hooks.h"

void mosbench_device_wait(uint64_t ns)
{
    Core *core = mosbench_running();

    if (mosbench_hooks && core && ns) {
        uint64_t cycles = ns * mosbench_settings.clock_ghz;

        core->device += cycles;
        mosbench_core_wait(core, cycles);
    }
}

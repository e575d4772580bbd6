/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What an access to a device costs the core that makes it.
 */
#include "engine.h"

void mosbench_device_wait(uint64_t ns)
{
    if (mosbench_hooks && current_cpu && ns) {
        mosbench_core_wait(&mosbench_cores[current_cpu->cpu_index], ns * mosbench_settings.clock_ghz);
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a serializing instruction costs a core that works ahead: it waits for its loads, and begins with an empty pipeline.
 */
#include "qemu/osdep.h"
#include "mosbench/hooks.h"
#include "budget.h"
#include "settings.h"

void mosbench_serialized(void *opaque)
{
    CPUArchState *env = opaque;
    Core *core = mosbench_core_of(env_cpu(env));
    uint64_t cycles;

    if (!mosbench_hooks || !mosbench_issue_width) {
        return;
    }
    cycles = mosbench_operations.serialized(mosbench_model, env_cpu(env)->cpu_index, mosbench_core_now(core, 0)) +
             mosbench_serializing_cycles;
    core->spin.observing = false;
    core->issued += cycles;
    mosbench_core_wait(core, cycles);
}

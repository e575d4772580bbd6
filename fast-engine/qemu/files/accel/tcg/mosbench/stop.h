/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How a core stops: where it stands (stacks.h), to go on from there, or before an instruction that is to start anew.
 */
#ifndef MOSBENCH_STOP_H
#define MOSBENCH_STOP_H

#include "core.h"

/* Stand before core->access (`remaining` cycles before the end of what is charged) until the loop has made it, at least `away`
 * cycles later, and the core is resumed. False: it has not been made, or is a stale store: the core is to leave the block instead. */
bool mosbench_core_stand(Core *core, uint64_t away, bool deferred, uint32_t remaining);

/* Whether the core is to store to a page that may have code since it stopped: the store is to look up its page again. */
bool mosbench_store_is_stale(const Core *core);

/* Leave the instruction before its access; it starts anew in a later slice. */
G_NORETURN void mosbench_core_start_anew(Core *core, uintptr_t return_address);
/* The same, because others' earlier accesses come first. */
G_NORETURN void mosbench_core_yield(Core *core, uintptr_t return_address);
/* The same, because the line is busy: so many cycles later. */
G_NORETURN void mosbench_core_defer(Core *core, uint64_t away, uintptr_t return_address);

#endif

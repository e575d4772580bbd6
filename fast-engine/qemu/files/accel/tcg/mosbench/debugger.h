/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A debugger on QEMU's GDB port. When a core meets a breakpoint or has made its step, and where the region begins if that is wanted,
 * every core stops where it is between two instructions, and guest time with them.
 */
#ifndef MOSBENCH_DEBUGGER_H
#define MOSBENCH_DEBUGGER_H

#include "core.h"

/* The core has something to tell; it is told when the slice is over. */
void mosbench_debug_stop(Core *core);
/* Whether one has. */
bool mosbench_debug_pending(void);
/* Tell it, and stop all cores until the debugger lets them go on. With the big lock held. */
void mosbench_tell_debugger(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See core.h.
 */
#include "qemu/osdep.h"
#include "core.h"

Core mosbench_cores[MAX_CORES];
int mosbench_core_count;
CoreCounts mosbench_counts;

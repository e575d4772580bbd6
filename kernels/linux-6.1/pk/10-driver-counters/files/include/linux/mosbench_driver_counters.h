/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_DRIVER_COUNTERS_H
#define _LINUX_MOSBENCH_DRIVER_COUNTERS_H

#include <linux/types.h>

/* Adds to a counter that several cores share. Adding nothing does not take its line from the cores that read beside it. */
static inline void mosbench_add_some(u64 *counter, unsigned int amount)
{
#ifdef CONFIG_MOSBENCH_DRIVER_COUNTERS
	if (!amount)
		return;
#endif
	*counter += amount;
}

#endif

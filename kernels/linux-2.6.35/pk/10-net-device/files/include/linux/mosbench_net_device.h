/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_NET_DEVICE_H
#define _LINUX_MOSBENCH_NET_DEVICE_H

#include <linux/cache.h>

/* In a structure: what follows begins a cache line. `name` only makes the member's name unique. */
#ifdef CONFIG_MOSBENCH_NET_DEVICE
#define MOSBENCH_NEW_LINE(name) char mosbench_line_of_##name[0] ____cacheline_aligned_in_smp;
#else
#define MOSBENCH_NEW_LINE(name)
#endif

#endif

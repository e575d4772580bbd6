/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_PAGE_H
#define _LINUX_MOSBENCH_PAGE_H

/*
 * In front of the counts of struct page and of the structures that lie over it: begins a cache line, and makes them a whole number of
 * lines.
 */
#ifdef CONFIG_MOSBENCH_PAGE
#define MOSBENCH_PAGE_COUNTS char mosbench_counts[0] __attribute__((aligned(64)));
#else
#define MOSBENCH_PAGE_COUNTS
#endif

#endif

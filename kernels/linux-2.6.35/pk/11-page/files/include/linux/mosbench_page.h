/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_PAGE_H
#define _LINUX_MOSBENCH_PAGE_H

#include <linux/types.h>

/*
 * The counts of struct page: they begin a cache line, which they only share with the list of pages that the page is on, and make the
 * structure two lines.
 */
#define MOSBENCH_PAGE_COUNTS			\
	atomic_t _count __attribute__((aligned(64)));	\
	union {					\
		atomic_t _mapcount;		\
		struct {			\
			u16 inuse;		\
			u16 objects;		\
		};				\
	};

#endif

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

/*
 * Where a page's wait queue is in its zone's table. By its number: the kernel's hash of addresses that are multiples of 128 reaches a
 * quarter of the table.
 */
#ifdef CONFIG_MOSBENCH_PAGE
#define mosbench_page_hash(page, bits) hash_long(page_to_pfn(page), bits)
#else
#define mosbench_page_hash(page, bits) hash_ptr(page, bits)
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_PAGE_H
#define _LINUX_MOSBENCH_PAGE_H

/* In struct page, in front of its first read-mostly field: begins a cache line, and makes the structure a whole number of lines. */
#ifdef CONFIG_MOSBENCH_PAGE
#define MOSBENCH_PAGE_READ_MOSTLY char mosbench_read_mostly[0] __attribute__((aligned(64)));
#else
#define MOSBENCH_PAGE_READ_MOSTLY
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_SUPERPAGE_ZEROING_H
#define _LINUX_MOSBENCH_SUPERPAGE_ZEROING_H

#ifdef CONFIG_MOSBENCH_SUPERPAGE_ZEROING
#include <linux/mm_types.h>

/* Zero one small page of a super-page with stores that allocate no cache line; complete before this returns. */
void mosbench_clear_part(struct page *page);

#define mosbench_clear_user_highpage(page, address) mosbench_clear_part(page)
#else
#define mosbench_clear_user_highpage(page, address) clear_user_highpage(page, address)
#endif

#endif

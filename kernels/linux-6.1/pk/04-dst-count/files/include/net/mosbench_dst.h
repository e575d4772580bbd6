/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NET_MOSBENCH_DST_H
#define _NET_MOSBENCH_DST_H

struct dst_entry;

#ifdef CONFIG_MOSBENCH_DST_COUNT
#include <linux/mosbench_spares.h>

DECLARE_PER_CPU_ALIGNED(struct mosbench_spares, mosbench_dst_spares);

/* A reference to a route, found without one: false if there is no spare, and the count itself has to be asked. */
#define mosbench_dst_take(dst) mosbench_spare_take(&mosbench_dst_spares, dst)

struct dst_entry *mosbench_dst_claim(struct dst_entry *dst);

/* Keep the caller's reference as a spare if that is allowed: the route of which the caller then has one to drop, or NULL. */
static inline struct dst_entry *mosbench_dst_keep(struct dst_entry *dst)
{
	return mosbench_spare_keep(&mosbench_dst_spares, dst) ? NULL : mosbench_dst_claim(dst);
}

/* Give the spares of a route that has been marked dead back; the caller has a reference of its own. */
void mosbench_dst_drain(struct dst_entry *dst);
#else
#define mosbench_dst_take(dst) false
#define mosbench_dst_keep(dst) (dst)
#define mosbench_dst_drain(dst) do { } while (0)
#endif

#endif

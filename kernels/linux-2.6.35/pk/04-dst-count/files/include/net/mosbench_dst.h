/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sloppy reference counts of routes (dst_entry). With the option off every name here is the code that was there before. */
#ifndef _NET_MOSBENCH_DST_H
#define _NET_MOSBENCH_DST_H

struct dst_entry;

#ifdef CONFIG_MOSBENCH_DST_COUNT
#include <linux/mosbench_sloppy.h>

/* Spares that a core keeps of one route. */
#define MOSBENCH_DST_THRESHOLD 16

/* Macros, because struct dst_entry is not known here; a call each would be what one core pays most for. */
#define mosbench_dst_hold(dst)                                                                  \
	do {                                                                                    \
		struct mosbench_slot __percpu *__slots = ACCESS_ONCE((dst)->mosbench_slots);    \
		if (!mosbench_slots_take(__slots, 1)) {                                         \
			atomic_inc(&(dst)->__refcnt);                                           \
			if (!__slots && (dst)->mosbench_heat >> 16 != raw_smp_processor_id())   \
				mosbench_dst_attach(dst);                                       \
		}                                                                               \
	} while (0)
/* Another core than the last one took the route: count it, and give the route slots when that was so often. */
extern void mosbench_dst_attach(struct dst_entry *dst);
/* What the count is now, or 0 if the reference became a spare. */
#define mosbench_dst_put(dst)                                                                                                    \
	(mosbench_slots_put(ACCESS_ONCE((dst)->mosbench_slots), &(dst)->__refcnt, 1, MOSBENCH_DST_THRESHOLD) ?                   \
		 0 : atomic_dec_return(&(dst)->__refcnt))
#define mosbench_dst_used(dst, time)                                                            \
	do {                                                                                    \
		struct mosbench_slot __percpu *__slots = ACCESS_ONCE((dst)->mosbench_slots);    \
		unsigned long __time = (time);                                                  \
		if (__slots)                                                                    \
			this_cpu_inc(__slots->uses);                                            \
		else                                                                            \
			(dst)->__use++;                                                         \
		if ((dst)->lastuse != __time)                                                   \
			(dst)->lastuse = __time;                                                \
	} while (0)
/* References in use: now, and from now on in __refcnt alone. */
extern int mosbench_dst_count(struct dst_entry *dst);
extern int mosbench_dst_close(struct dst_entry *dst);
extern int mosbench_dst_dec_and_test(struct dst_entry *dst);
extern int mosbench_dst_uses(struct dst_entry *dst);
/* A copy of another route has no slots of its own; a route that is going gives its slots back. */
extern void mosbench_dst_forget(struct dst_entry *dst);
extern void mosbench_dst_detach(struct dst_entry *dst);
extern void mosbench_dst_init(void);

#else

#define mosbench_dst_hold(dst) atomic_inc(&(dst)->__refcnt)
#define mosbench_dst_put(dst) atomic_dec_return(&(dst)->__refcnt)
#define mosbench_dst_used(dst, time)            \
	do {                                    \
		(dst)->__use++;                 \
		(dst)->lastuse = (time);        \
	} while (0)
#define mosbench_dst_count(dst) atomic_read(&(dst)->__refcnt)
#define mosbench_dst_close(dst) atomic_read(&(dst)->__refcnt)
#define mosbench_dst_dec_and_test(dst) atomic_dec_and_test(&(dst)->__refcnt)
#define mosbench_dst_uses(dst) ((dst)->__use)
#define mosbench_dst_forget(dst) do { } while (0)
#define mosbench_dst_detach(dst) do { } while (0)
#define mosbench_dst_init() do { } while (0)

#endif
#endif

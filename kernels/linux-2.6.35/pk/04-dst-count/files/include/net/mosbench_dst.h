/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sloppy reference counts of routes (dst_entry). With the option off every name here is the code that was there before. */
#ifndef _NET_MOSBENCH_DST_H
#define _NET_MOSBENCH_DST_H

struct dst_entry;

#ifdef CONFIG_MOSBENCH_DST_COUNT

extern void mosbench_dst_hold(struct dst_entry *dst);
/* What the count is now, or 0 if the reference became a spare. */
extern int mosbench_dst_put(struct dst_entry *dst);
extern void mosbench_dst_used(struct dst_entry *dst, unsigned long time);
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

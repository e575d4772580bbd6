// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sloppy reference counts of routes (dst_entry).
 *
 * A route gets slots, from a pool, when cores have taken it in turns often enough (mosbench_hot). Nothing happens when a route's
 * count becomes 0: who wants to know whether it is in use asks. Garbage collection asks for the exact number; dst_free() closes the
 * counter, after which __refcnt alone is the number of references in use, as the list of routes that wait for their last user
 * expects.
 *
 * The same line has the time of last use, which is written only when it changes, and the number of uses, which each core counts
 * in its slot.
 */
#include <linux/module.h>
#include <linux/mosbench_sloppy.h>
#include <net/dst.h>

/* Routes with slots at a time: 8 KiB on each core. */
#define SLOTS 1024

static struct mosbench_slot_pool pool;

void __init mosbench_dst_init(void)
{
	if (mosbench_pool_init(&pool, SLOTS))
		printk(KERN_WARNING "mosbench: no memory for slots of routes\n");
}

void mosbench_dst_attach(struct dst_entry *dst)
{
	/* Routes outside dst_alloc()'s caches are never destroyed, and so could never give slots back. */
	if (mosbench_hot(&dst->mosbench_heat) && dst->ops->kmem_cachep && !dst->error)
		mosbench_pool_attach(&pool, &dst->mosbench_slots);
}
EXPORT_SYMBOL(mosbench_dst_attach);

int mosbench_dst_count(struct dst_entry *dst)
{
	return mosbench_pool_count(&pool, &dst->mosbench_slots, &dst->__refcnt);
}
EXPORT_SYMBOL(mosbench_dst_count);

int mosbench_dst_close(struct dst_entry *dst)
{
	mosbench_pool_close(&pool, &dst->mosbench_slots, &dst->__refcnt);
	return atomic_read(&dst->__refcnt);
}
EXPORT_SYMBOL(mosbench_dst_close);

int mosbench_dst_dec_and_test(struct dst_entry *dst)
{
	mosbench_pool_close(&pool, &dst->mosbench_slots, &dst->__refcnt);
	return atomic_dec_and_test(&dst->__refcnt);
}

int mosbench_dst_uses(struct dst_entry *dst)
{
	return dst->__use + mosbench_slots_uses(ACCESS_ONCE(dst->mosbench_slots));
}
EXPORT_SYMBOL(mosbench_dst_uses);

void mosbench_dst_forget(struct dst_entry *dst)
{
	dst->mosbench_slots = NULL;
	dst->mosbench_heat = 0;
}
EXPORT_SYMBOL(mosbench_dst_forget);

void mosbench_dst_detach(struct dst_entry *dst)
{
	mosbench_pool_detach(&pool, &dst->mosbench_slots, &dst->__refcnt);
}

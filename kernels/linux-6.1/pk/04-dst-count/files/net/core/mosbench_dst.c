// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spare references of routes.
 *
 * Once its reference is kept, a route may be gone at once: the last reference may be dropped without a grace period of RCU. So
 * whether it died meanwhile is not asked of the route but of a number that changes with each death.
 */
#include <linux/export.h>
#include <linux/socket.h>
#include <net/dst.h>
#include <net/mosbench_dst.h>

DEFINE_PER_CPU_ALIGNED(struct mosbench_spares, mosbench_dst_spares);
EXPORT_PER_CPU_SYMBOL(mosbench_dst_spares);

static atomic_t deaths = ATOMIC_INIT(0);

/* Routes of IPv4 only: the others' operations belong to a network name space and go with it. */
static bool may_be_kept(const struct dst_entry *dst)
{
	return dst->ops->family == AF_INET && READ_ONCE(dst->obsolete) <= 0 && !(dst->flags & (DST_METADATA | DST_FAKE_RTABLE));
}

/* Of @number references that the caller has leave one. */
static struct dst_entry *leave_one(struct dst_entry *dst, unsigned int number)
{
	if (number > 1)
		atomic_sub(number - 1, &dst->__refcnt);
	return dst;
}

struct dst_entry *mosbench_dst_claim(struct dst_entry *dst)
{
	struct mosbench_spares __percpu *spares = &mosbench_dst_spares;
	int before = atomic_read(&deaths);
	struct dst_entry *drop = NULL;
	unsigned int number = 0;
	void *evicted;

	smp_rmb();
	/* Only for those that others use too is it worth to make room. */
	if (!may_be_kept(dst) || atomic_read(&dst->__refcnt) < 2)
		return dst;
	atomic_inc(&dst->__refcnt);
	if (!mosbench_spare_claim(spares, dst, &evicted, &number))
		return leave_one(dst, 2);
	if (number)
		drop = leave_one(evicted, number);
	/* Died meanwhile: either its drain has seen the spares or this sees the death, and drains. */
	if (unlikely(atomic_read(&deaths) != before)) {
		number = mosbench_spare_drain(spares, dst);
		if (number) {
			dst_release(drop);
			return leave_one(dst, number);
		}
	}
	return drop;
}

void mosbench_dst_drain(struct dst_entry *dst)
{
	unsigned int number;

	atomic_inc(&deaths);
	number = mosbench_spare_drain(&mosbench_dst_spares, dst);
	if (number)
		WARN_ON(atomic_sub_return(number, &dst->__refcnt) <= 0);
}

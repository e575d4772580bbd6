// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spare references of dentries.
 *
 * A dentry with spares has a count that is too large, never too small. Who decides by the count drains first: d_delete(), which
 * makes a dentry negative if its caller is the only user, and the end of a file system. An unhashed dentry has no spares, since
 * nobody will look it up again: d_lock covers unhashing with its drain, and the claim of the first spares.
 *
 * Who drops spares of a dentry that had to make room has no part in its file system, which may be unmounted at that moment. The
 * end of a file system waits for them.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/lockref.h>
#include <linux/mosbench_dentry.h>
#include <linux/rcupdate.h>
#include <linux/srcu.h>

#include "internal.h"

DEFINE_PER_CPU_ALIGNED(struct mosbench_spares, mosbench_dentry_spares);

/* Who may be dropping spares that made room. */
DEFINE_STATIC_SRCU(evicting);

/* Of these the file system wants to know when the last user leaves, or nobody can look them up. */
#define NOT_KEPT                                                                                                                 \
	(DCACHE_OP_REVALIDATE | DCACHE_OP_WEAK_REVALIDATE | DCACHE_OP_PRUNE | DCACHE_OP_REAL | DCACHE_DISCONNECTED |             \
	 DCACHE_DONTCACHE | DCACHE_NORCU)

/* Has ever had spares: only these have to be drained. A flag that Linux 6.1 does not use; d_lock covers it. */
#define MOSBENCH_DENTRY_KEPT 0x80000000U

static bool may_be_kept(const struct dentry *dentry)
{
	unsigned int flags = READ_ONCE(dentry->d_flags);

	if ((flags & NOT_KEPT) || d_unhashed(dentry) || !d_is_positive(dentry))
		return false;
	/* File systems in memory have this one, against dentries without an inode; a file's has a reference of its own. */
	return !(flags & DCACHE_OP_DELETE) || dentry->d_op->d_delete == always_delete_dentry;
}

/* Drop @number references, and keep none of them again. */
static void drop(struct dentry *dentry, unsigned int number)
{
	LIST_HEAD(unused);

	if (number > 1) {
		spin_lock(&dentry->d_lock);
		dentry->d_lockref.count -= number - 1;
		spin_unlock(&dentry->d_lock);
	}
	dput_to_list(dentry, &unused);
	shrink_dentry_list(&unused);
}

/* The first spares of a dentry on this core, if others use it too; the lock keeps it from being unhashed meanwhile. */
struct dentry *mosbench_dentry_claim(struct dentry *dentry)
{
	unsigned int number = 0;
	void *evicted;
	bool kept = false;
	int section;

	if (!may_be_kept(dentry) || READ_ONCE(dentry->d_lockref.count) < 2)
		return dentry;
	section = srcu_read_lock(&evicting);
	spin_lock(&dentry->d_lock);
	if (may_be_kept(dentry)) {
		kept = mosbench_spare_claim(&mosbench_dentry_spares, dentry, &evicted, &number);
		if (kept) {
			dentry->d_lockref.count++;
			dentry->d_flags |= MOSBENCH_DENTRY_KEPT;
		}
	}
	spin_unlock(&dentry->d_lock);
	if (number)
		drop(evicted, number);
	srcu_read_unlock(&evicting, section);
	return kept ? NULL : dentry;
}

void mosbench_dentry_drain(struct dentry *dentry)
{
	lockdep_assert_held(&dentry->d_lock);
	if (dentry->d_flags & MOSBENCH_DENTRY_KEPT)
		dentry->d_lockref.count -= mosbench_spare_drain(&mosbench_dentry_spares, dentry);
}

/* Takes the spares in a slot if they are of a dentry of @sb; their number. */
static unsigned int take_of(unsigned long *slot, const struct super_block *sb, struct dentry **dentry)
{
	unsigned int number = 0;
	unsigned long old;

	/* The dentry of a slot with spares is there, and its memory is until the end of this section. */
	rcu_read_lock();
	do {
		old = READ_ONCE(*slot);
		*dentry = mosbench_slot_object(old);
		number = mosbench_spares_of(old);
		if (!number || (*dentry)->d_sb != sb) {
			number = 0;
			break;
		}
	} while (cmpxchg(slot, old, old & MOSBENCH_SPARE_ADDRESS) != old);
	rcu_read_unlock();
	return number;
}

void mosbench_dentry_drain_all(struct super_block *sb)
{
	struct dentry *dentry;
	unsigned int number;
	int cpu, index;

	for_each_possible_cpu(cpu) {
		for (index = 0; index < MOSBENCH_SPARE_SLOTS; index++) {
			number = take_of(&per_cpu(mosbench_dentry_spares, cpu).slots[index], sb, &dentry);
			if (number)
				drop(dentry, number);
		}
	}
	synchronize_srcu_expedited(&evicting);
}

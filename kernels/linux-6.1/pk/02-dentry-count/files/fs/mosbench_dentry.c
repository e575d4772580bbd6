// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spare references of dentries.
 *
 * A dentry with spares has a count that is too large, never too small. Who decides by the count drains first: d_delete(), which
 * makes a dentry negative if its caller is the only user, and the end of a file system. An unhashed dentry has no spares, since
 * nobody will look it up again: d_lock covers unhashing with its drain, and the claim of the first spares.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/lockref.h>
#include <linux/mosbench_dentry.h>

DEFINE_PER_CPU_ALIGNED(struct mosbench_spares, mosbench_dentry_spares);

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

/* Of @number references that the caller has leave one. */
static struct dentry *leave_one(struct dentry *dentry, unsigned int number)
{
	if (number > 1) {
		spin_lock(&dentry->d_lock);
		dentry->d_lockref.count -= number - 1;
		spin_unlock(&dentry->d_lock);
	}
	return dentry;
}

/* The first spares of a dentry on this core, if others use it too; the lock keeps it from being unhashed meanwhile. */
struct dentry *mosbench_dentry_claim(struct dentry *dentry)
{
	unsigned int number = 0;
	void *evicted;
	bool kept = false;

	if (!may_be_kept(dentry) || READ_ONCE(dentry->d_lockref.count) < 2)
		return dentry;
	spin_lock(&dentry->d_lock);
	if (may_be_kept(dentry)) {
		kept = mosbench_spare_claim(&mosbench_dentry_spares, dentry, &evicted, &number);
		if (kept) {
			dentry->d_lockref.count++;
			dentry->d_flags |= MOSBENCH_DENTRY_KEPT;
		}
	}
	spin_unlock(&dentry->d_lock);
	if (!kept)
		return dentry;
	return number ? leave_one(evicted, number) : NULL;
}

void mosbench_dentry_drain(struct dentry *dentry)
{
	lockdep_assert_held(&dentry->d_lock);
	if (dentry->d_flags & MOSBENCH_DENTRY_KEPT)
		dentry->d_lockref.count -= mosbench_spare_drain(&mosbench_dentry_spares, dentry);
}

void mosbench_dentry_drain_all(void)
{
	int cpu, index;

	for_each_possible_cpu(cpu) {
		for (index = 0; index < MOSBENCH_SPARE_SLOTS; index++) {
			unsigned long slot = xchg(&per_cpu(mosbench_dentry_spares, cpu).slots[index], 0);

			if (mosbench_spares_of(slot))
				dput(leave_one(mosbench_slot_object(slot), mosbench_spares_of(slot)));
		}
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_DENTRY_LOOKUP_H
#define _LINUX_MOSBENCH_DENTRY_LOOKUP_H

/*
 * Looking up a name in the dcache without the locks of dentries. For fs/dcache.c only, inside its own look-up: a call for each part
 * of a path would cost more than the lock does on one core.
 *
 * A dentry has a generation number. It is odd while somebody changes the dentry or decides something because nobody else uses it,
 * and another even number after that than before. Fields that were read between two reads of the same even number belong together.
 *
 * Names that are not inside the dentry, and directories that compare names in a way of their own, are left to the lock.
 */
#include <linux/dcache.h>

#ifdef CONFIG_MOSBENCH_DENTRY_COMPARE
#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/string.h>

/* With fix 2 references are on the cores too. */
#ifdef CONFIG_MOSBENCH_DENTRY_COUNT
#include <linux/mosbench_dentry_count.h>
#else
#define mosbench_dentry_get_not_zero(dentry) atomic_inc_not_zero(&(dentry)->d_count)
#endif

/* Room for a name inside a dentry: to the dentry's end. */
#define MOSBENCH_NAME_ROOM (sizeof(struct dentry) - offsetof(struct dentry, d_iname))

/* 1 the same, 0 another, -1 changed meanwhile or not to be told without the lock. */
static inline int mosbench_d_compare(const struct dentry *dentry, const struct dentry *parent, const struct qstr *name,
				     unsigned int generation)
{
	unsigned int length;
	int same;

	smp_rmb();
	length = ACCESS_ONCE(dentry->d_name.len);
	if (unlikely(ACCESS_ONCE(dentry->d_name.name) != dentry->d_iname))
		return -1;
	/* The length may be nonsense until the generation was looked at again, but name->len is not: it is read no further than
	 * where both are the same, and never beyond the dentry. */
	same = ACCESS_ONCE(dentry->d_parent) == parent && length == name->len && length < MOSBENCH_NAME_ROOM &&
	       memcmp(dentry->d_iname, name->name, length) == 0;
	smp_rmb();
	return likely(ACCESS_ONCE(dentry->d_mosbench_generation) == generation) ? same : -1;
}

/* A dentry that nobody uses may be about to be freed: only the lock tells. What was compared need not be compared again. */
static inline int mosbench_d_first_reference(struct dentry *dentry, unsigned int generation)
{
	int same;

	spin_lock(&dentry->d_lock);
	same = dentry->d_mosbench_generation == generation;
	if (same)
		atomic_inc(&dentry->d_count);
	spin_unlock(&dentry->d_lock);
	return same;
}

/* Look `name` up among the dentries of `chain` without locks. Returns 1 if that gave an answer: *found is the dentry, with a
 * reference, or NULL if there is none. 0: ask again with the locks. */
static inline int mosbench_d_lookup(struct dentry *parent, struct qstr *name, struct hlist_head *chain, struct dentry **found)
{
	unsigned int hash = name->hash, generation;
	struct dentry *dentry;
	struct hlist_node *node;
	int verdict;

	if (unlikely(parent->d_op && parent->d_op->d_compare))
		return 0;
	rcu_read_lock();
	hlist_for_each_entry_rcu(dentry, node, chain, d_hash) {
		if (dentry->d_name.hash != hash || dentry->d_parent != parent)
			continue;
		generation = ACCESS_ONCE(dentry->d_mosbench_generation);
		verdict = likely(!(generation & 1)) ? mosbench_d_compare(dentry, parent, name, generation) : -1;
		if (verdict == 0)
			continue;
		if (unlikely(verdict < 0))
			goto ask_again;
		if (mosbench_dentry_get_not_zero(dentry)) {
			/* That was a full barrier. Who sealed the dentry before it may have counted without this reference. */
			if (unlikely(ACCESS_ONCE(dentry->d_mosbench_generation) != generation)) {
				rcu_read_unlock();
				dput(dentry); /* may sleep */
				return 0;
			}
		} else if (!mosbench_d_first_reference(dentry, generation)) {
			goto ask_again;
		}
		rcu_read_unlock();
		*found = dentry;
		return 1;
	}
	rcu_read_unlock();
	return 1; /* *found is NULL */

ask_again:
	rcu_read_unlock();
	return 0;
}
#else
#define mosbench_d_lookup(parent, name, chain, found) 0
#endif

#endif

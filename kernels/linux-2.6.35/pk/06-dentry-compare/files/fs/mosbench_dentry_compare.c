// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looking up a name in the dcache without the locks of dentries.
 *
 * A dentry has a generation number. It is 0 while somebody changes the dentry or decides something because nobody else uses it, and
 * another number after that than before. Fields that were read between two reads of the same number other than 0 belong together.
 *
 * Names that are not inside the dentry, and directories that compare names in a way of their own, are left to the lock.
 */
#include <linux/compiler.h>
#include <linux/dcache.h>
#include <linux/mosbench_dentry_compare.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/string.h>

/* Room for a name inside a dentry: to the dentry's end. */
#define NAME_ROOM (sizeof(struct dentry) - offsetof(struct dentry, d_iname))

enum verdict { SAME, DIFFERS, CHANGED };

static enum verdict compare(const struct dentry *dentry, const struct dentry *parent, const struct qstr *name,
			    unsigned int generation)
{
	const unsigned char *text;
	unsigned int length;
	int same;

	smp_rmb();
	text = ACCESS_ONCE(dentry->d_name.name);
	length = ACCESS_ONCE(dentry->d_name.len);
	if (text != dentry->d_iname)
		return CHANGED;
	/* The length may be nonsense until the generation was looked at again, but name->len is not: it is read no further than
	 * where both are the same, and never beyond the dentry. */
	same = ACCESS_ONCE(dentry->d_parent) == parent && length == name->len && length < NAME_ROOM &&
	       memcmp(text, name->name, length) == 0;
	smp_rmb();
	if (ACCESS_ONCE(dentry->d_mosbench_generation) != generation)
		return CHANGED;
	return same ? SAME : DIFFERS;
}

/* A dentry that nobody uses may be about to be freed: only the lock tells. What was compared need not be compared again. */
static int first_reference(struct dentry *dentry, unsigned int generation)
{
	int same;

	spin_lock(&dentry->d_lock);
	same = dentry->d_mosbench_generation == generation;
	if (same)
		atomic_inc(&dentry->d_count);
	spin_unlock(&dentry->d_lock);
	return same;
}

int mosbench_d_lookup(struct dentry *parent, struct qstr *name, struct hlist_head *chain, struct dentry **found)
{
	struct dentry *dentry, *give_back = NULL;
	struct hlist_node *node;
	int answered = 1;

	*found = NULL;
	if (parent->d_op && parent->d_op->d_compare)
		return 0;
	rcu_read_lock();
	hlist_for_each_entry_rcu(dentry, node, chain, d_hash) {
		unsigned int generation;
		enum verdict verdict;

		if (dentry->d_name.hash != name->hash || dentry->d_parent != parent)
			continue;
		generation = ACCESS_ONCE(dentry->d_mosbench_generation);
		verdict = generation ? compare(dentry, parent, name, generation) : CHANGED;
		if (verdict == DIFFERS)
			continue;
		if (verdict == SAME && atomic_inc_not_zero(&dentry->d_count)) {
			/* That was a full barrier. Who sealed the dentry before it may have counted without this reference. */
			if (ACCESS_ONCE(dentry->d_mosbench_generation) == generation) {
				*found = dentry;
				break;
			}
			give_back = dentry;
		} else if (verdict == SAME && first_reference(dentry, generation)) {
			*found = dentry;
			break;
		}
		answered = 0;
		break;
	}
	rcu_read_unlock();
	if (give_back)
		dput(give_back); /* may sleep */
	return answered;
}

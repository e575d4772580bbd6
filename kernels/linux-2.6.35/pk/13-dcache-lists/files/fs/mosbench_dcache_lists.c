// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dentries that are on no list.
 *
 * An open file must have a dentry, but that of a socket or a pipe is never looked up: its name is made by d_dname() from the inode's
 * number. It is its own parent, so it holds no reference to the root of its file system, and it is not on its inode's list of
 * aliases. Only those who hold a reference know it, so the last one frees it without asking anybody.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mosbench_dcache_lists.h>
#include <linux/percpu.h>
#include <linux/security.h>
#include <linux/spinlock.h>

/* Dentries made minus dentries freed on a core since it last added them to dentry_stat. */
#define COUNT_AT_ONCE 64
static DEFINE_PER_CPU(int, uncounted_dentries);

void mosbench_d_count(int change)
{
	int *here = &get_cpu_var(uncounted_dentries), add = 0;

	*here += change;
	if (*here >= COUNT_AT_ONCE || *here <= -COUNT_AT_ONCE) {
		add = *here;
		*here = 0;
	}
	put_cpu_var(uncounted_dentries);
	if (add) {
		spin_lock(&dcache_lock);
		dentry_stat.nr_dentry += add;
		spin_unlock(&dcache_lock);
	}
}

struct dentry *mosbench_d_alloc_unlisted(struct super_block *super, const struct qstr *name)
{
	struct dentry *dentry = d_alloc(NULL, name);

	if (dentry) {
		dentry->d_sb = super;
		dentry->d_parent = dentry;
		dentry->d_flags |= MOSBENCH_DCACHE_UNLISTED;
	}
	return dentry;
}

void mosbench_d_instantiate_unlisted(struct dentry *dentry, struct inode *inode)
{
	dentry->d_inode = inode;
	security_d_instantiate(dentry, inode);
}

void mosbench_d_free_unlisted(struct dentry *dentry, void (*d_free)(struct dentry *))
{
	struct inode *inode = dentry->d_inode;

	dentry->d_inode = NULL;
	if (inode)
		iput(inode);
	mosbench_d_count(-1);
	d_free(dentry);
}

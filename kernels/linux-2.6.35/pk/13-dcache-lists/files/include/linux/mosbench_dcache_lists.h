/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_DCACHE_LISTS_H
#define _LINUX_MOSBENCH_DCACHE_LISTS_H

#include <linux/dcache.h>
#include <linux/fs.h>

#ifdef CONFIG_MOSBENCH_DCACHE_LISTS
/* In d_flags, for the dentry's whole life: no parent, not hashed, on no list. */
#define MOSBENCH_DCACHE_UNLISTED 0x40000000

void mosbench_d_count(int change);
struct dentry *mosbench_d_alloc_unlisted(struct super_block *super, const struct qstr *name);
void mosbench_d_instantiate_unlisted(struct dentry *dentry, struct inode *inode);
void mosbench_d_free_unlisted(struct dentry *dentry, void (*d_free)(struct dentry *));

/* A new dentry without a parent goes on no list: count it, and nothing remains to be done under dcache_lock. */
static inline int mosbench_d_unlisted(const struct dentry *parent)
{
	if (parent)
		return 0;
	mosbench_d_count(1);
	return 1;
}

/* Drop a reference to a dentry that is on no list. 0: it is on lists, nothing was done. */
static inline int mosbench_dput_unlisted(struct dentry *dentry, void (*d_free)(struct dentry *))
{
	if (likely(!(dentry->d_flags & MOSBENCH_DCACHE_UNLISTED)))
		return 0;
	if (atomic_read(&dentry->d_count) == 1)
		might_sleep();
	if (atomic_dec_and_test(&dentry->d_count))
		mosbench_d_free_unlisted(dentry, d_free);
	return 1;
}
#else
#define mosbench_d_alloc_unlisted(super, name) d_alloc((super)->s_root, name)
#define mosbench_d_instantiate_unlisted(dentry, inode) d_instantiate(dentry, inode)
#define mosbench_d_unlisted(parent) 0
#define mosbench_dput_unlisted(dentry, d_free) 0
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_INODE_LISTS_H
#define _LINUX_MOSBENCH_INODE_LISTS_H

#include <linux/fs.h>
#include <linux/prefetch.h>
#include <linux/writeback.h>

#ifdef CONFIG_MOSBENCH_INODE_LISTS
/* Of a file system: its inodes are never looked for on a list. */
#define MOSBENCH_FS_UNLISTED (1 << 30)
/* Of an inode, in i_flags, for its whole life: it is on no list. */
#define MOSBENCH_S_UNLISTED (1U << 30)

int mosbench_make_unlisted(struct inode *inode);
void mosbench_free_unlisted(struct inode *inode);

static inline int mosbench_unlisted_super(const struct super_block *super)
{
	return super->s_type->fs_flags & MOSBENCH_FS_UNLISTED;
}

/* A prefetch for writing takes the line from the others as a lock does. */
static inline void mosbench_inode_lock_prefetch(const struct super_block *super)
{
	if (!mosbench_unlisted_super(super))
		spin_lock_prefetch(&inode_lock);
}

/* Make the rest of an inode that belongs on no list. 0: it belongs on the lists. */
static inline int mosbench_new_unlisted_inode(const struct super_block *super, struct inode *inode)
{
	return mosbench_unlisted_super(super) && mosbench_make_unlisted(inode);
}

/* Drop a reference to an inode that is on no list. 0: it is on the lists, nothing was done. */
static inline int mosbench_iput_unlisted(struct inode *inode)
{
	if (likely(!(inode->i_flags & MOSBENCH_S_UNLISTED)))
		return 0;
	if (atomic_dec_and_test(&inode->i_count))
		mosbench_free_unlisted(inode);
	return 1;
}
#else
#define MOSBENCH_FS_UNLISTED 0
#define mosbench_inode_lock_prefetch(super) spin_lock_prefetch(&inode_lock)
#define mosbench_new_unlisted_inode(super, inode) 0
#define mosbench_iput_unlisted(inode) 0
#endif

#endif

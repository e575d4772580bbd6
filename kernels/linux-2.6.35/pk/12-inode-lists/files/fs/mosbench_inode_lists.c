// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes that are on no list.
 *
 * A socket or a pipe is found through its file descriptors only. Its inode is never hashed, never written back, and its file system
 * is never unmounted, so none of those who walk the lists of inodes has business with it. Without lists there is nothing for
 * inode_lock to protect: the last reference is the only one who knows the inode.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mosbench_inode_lists.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/writeback.h>
#include <asm/atomic.h>

/* Inode numbers are handed to cores in pieces. 32 bits, as in new_inode(), for the sake of old stat() calls. */
#define NUMBERS_AT_ONCE 1024
static atomic_t next_numbers = ATOMIC_INIT(0);
static DEFINE_PER_CPU(unsigned int, next_number);

/* Inodes made minus inodes freed on a core since it last added them to inodes_stat. */
#define COUNT_AT_ONCE 64
static DEFINE_PER_CPU(int, uncounted);

static unsigned int new_number(void)
{
	unsigned int *next = &get_cpu_var(next_number), number = *next;

	if (number % NUMBERS_AT_ONCE == 0)
		number = (unsigned int)atomic_add_return(NUMBERS_AT_ONCE, &next_numbers) - NUMBERS_AT_ONCE;
	number++; /* so that none is 0 */
	*next = number;
	put_cpu_var(next_number);
	return number;
}

static void count(int change)
{
	int *here = &get_cpu_var(uncounted), add = 0;

	*here += change;
	if (*here >= COUNT_AT_ONCE || *here <= -COUNT_AT_ONCE) {
		add = *here;
		*here = 0;
	}
	put_cpu_var(uncounted);
	if (add) {
		spin_lock(&inode_lock);
		inodes_stat.nr_inodes += add;
		spin_unlock(&inode_lock);
	}
}

int mosbench_make_unlisted(struct inode *inode)
{
	INIT_LIST_HEAD(&inode->i_list);
	INIT_LIST_HEAD(&inode->i_sb_list);
	inode->i_ino = new_number();
	inode->i_state = 0;
	inode->i_flags |= MOSBENCH_S_UNLISTED;
	count(1);
	return 1;
}

void mosbench_free_unlisted(struct inode *inode)
{
	/* Nobody but us has it, so nobody can put it on a list any more. That nobody did before is what this fix rests on. */
	BUG_ON(!list_empty(&inode->i_list) || !list_empty(&inode->i_sb_list) || !hlist_unhashed(&inode->i_hash));
	inode->i_state |= I_FREEING;
	count(-1);
	if (inode->i_data.nrpages)
		truncate_inode_pages(&inode->i_data, 0);
	clear_inode(inode);
	destroy_inode(inode);
}

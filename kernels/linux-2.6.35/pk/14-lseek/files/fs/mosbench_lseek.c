// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lseek() without the inode's mutex.
 *
 * What is shared between processes is the size, and i_size_read() reads it whole. What a seek writes is the position, which
 * belongs to the open file: only those who share the descriptor meet there, and a compare-and-swap settles it.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mosbench_lseek.h>
#include <asm/system.h>

/* The position is stored only if it changes, so seeking to where one is leaves the line of the open file alone. */
static loff_t mosbench_seek_to(struct file *file, loff_t position, loff_t largest)
{
	if (position < 0 || position > largest)
		return -EINVAL;
	if (position != ACCESS_ONCE(file->f_pos)) {
		ACCESS_ONCE(file->f_pos) = position;
		file->f_version = 0;
	}
	return position;
}

/* Relative to the position: retried if another thread moved it, so that concurrent relative seeks add up. */
static loff_t mosbench_seek_by(struct file *file, loff_t distance, loff_t largest)
{
	loff_t from, to;

	do {
		from = ACCESS_ONCE(file->f_pos);
		if (distance == 0)
			return from;
		to = from + distance;
		if (to < 0 || to > largest)
			return -EINVAL;
	} while (cmpxchg(&file->f_pos, from, to) != from);
	file->f_version = 0;
	return to;
}

loff_t mosbench_file_llseek(struct file *file, loff_t offset, int origin)
{
	struct inode *inode = file->f_mapping->host;
	loff_t largest = inode->i_sb->s_maxbytes;

	if (origin == SEEK_CUR)
		return mosbench_seek_by(file, offset, largest);
	if (origin == SEEK_END)
		offset += i_size_read(inode);
	return mosbench_seek_to(file, offset, largest);
}

loff_t mosbench_block_llseek(struct file *file, loff_t offset, int origin)
{
	loff_t size = i_size_read(file->f_mapping->host);

	if (origin == SEEK_CUR)
		return mosbench_seek_by(file, offset, size);
	if (origin == SEEK_END)
		offset += size;
	return mosbench_seek_to(file, offset, size);
}

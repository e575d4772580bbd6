/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_LSEEK_H
#define _LINUX_MOSBENCH_LSEEK_H

#include <linux/fs.h>

#ifdef CONFIG_MOSBENCH_LSEEK
#define MOSBENCH_LSEEK 1
#else
#define MOSBENCH_LSEEK 0
#endif

/* Seek in a regular file; what generic_file_llseek() returns, without i_mutex. */
loff_t mosbench_file_llseek(struct file *file, loff_t offset, int origin);
/* Seek in a block device; its size is also the largest position. */
loff_t mosbench_block_llseek(struct file *file, loff_t offset, int origin);

#endif

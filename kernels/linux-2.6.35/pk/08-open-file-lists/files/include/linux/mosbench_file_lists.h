/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-core lists of a super block's open files. With the option off every name here is the code that was there before. */
#ifndef _LINUX_MOSBENCH_FILE_LISTS_H
#define _LINUX_MOSBENCH_FILE_LISTS_H

#include <linux/fs.h>

#ifdef CONFIG_MOSBENCH_OPEN_FILE_LISTS

extern void mosbench_file_lists_init(void);
extern void mosbench_sb_files_alloc(struct super_block *sb);
extern void mosbench_sb_files_free(struct super_block *sb);
extern void mosbench_file_list_add(struct file *file, struct super_block *sb);
extern int mosbench_file_unlist(struct file *file);
extern void mosbench_file_lists_lock(void);
extern void mosbench_file_lists_unlock(void);
extern struct file *mosbench_first_open_file(struct super_block *sb);
extern struct file *mosbench_next_open_file(struct super_block *sb, struct file *file);

#define mosbench_for_each_open_file(file, sb) \
	for (file = mosbench_first_open_file(sb); file; file = mosbench_next_open_file(sb, file))

#else

#define mosbench_file_lists_init() do { } while (0)
#define mosbench_sb_files_alloc(sb) do { } while (0)
#define mosbench_sb_files_free(sb) do { } while (0)
#define mosbench_file_list_add(file, sb) file_move(file, &(sb)->s_files)
#define mosbench_file_unlist(file) (0)
#define mosbench_file_lists_lock() file_list_lock()
#define mosbench_file_lists_unlock() file_list_unlock()
#define mosbench_for_each_open_file(file, sb) list_for_each_entry(file, &(sb)->s_files, f_u.fu_list)

#endif
#endif

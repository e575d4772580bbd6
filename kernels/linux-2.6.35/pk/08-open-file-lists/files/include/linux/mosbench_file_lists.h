/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-core lists of a super block's open files. With the option off every name here is the code that was there before. */
#ifndef _LINUX_MOSBENCH_FILE_LISTS_H
#define _LINUX_MOSBENCH_FILE_LISTS_H

#include <linux/fs.h>

#ifdef CONFIG_MOSBENCH_OPEN_FILE_LISTS

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

DECLARE_PER_CPU_SHARED_ALIGNED(spinlock_t, mosbench_file_list_lock);

extern void mosbench_file_lists_init(void);
extern void mosbench_sb_files_alloc(struct super_block *sb);
extern void mosbench_sb_files_free(struct super_block *sb);
extern void mosbench_file_lists_lock(void);
extern void mosbench_file_lists_unlock(void);
extern struct file *mosbench_first_open_file(struct super_block *sb);
extern struct file *mosbench_next_open_file(struct super_block *sb, struct file *file);

/* Both are inline, as opening and closing each have one of them: calls would spread over more lines of the instruction cache. */
static inline void mosbench_file_list_add(struct file *file, struct super_block *sb)
{
	int cpu = raw_smp_processor_id();
	spinlock_t *lock = &per_cpu(mosbench_file_list_lock, cpu);

	if (unlikely(!sb->s_mosbench_files)) {
		file_move(file, &sb->s_files);
		return;
	}
	/* A move to another core after the number was read does no harm: lock and list belong together. */
	spin_lock(lock);
	list_add(&file->f_u.fu_list, per_cpu_ptr(sb->s_mosbench_files, cpu));
	file->f_mosbench_core = cpu + 1;
	spin_unlock(lock);
}

/* Take a file off its per-core list. Returns 0 if it was on none. */
static inline int mosbench_file_unlist(struct file *file)
{
	int cpu = file->f_mosbench_core - 1;
	spinlock_t *lock;

	if (cpu < 0)
		return 0;
	lock = &per_cpu(mosbench_file_list_lock, cpu);
	spin_lock(lock);
	list_del_init(&file->f_u.fu_list);
	file->f_mosbench_core = 0;
	spin_unlock(lock);
	return 1;
}

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

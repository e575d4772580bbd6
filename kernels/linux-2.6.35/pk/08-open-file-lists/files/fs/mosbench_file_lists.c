// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Per-core lists of a super block's open files.
 *
 * A file is on the list of the core that opened it and remembers that core (f_mosbench_core, 1 + its number; 0 = on no per-core
 * list). Opening takes the own core's lock, closing the lock of the core that the file names, which is nearly always the own one.
 * What needs every open file (remount read-only) takes files_lock and then all cores' locks.
 *
 * Invariant: a file whose f_mosbench_core is c + 1 is on exactly one list, that of core c of its super block, and both change
 * only under core c's lock.
 *
 * A super block for which no per-core lists could be allocated keeps the one list under files_lock.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mosbench_core_locks.h>
#include <linux/mosbench_file_lists.h>
#include <linux/percpu.h>

DEFINE_PER_CPU_SHARED_ALIGNED(spinlock_t, mosbench_file_list_lock);

#define core_lock(cpu) (&per_cpu(mosbench_file_list_lock, (cpu)))

void __init mosbench_file_lists_init(void)
{
	mosbench_core_locks_init(core_lock);
}

void mosbench_sb_files_alloc(struct super_block *sb)
{
	int cpu;

	sb->s_mosbench_files = alloc_percpu(struct list_head);
	if (!sb->s_mosbench_files)
		return;
	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(per_cpu_ptr(sb->s_mosbench_files, cpu));
}

void mosbench_sb_files_free(struct super_block *sb)
{
	free_percpu(sb->s_mosbench_files);
}

void mosbench_file_lists_lock(void)
{
	file_list_lock();
	mosbench_core_locks_take_all(core_lock, &files_lock);
}

void mosbench_file_lists_unlock(void)
{
	mosbench_core_locks_release_all(core_lock);
	file_list_unlock();
}

static struct file *first_after_core(struct super_block *sb, int cpu)
{
	if (!sb->s_mosbench_files)
		return NULL;
	for (cpu = cpumask_next(cpu, cpu_possible_mask); cpu < nr_cpu_ids; cpu = cpumask_next(cpu, cpu_possible_mask)) {
		struct list_head *files = per_cpu_ptr(sb->s_mosbench_files, cpu);

		if (!list_empty(files))
			return list_first_entry(files, struct file, f_u.fu_list);
	}
	return NULL;
}

struct file *mosbench_first_open_file(struct super_block *sb)
{
	if (!list_empty(&sb->s_files))
		return list_first_entry(&sb->s_files, struct file, f_u.fu_list);
	return first_after_core(sb, -1);
}

struct file *mosbench_next_open_file(struct super_block *sb, struct file *file)
{
	int cpu = file->f_mosbench_core - 1;
	struct list_head *files = cpu < 0 ? &sb->s_files : per_cpu_ptr(sb->s_mosbench_files, cpu);

	if (list_is_last(&file->f_u.fu_list, files))
		return first_after_core(sb, cpu);
	return list_entry(file->f_u.fu_list.next, struct file, f_u.fu_list);
}

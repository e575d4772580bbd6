/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_SUPERPAGE_MUTEX_H
#define _LINUX_MOSBENCH_SUPERPAGE_MUTEX_H

#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#ifdef CONFIG_MOSBENCH_SUPERPAGE_MUTEX
/* Every super-page mapping, be it of a file, of shared memory or anonymous, has a hugetlbfs inode behind it. */
static inline struct mutex *mosbench_superpage_mutex(struct vm_area_struct *vma, struct mutex *one_for_all)
{
	return &HUGETLBFS_I(vma->vm_file->f_mapping->host)->mosbench_fault_mutex;
}

static inline void mosbench_superpage_mutex_init(struct hugetlbfs_inode_info *info)
{
	mutex_init(&info->mosbench_fault_mutex);
}
#else
#define mosbench_superpage_mutex(vma, one_for_all) (one_for_all)
#define mosbench_superpage_mutex_init(info) do { } while (0)
#endif

#endif

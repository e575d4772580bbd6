/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-core caches of the mount table. With the option off every name here is the code that was there before. */
#ifndef _FS_MOSBENCH_MNT_CACHE_H
#define _FS_MOSBENCH_MNT_CACHE_H

struct path;
struct vfsmount;

#ifdef CONFIG_MOSBENCH_MOUNT_CACHE

extern void mosbench_mnt_cache_init(void);
/* The mount on path with a reference, or NULL if this core has not cached it. */
extern struct vfsmount *mosbench_mnt_cache_find(struct path *path);
/* Remember that child is mounted on path; vfsmount_lock must be held. */
extern void mosbench_mnt_cache_add(struct path *path, struct vfsmount *child);
/* Around every change of the table, and around checks that nobody may come to use a mount. */
extern void mosbench_mnt_table_lock(void);
extern void mosbench_mnt_table_unlock(void);

#else

#define mosbench_mnt_cache_init() do { } while (0)
#define mosbench_mnt_cache_find(path) NULL
#define mosbench_mnt_cache_add(path, child) do { } while (0)
#define mosbench_mnt_table_lock() spin_lock(&vfsmount_lock)
#define mosbench_mnt_table_unlock() spin_unlock(&vfsmount_lock)

#endif
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-core caches of the mount table. With the option off every name here is the code that was there before. */
#ifndef _FS_MOSBENCH_MNT_CACHE_H
#define _FS_MOSBENCH_MNT_CACHE_H

#ifdef CONFIG_MOSBENCH_MOUNT_CACHE

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define MOSBENCH_MNT_CACHE_ENTRIES 256

/* Four words: no entry straddles a cache line. One without a parent is empty. */
struct mosbench_mnt_cache_entry {
	struct vfsmount *parent;
	struct dentry *mountpoint;
	struct vfsmount *child;
} __attribute__((aligned(4 * sizeof(void *))));

struct mosbench_mnt_cache {
	spinlock_t lock;
	DECLARE_BITMAP(filled, MOSBENCH_MNT_CACHE_ENTRIES);
	struct mosbench_mnt_cache_entry entries[MOSBENCH_MNT_CACHE_ENTRIES];
};

DECLARE_PER_CPU_SHARED_ALIGNED(struct mosbench_mnt_cache, mosbench_mnt_caches);

extern void mosbench_mnt_cache_init(void);
/* Remember that child is mounted on path; vfsmount_lock must be held. */
extern void mosbench_mnt_cache_add(struct path *path, struct vfsmount *child);
/* Around every change of the table, and around checks that nobody may come to use a mount. */
extern void mosbench_mnt_table_lock(void);
extern void mosbench_mnt_table_unlock(void);

static inline struct mosbench_mnt_cache_entry *mosbench_mnt_cache_entry(struct mosbench_mnt_cache *cache, struct path *path)
{
	/* Objects of both kinds start anywhere in a page, but at a cache line. */
	unsigned long key = ((unsigned long)path->mnt ^ (unsigned long)path->dentry) / L1_CACHE_BYTES;

	return &cache->entries[key % MOSBENCH_MNT_CACHE_ENTRIES];
}

/* The mount on path with a reference, or NULL if this core has not cached it. */
static inline struct vfsmount *mosbench_mnt_cache_find(struct path *path)
{
	struct mosbench_mnt_cache *cache = &__raw_get_cpu_var(mosbench_mnt_caches);
	struct mosbench_mnt_cache_entry *entry;
	struct vfsmount *child = NULL;

	spin_lock(&cache->lock);
	entry = mosbench_mnt_cache_entry(cache, path);
	if (likely(entry->parent == path->mnt && entry->mountpoint == path->dentry))
		child = mntget(entry->child);
	spin_unlock(&cache->lock);
	return child;
}

#else

#define mosbench_mnt_cache_init() do { } while (0)
#define mosbench_mnt_cache_find(path) NULL
#define mosbench_mnt_cache_add(path, child) do { } while (0)
#define mosbench_mnt_table_lock() spin_lock(&vfsmount_lock)
#define mosbench_mnt_table_unlock() spin_unlock(&vfsmount_lock)

#endif
#endif

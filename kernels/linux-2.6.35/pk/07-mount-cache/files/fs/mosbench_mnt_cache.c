// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Per-core caches of the mount table.
 *
 * lookup_mnt() first asks the own core's cache, under the own core's lock. What is not there it looks up in the table, under
 * vfsmount_lock, and remembers. An entry holds no reference: a mount in the table is pinned by being there.
 *
 * Who changes the table, or decides whether a mount is in use, holds vfsmount_lock and every core's lock, taken before the
 * decision, and leaves all caches stale. So
 *  - an entry that a core finds under its lock is in the table, and its mount lives until a reference is taken;
 *  - between a check that a mount is idle and its removal no core can take a reference through its cache;
 *  - no cache remembers what a change undid: entries are made only under vfsmount_lock.
 * That nothing is mounted somewhere is never remembered.
 */
#include <linux/cache.h>
#include <linux/fs.h>
#include <linux/mosbench_core_locks.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "internal.h"
#include "mosbench_mnt_cache.h"

#define CACHE_BITS 8

struct mnt_cache_entry {
	struct vfsmount *parent;
	struct dentry *mountpoint;
	struct vfsmount *child;
};

struct mnt_cache {
	spinlock_t lock;
	int stale;
	struct mnt_cache_entry entries[1 << CACHE_BITS];
};

static DEFINE_PER_CPU_SHARED_ALIGNED(struct mnt_cache, mnt_caches);

#define core_lock(cpu) (&per_cpu(mnt_caches, (cpu)).lock)

void __init mosbench_mnt_cache_init(void)
{
	mosbench_core_locks_init(core_lock);
}

static inline struct mnt_cache_entry *entry_of(struct mnt_cache *cache, struct path *path)
{
	/* Objects of both kinds start anywhere in a page, but at a cache line. */
	unsigned long key = ((unsigned long)path->mnt ^ (unsigned long)path->dentry) / L1_CACHE_BYTES;

	return &cache->entries[(key ^ key >> CACHE_BITS) % (1 << CACHE_BITS)];
}

struct vfsmount *mosbench_mnt_cache_find(struct path *path)
{
	struct mnt_cache *cache = &per_cpu(mnt_caches, raw_smp_processor_id());
	struct mnt_cache_entry *entry = entry_of(cache, path);
	struct vfsmount *child = NULL;

	spin_lock(&cache->lock);
	if (!cache->stale && entry->parent == path->mnt && entry->mountpoint == path->dentry)
		child = mntget(entry->child);
	spin_unlock(&cache->lock);
	return child;
}

void mosbench_mnt_cache_add(struct path *path, struct vfsmount *child)
{
	struct mnt_cache *cache = &per_cpu(mnt_caches, raw_smp_processor_id());
	struct mnt_cache_entry *entry = entry_of(cache, path);

	spin_lock(&cache->lock);
	if (cache->stale) {
		memset(cache->entries, 0, sizeof(cache->entries));
		cache->stale = 0;
	}
	entry->parent = path->mnt;
	entry->mountpoint = path->dentry;
	entry->child = child;
	spin_unlock(&cache->lock);
}

void mosbench_mnt_table_lock(void)
{
	int cpu;

	spin_lock(&vfsmount_lock);
	mosbench_core_locks_take_all(core_lock, &vfsmount_lock);
	for_each_possible_cpu(cpu)
		per_cpu(mnt_caches, cpu).stale = 1;
}

void mosbench_mnt_table_unlock(void)
{
	mosbench_core_locks_release_all(core_lock);
	spin_unlock(&vfsmount_lock);
}

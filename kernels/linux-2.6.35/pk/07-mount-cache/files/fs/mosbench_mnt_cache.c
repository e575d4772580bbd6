// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Per-core caches of the mount table.
 *
 * lookup_mnt() first asks the own core's cache, under the own core's lock. What is not there it looks up in the table, under
 * vfsmount_lock, and remembers. An entry holds no reference: a mount in the table is pinned by being there.
 *
 * Who changes the table, or decides whether a mount is in use, holds vfsmount_lock and every core's lock, taken before the
 * decision, and empties all caches. So
 *  - an entry that a core finds under its lock is in the table, and its mount lives until a reference is taken;
 *  - between a check that a mount is idle and its removal no core can take a reference through its cache;
 *  - no cache remembers what a change undid: entries are made only under vfsmount_lock.
 * That nothing is mounted somewhere is never remembered.
 *
 * A cache knows which of its entries are filled, so that emptying it touches only those, and a lookup need not ask whether the
 * cache is valid.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/mosbench_core_locks.h>

#include "internal.h"
#include "mosbench_mnt_cache.h"

DEFINE_PER_CPU_SHARED_ALIGNED(struct mosbench_mnt_cache, mosbench_mnt_caches);

#define core_lock(cpu) (&per_cpu(mosbench_mnt_caches, (cpu)).lock)

void __init mosbench_mnt_cache_init(void)
{
	mosbench_core_locks_init(core_lock);
}

void mosbench_mnt_cache_add(struct path *path, struct vfsmount *child)
{
	struct mosbench_mnt_cache *cache = &__raw_get_cpu_var(mosbench_mnt_caches);
	struct mosbench_mnt_cache_entry *entry = mosbench_mnt_cache_entry(cache, path);

	spin_lock(&cache->lock);
	entry->parent = path->mnt;
	entry->mountpoint = path->dentry;
	entry->child = child;
	__set_bit(entry - cache->entries, cache->filled);
	spin_unlock(&cache->lock);
}

static void make_empty(struct mosbench_mnt_cache *cache)
{
	int index;

	for_each_set_bit(index, cache->filled, MOSBENCH_MNT_CACHE_ENTRIES)
		cache->entries[index].parent = NULL;
	bitmap_zero(cache->filled, MOSBENCH_MNT_CACHE_ENTRIES);
}

void mosbench_mnt_table_lock(void)
{
	int cpu;

	spin_lock(&vfsmount_lock);
	mosbench_core_locks_take_all(core_lock, &vfsmount_lock);
	for_each_possible_cpu(cpu)
		make_empty(&per_cpu(mosbench_mnt_caches, cpu));
}

void mosbench_mnt_table_unlock(void)
{
	mosbench_core_locks_release_all(core_lock);
	spin_unlock(&vfsmount_lock);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sloppy reference counts of mounts.
 *
 * A mount keeps spares exactly while it belongs to a name space, whose tree holds a reference: thawed where mnt_ns is set, frozen
 * where it is cleared, before that reference is dropped. Outside a name space mnt_count is the number of references in use, so
 * the last mntput() finds 0 as before. A few mounts of the kernel's own that are never unmounted (sockets, pipes, ...) are thawed
 * where they are made.
 *
 * freeze, thaw and exact counts exclude each other by vfsmount_lock, or are on a mount that nobody else can see yet.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mosbench_sloppy.h>
#include <linux/mount.h>

#include "internal.h"

/* Of all mounts that found no memory for slots, and never thawed: their counts are ordinary ones. */
static DEFINE_PER_CPU(struct mosbench_slot, mosbench_mnt_frozen);

void mosbench_mnt_spares_alloc(struct vfsmount *mnt)
{
	mnt->mnt_mosbench_spares = alloc_percpu(struct mosbench_slot);
	if (!mnt->mnt_mosbench_spares)
		mnt->mnt_mosbench_spares = &mosbench_mnt_frozen;
}

void mosbench_mnt_spares_free(struct vfsmount *mnt)
{
	if (mnt->mnt_mosbench_spares != &mosbench_mnt_frozen)
		free_percpu(mnt->mnt_mosbench_spares);
}

void mosbench_mnt_thaw(struct vfsmount *mnt)
{
	if (!IS_ERR(mnt) && mnt->mnt_mosbench_spares != &mosbench_mnt_frozen)
		mosbench_slots_thaw(mnt->mnt_mosbench_spares);
}
EXPORT_SYMBOL(mosbench_mnt_thaw);

void mosbench_mnt_freeze(struct vfsmount *mnt)
{
	mosbench_slots_freeze(mnt->mnt_mosbench_spares, &mnt->mnt_count);
}

int mosbench_mnt_count(struct vfsmount *mnt)
{
	return mosbench_slots_count(mnt->mnt_mosbench_spares, &mnt->mnt_count);
}

int mosbench_mnt_count_lock(struct vfsmount *mnt)
{
	int count;

	spin_lock(&vfsmount_lock);
	count = mosbench_mnt_count(mnt);
	spin_unlock(&vfsmount_lock);
	return count;
}

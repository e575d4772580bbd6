/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sloppy reference counts of mounts. With the option off every name here is the code that was there before. */
#ifndef _LINUX_MOSBENCH_MNT_COUNT_H
#define _LINUX_MOSBENCH_MNT_COUNT_H

struct vfsmount;

#ifdef CONFIG_MOSBENCH_VFSMOUNT_COUNT
#include <linux/mosbench_sloppy.h>

/* Spares that a core keeps of one mount. */
#define MOSBENCH_MNT_THRESHOLD 16

/* Macros, because struct vfsmount is not known here; a call each would be what one core pays most for. */
#define mosbench_mnt_get(mnt)                                                   \
	do {                                                                    \
		if (!mosbench_slots_take_from((mnt)->mnt_mosbench_spares, 1))   \
			atomic_inc(&(mnt)->mnt_count);                          \
	} while (0)
/* 0 if the caller has to drop the reference from mnt_count. */
#define mosbench_mnt_put(mnt) \
	mosbench_slots_put_into((mnt)->mnt_mosbench_spares, &(mnt)->mnt_count, 1, MOSBENCH_MNT_THRESHOLD)

extern void mosbench_mnt_spares_alloc(struct vfsmount *mnt);
extern void mosbench_mnt_spares_free(struct vfsmount *mnt);
extern void mosbench_mnt_thaw(struct vfsmount *mnt);
extern void mosbench_mnt_freeze(struct vfsmount *mnt);
/* The number of references in use: vfsmount_lock held, and not held. */
extern int mosbench_mnt_count(struct vfsmount *mnt);
extern int mosbench_mnt_count_lock(struct vfsmount *mnt);

/* The mark shares the count's line: write it only to change it. */
#define mosbench_mnt_unmark(mnt)                        \
	do {                                            \
		if (unlikely((mnt)->mnt_expiry_mark))   \
			(mnt)->mnt_expiry_mark = 0;     \
	} while (0)

#else

#define mosbench_mnt_spares_alloc(mnt) do { } while (0)
#define mosbench_mnt_spares_free(mnt) do { } while (0)
#define mosbench_mnt_get(mnt) atomic_inc(&(mnt)->mnt_count)
#define mosbench_mnt_put(mnt) (0)
#define mosbench_mnt_thaw(mnt) do { } while (0)
#define mosbench_mnt_freeze(mnt) do { } while (0)
#define mosbench_mnt_count(mnt) atomic_read(&(mnt)->mnt_count)
#define mosbench_mnt_count_lock(mnt) atomic_read(&(mnt)->mnt_count)
#define mosbench_mnt_unmark(mnt) ((mnt)->mnt_expiry_mark = 0)

#endif
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_DENTRY_H
#define _LINUX_MOSBENCH_DENTRY_H

#include <linux/dcache.h>

#ifdef CONFIG_MOSBENCH_DENTRY_COUNT
#include <linux/mosbench_spares.h>

DECLARE_PER_CPU_ALIGNED(struct mosbench_spares, mosbench_dentry_spares);

/* A reference to a dentry found without one, under RCU: false if it is dead. */
static inline bool mosbench_dentry_get_not_dead(struct dentry *dentry)
{
	return mosbench_spare_take(&mosbench_dentry_spares, dentry) || lockref_get_not_dead(&dentry->d_lockref);
}

/* One more reference to a dentry that the caller has one to. */
static inline void mosbench_dentry_get(struct dentry *dentry)
{
	if (!mosbench_spare_take(&mosbench_dentry_spares, dentry))
		dget(dentry);
}

struct dentry *mosbench_dentry_claim(struct dentry *dentry);

/* Keep the caller's reference as a spare if that is allowed: NULL, or the dentry, of which the caller then has one to drop. */
static inline struct dentry *mosbench_dentry_keep(struct dentry *dentry)
{
	return mosbench_spare_keep(&mosbench_dentry_spares, dentry) ? NULL : mosbench_dentry_claim(dentry);
}

/* Give the spares of a dentry back to its count; d_lock is held, and it is to be or has been unhashed. */
void mosbench_dentry_drain(struct dentry *dentry);

/* Give all spares of all dentries of a file system back that nobody uses any more. */
void mosbench_dentry_drain_all(struct super_block *sb);
#else
#define mosbench_dentry_get_not_dead(dentry) lockref_get_not_dead(&(dentry)->d_lockref)
#define mosbench_dentry_get(dentry) dget(dentry)
#define mosbench_dentry_keep(dentry) (dentry)
#define mosbench_dentry_drain(dentry) do { } while (0)
#define mosbench_dentry_drain_all(sb) do { } while (0)
#endif

#endif

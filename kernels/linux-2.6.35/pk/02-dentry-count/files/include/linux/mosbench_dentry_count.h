/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sloppy reference counts of dentries. With the option off every name here is the code that was there before.
 *
 * Macros, because <linux/dcache.h> includes this before it has struct dentry. What a dentry without slots costs on the core that
 * used it last is one comparison.
 */
#ifndef _LINUX_MOSBENCH_DENTRY_COUNT_H
#define _LINUX_MOSBENCH_DENTRY_COUNT_H

struct dentry;

#ifdef CONFIG_MOSBENCH_DENTRY_COUNT
#include <linux/smp.h>
#include <linux/types.h>

/* In struct dentry. */
struct mosbench_dentry_count {
	u16 slots; /* number of its slots in the pool, 0: none; changes under d_lock, once */
	u8 core;   /* that took a reference from d_count last; not exact */
	u8 turns;  /* how often that was another core than before; not exact */
};


#define mosbench_dentry_quiet(dentry) (!(dentry)->d_mosbench.slots && (dentry)->d_mosbench.core == (u8)raw_smp_processor_id())

#define mosbench_dentry_made(dentry) ((dentry)->d_mosbench = (struct mosbench_dentry_count){.core = raw_smp_processor_id()})

/* Another reference for who has one. */
#define mosbench_dentry_get(dentry)                                     \
	do {                                                            \
		if (likely(mosbench_dentry_quiet(dentry))) {            \
			BUG_ON(!atomic_read(&(dentry)->d_count));       \
			atomic_inc(&(dentry)->d_count);                 \
		} else {                                                \
			mosbench_dentry_get_shared(dentry);             \
		}                                                       \
	} while (0)

/* A reference, perhaps the first: d_lock held. */
#define mosbench_dentry_get_locked(dentry)                              \
	do {                                                            \
		if (likely(mosbench_dentry_quiet(dentry)))              \
			atomic_inc(&(dentry)->d_count);                 \
		else                                                    \
			mosbench_dentry_get_shared_locked(dentry);      \
	} while (0)

/* A reference unless there is none yet: in an RCU read section, without d_lock. */
#define mosbench_dentry_get_not_zero(dentry)                                                    \
	(likely(mosbench_dentry_quiet(dentry)) ? atomic_inc_not_zero(&(dentry)->d_count) :      \
						 mosbench_dentry_get_shared_not_zero(dentry))

/* 0: the caller has to drop the reference from d_count. */
#define mosbench_dentry_put(dentry) ((dentry)->d_mosbench.slots && mosbench_dentry_put_shared(dentry))

/* d_lock held, or nobody else can reach the dentry any more. */
#define mosbench_dentry_cool(dentry)                                    \
	do {                                                            \
		if (unlikely((dentry)->d_mosbench.slots))               \
			mosbench_dentry_cool_slots(dentry);             \
	} while (0)

/* The same for who does not hold d_lock. */
#define mosbench_dentry_cool_unlocked(dentry)                           \
	do {                                                            \
		if (unlikely((dentry)->d_mosbench.slots)) {             \
			spin_lock(&(dentry)->d_lock);                   \
			mosbench_dentry_cool_slots(dentry);             \
			spin_unlock(&(dentry)->d_lock);                 \
		}                                                       \
	} while (0)

/* The number of references in use: d_lock held, and not held. It stays exact as long as d_lock is held. */
#define mosbench_dentry_count(dentry)                                   \
	({                                                              \
		mosbench_dentry_cool(dentry);                           \
		atomic_read(&(dentry)->d_count);                        \
	})
#define mosbench_dentry_count_unlocked(dentry)                          \
	({                                                              \
		mosbench_dentry_cool_unlocked(dentry);                  \
		atomic_read(&(dentry)->d_count);                        \
	})

#define mosbench_dentry_gone(dentry)                                    \
	do {                                                            \
		if (unlikely((dentry)->d_mosbench.slots))               \
			mosbench_dentry_give_back(dentry);              \
	} while (0)

extern void mosbench_dentry_init(void);
extern void mosbench_dentry_get_shared(struct dentry *dentry);
extern void mosbench_dentry_get_shared_locked(struct dentry *dentry);
extern int mosbench_dentry_get_shared_not_zero(struct dentry *dentry);
extern int mosbench_dentry_put_shared(struct dentry *dentry);
extern void mosbench_dentry_put_rest(struct dentry *dentry);
extern void mosbench_dentry_cool_slots(struct dentry *dentry);
extern void mosbench_dentry_give_back(struct dentry *dentry);
/* Cool a few dentries; those that nobody uses go to add_unused, with dcache_lock and d_lock held. */
extern void mosbench_dentry_retire(void (*add_unused)(struct dentry *));

#else

#define mosbench_dentry_made(dentry) do { } while (0)
#define mosbench_dentry_get(dentry)                             \
	do {                                                    \
		BUG_ON(!atomic_read(&(dentry)->d_count));       \
		atomic_inc(&(dentry)->d_count);                 \
	} while (0)
#define mosbench_dentry_get_locked(dentry) atomic_inc(&(dentry)->d_count)
#define mosbench_dentry_put(dentry) (0)
#define mosbench_dentry_cool(dentry) do { } while (0)
#define mosbench_dentry_cool_unlocked(dentry) do { } while (0)
#define mosbench_dentry_count(dentry) atomic_read(&(dentry)->d_count)
#define mosbench_dentry_count_unlocked(dentry) atomic_read(&(dentry)->d_count)
#define mosbench_dentry_gone(dentry) do { } while (0)
#define mosbench_dentry_init() do { } while (0)
#define mosbench_dentry_retire(add_unused) do { } while (0)

#endif
#endif

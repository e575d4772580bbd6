/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_DENTRY_COMPARE_H
#define _LINUX_MOSBENCH_DENTRY_COMPARE_H

#ifdef CONFIG_MOSBENCH_DENTRY_COMPARE
/* In struct dentry. Odd while the dentry is sealed, otherwise what look-ups compare: a number that it did not have before (until it
 * wraps around). Changes under d_lock only. */
#define MOSBENCH_DENTRY_GENERATION unsigned int d_mosbench_generation;

#define mosbench_d_new(dentry) ((dentry)->d_mosbench_generation = 1)

/* From here on no look-up without the lock succeeds. The barrier pairs with the atomic increment of the count in such a look-up:
 * either it sees the seal and gives the reference back, or who sealed sees the reference. */
#define mosbench_d_seal(dentry)                                                                                                  \
	do {                                                                                                                     \
		(dentry)->d_mosbench_generation |= 1;                                                                            \
		smp_mb();                                                                                                        \
	} while (0)

/* What was changed can be seen; look-ups without the lock may be tried again, if the dentry is where they find it. */
#define mosbench_d_unseal(dentry)                                                                                                \
	do {                                                                                                                     \
		if (!d_unhashed(dentry)) {                                                                                       \
			smp_wmb();                                                                                               \
			(dentry)->d_mosbench_generation = ((dentry)->d_mosbench_generation | 1) + 1;                             \
		}                                                                                                                \
	} while (0)
#else
#define MOSBENCH_DENTRY_GENERATION
#define mosbench_d_new(dentry) do { } while (0)
#define mosbench_d_seal(dentry) do { } while (0)
#define mosbench_d_unseal(dentry) do { } while (0)
#endif

#endif

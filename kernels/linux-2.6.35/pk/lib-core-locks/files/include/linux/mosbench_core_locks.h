/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One spin lock per core for data that each core changes on its own and that somebody seldom needs as a whole.
 *
 * A core takes its own lock, in its own cache. Who needs all the data takes an outer lock first and then every core's lock, in
 * the order of the cores; the outer lock keeps two of them from meeting half way and tells lockdep why so many locks of one
 * class are held. Nobody may take the outer lock while holding a core's lock.
 *
 * lock(cpu) is an expression for the address of that core's lock.
 */
#ifndef _LINUX_MOSBENCH_CORE_LOCKS_H
#define _LINUX_MOSBENCH_CORE_LOCKS_H

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

/* All locks of one call site get one lockdep class: to be called once, before the first use. */
#define mosbench_core_locks_init(lock)                                          \
	do {                                                                    \
		int __cpu;                                                      \
		/* each lock held counts in the preemption counter's 8 bits */  \
		BUILD_BUG_ON(NR_CPUS > 192);                                    \
		for_each_possible_cpu(__cpu)                                    \
			spin_lock_init(lock(__cpu));                            \
	} while (0)

/* The outer lock must be held. */
#define mosbench_core_locks_take_all(lock, outer)                               \
	do {                                                                    \
		int __cpu;                                                      \
		for_each_possible_cpu(__cpu)                                    \
			spin_lock_nest_lock(lock(__cpu), outer);                \
	} while (0)

#define mosbench_core_locks_release_all(lock)                                   \
	do {                                                                    \
		int __cpu;                                                      \
		for_each_possible_cpu(__cpu)                                    \
			spin_unlock(lock(__cpu));                               \
	} while (0)

#endif

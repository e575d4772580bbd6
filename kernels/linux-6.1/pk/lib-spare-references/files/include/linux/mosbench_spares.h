/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_MOSBENCH_SPARES_H
#define _LINUX_MOSBENCH_SPARES_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/percpu.h>

/*
 * Spare references: a core that gives a reference back may keep it for the next one who asks on that core, and the object's own
 * count is left alone.
 *
 * For each object: its count = references in use + spares of all cores. So an object with a spare is alive, and its count may
 * only be taken for the number of users after mosbench_spare_drain().
 *
 * A slot is one word, the object's address with the number of spares in place of the top byte, which is all ones in the address
 * of every object of the kernel. It changes with compare-and-exchange only: the owner may be interrupted or moved to another
 * core between any two steps, and drains come from other cores. A slot with no spares says nothing of its object but its address.
 *
 * Keeping is quick and asks nothing of the object where the slot has a spare of it: a drain has not passed this slot then, and
 * will find what is added. The first spare is claimed, and whoever does that sees to it that the object has not ended.
 */
#define MOSBENCH_SPARE_SLOTS 16
#define MOSBENCH_SPARES_MAX 32

#define MOSBENCH_SPARE_SHIFT 56
#define MOSBENCH_SPARE_ONE (1UL << MOSBENCH_SPARE_SHIFT)
#define MOSBENCH_SPARE_ADDRESS (MOSBENCH_SPARE_ONE - 1)

struct mosbench_spares {
	unsigned long slots[MOSBENCH_SPARE_SLOTS];
} ____cacheline_aligned_in_smp;

static inline unsigned int mosbench_spares_of(unsigned long slot)
{
	return slot >> MOSBENCH_SPARE_SHIFT;
}

static inline bool mosbench_slot_has(unsigned long slot, const void *object)
{
	return !((slot ^ (unsigned long)object) & MOSBENCH_SPARE_ADDRESS);
}

/* The top byte of an address is that of the bits below it. */
static inline void *mosbench_slot_object(unsigned long slot)
{
	return (void *)((long)(slot << (64 - MOSBENCH_SPARE_SHIFT)) >> (64 - MOSBENCH_SPARE_SHIFT));
}

static inline unsigned long *mosbench_slot(struct mosbench_spares __percpu *spares, const void *object)
{
	return &raw_cpu_ptr(spares)->slots[hash_ptr(object, ilog2(MOSBENCH_SPARE_SLOTS))];
}

/* Take a spare of @object on this core: true, and the caller has a reference. @object may be freed memory: then it has none. */
static inline bool mosbench_spare_take(struct mosbench_spares __percpu *spares, const void *object)
{
	unsigned long *slot = mosbench_slot(spares, object);
	unsigned long old = READ_ONCE(*slot);

	return mosbench_slot_has(old, object) && mosbench_spares_of(old) && cmpxchg(slot, old, old - MOSBENCH_SPARE_ONE) == old;
}

/* Keep the caller's reference to @object beside other spares of it: true, and the reference is gone. */
static inline bool mosbench_spare_keep(struct mosbench_spares __percpu *spares, const void *object)
{
	unsigned long *slot = mosbench_slot(spares, object);
	unsigned long old = READ_ONCE(*slot);

	return mosbench_slot_has(old, object) && mosbench_spares_of(old) - 1 < MOSBENCH_SPARES_MAX - 1 &&
	       cmpxchg(slot, old, old + MOSBENCH_SPARE_ONE) == old;
}

/*
 * Make two references of the caller's to @object the first spares on this core: true, and they are gone. Two, so that the next who
 * takes one leaves one. @number spares of @evicted (possibly none) had to make room: the caller has these references now.
 */
bool mosbench_spare_claim(struct mosbench_spares __percpu *spares, const void *object, void **evicted, unsigned int *number);

/* Take all spares of @object from all cores: the number of references that the caller has now. */
unsigned int mosbench_spare_drain(struct mosbench_spares __percpu *spares, const void *object);

#endif

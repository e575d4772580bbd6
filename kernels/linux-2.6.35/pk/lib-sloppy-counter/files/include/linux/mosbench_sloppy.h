/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sloppy counters ("An Analysis of Linux Scalability to Many Cores", section 4.3).
 *
 * One logical counter is a central value, the atomic_t that was there before, and a slot on each core with spare references.
 * A core takes references from its own slot and puts them back there; only when the slot has too few or too many does it change
 * the central value. Code that knows nothing of slots may go on changing the central value.
 *
 * Invariant: central value = references in use + spares of all slots.
 *
 * A slot is frozen or holds spares. While a counter's slots are frozen its central value is the number of references in use, as
 * without slots: that is how the true number is found. Adding up the slots instead would not do: a reference that moves from a
 * core still to be counted to one already counted would be missed.
 *
 * What users must see to:
 *  - freeze and thaw of one counter exclude each other (the user's lock, or the pool's);
 *  - where a central value of 0 means something, a reference is held from thaw to freeze: frozen first, dropped after;
 *  - an object with slots is there as long as any core may take from or put to it, as without slots.
 */
#ifndef _LINUX_MOSBENCH_SLOPPY_H
#define _LINUX_MOSBENCH_SLOPPY_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <asm/atomic.h>

struct mosbench_slot {
	atomic_t spares;	/* 0: frozen; n + 1: n spares */
	unsigned int uses;	/* for the user's statistics; not exact */
};

/*
 * Spares of this core's slot, and their exchange if they are still `had`. Either may be another core's slot than the one before it:
 * what is put into a slot follows from what was in that slot. One instruction each on x86, where a pointer to the slot would cost
 * the core's number and the offset of its data first.
 */
#ifdef CONFIG_X86_64
static inline int mosbench_slot_spares(struct mosbench_slot __percpu *slots)
{
	int spares;

	asm volatile("movl " __percpu_arg(1) ",%0" : "=r" (spares) : "m" (slots->spares.counter));
	return spares;
}

static inline int mosbench_slot_cmpxchg(struct mosbench_slot __percpu *slots, int had, int spares)
{
	int seen;

	asm volatile(LOCK_PREFIX "cmpxchgl %2," __percpu_arg(1)
		     : "=a" (seen), "+m" (slots->spares.counter) : "r" (spares), "0" (had) : "memory");
	return seen;
}
#else
static inline int mosbench_slot_spares(struct mosbench_slot __percpu *slots)
{
	return atomic_read(&per_cpu_ptr(slots, raw_smp_processor_id())->spares);
}

static inline int mosbench_slot_cmpxchg(struct mosbench_slot __percpu *slots, int had, int spares)
{
	return atomic_cmpxchg(&per_cpu_ptr(slots, raw_smp_processor_id())->spares, had, spares);
}
#endif

/* Taking and putting, for callers that know that there are slots; see mosbench_slots_take() and _put(). */
static inline int mosbench_slots_take_from(struct mosbench_slot __percpu *slots, int n)
{
	int have = mosbench_slot_spares(slots), seen;

	while (likely(have > n)) {
		seen = mosbench_slot_cmpxchg(slots, have, have - n);
		if (likely(seen == have))
			return 1;
		have = seen;
	}
	return 0;
}

extern int mosbench_slots_put_slowly(struct mosbench_slot __percpu *slots, atomic_t *central, int n, int threshold);

static inline int mosbench_slots_put_into(struct mosbench_slot __percpu *slots, atomic_t *central, int n, int threshold)
{
	int have = mosbench_slot_spares(slots), seen;

	/* One comparison of what is in the slot: it is not frozen, and n more do not make it too full. */
	while (likely(n <= threshold && (unsigned int)(have - 1) <= (unsigned int)(threshold - n))) {
		seen = mosbench_slot_cmpxchg(slots, have, have + n);
		if (likely(seen == have))
			return 1;
		have = seen;
	}
	return mosbench_slots_put_slowly(slots, central, n, threshold);
}

/*
 * Take n references from this core's slot. Returns 0 if it has too few, is frozen, or there are no slots: then the caller adds n
 * to the central value. Any context; moving to another core half way does no harm.
 */
static inline int mosbench_slots_take(struct mosbench_slot __percpu *slots, int n)
{
	return slots && mosbench_slots_take_from(slots, n);
}

/*
 * Put n references into this core's slot. Returns 0 if there are no slots, the slot is frozen, or it would hold more than
 * threshold: then the caller subtracts n from the central value, with whatever it does when that becomes 0. A slot over the
 * threshold has given half of it back to the central value before.
 */
static inline int mosbench_slots_put(struct mosbench_slot __percpu *slots, atomic_t *central, int n, int threshold)
{
	return slots && mosbench_slots_put_into(slots, central, n, threshold);
}

/* Whether slots are frozen: for who keeps others from freezing and thawing them. */
static inline int mosbench_slots_frozen(struct mosbench_slot __percpu *slots)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (atomic_read(&per_cpu_ptr(slots, cpu)->spares))
			return 0;
	return 1;
}

/*
 * Whether an ordinary counter deserves slots: it was changed MOSBENCH_HOT times by another core than the time before. *heat is the
 * last core and how often, on the counter's own line, and not exact.
 */
#define MOSBENCH_HOT 64

static inline int mosbench_hot(unsigned int *heat)
{
	unsigned int core = raw_smp_processor_id(), times = *heat & 0xffff;

	if (*heat >> 16 != core)
		*heat = core << 16 | ++times;
	return times >= MOSBENCH_HOT;
}

extern int mosbench_slots_freeze(struct mosbench_slot __percpu *slots, atomic_t *central);
extern void mosbench_slots_thaw(struct mosbench_slot __percpu *slots);
extern int mosbench_slots_count(struct mosbench_slot __percpu *slots, atomic_t *central);
extern int mosbench_slots_spares(struct mosbench_slot __percpu *slots);
extern unsigned int mosbench_slots_uses(struct mosbench_slot __percpu *slots);

/*
 * A pool of slots for objects of which few are in use by many cores at a time, and that come and go where nobody may sleep. An
 * object has a pointer to its slots, NULL at first. Its memory is bounded by the pool: when all slots are given out, an object
 * stays an ordinary counter.
 *
 * An object that becomes an ordinary counter now and then, and has a lock of its own to freeze and thaw under, reserves slots by
 * number, frozen, and releases them when it goes, frozen again; the slots of number n are base + n.
 */
struct mosbench_slot_pool {
	spinlock_t lock;	/* who has which slots; freeze and thaw of them */
	int size;
	int next;
	unsigned long *given;			/* bit i: slots i are some object's */
	struct mosbench_slot __percpu *base;	/* slots 0 are never thawed: those of closed counters without slots */
};

extern int mosbench_pool_init(struct mosbench_slot_pool *pool, int size);
extern void mosbench_pool_attach(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots);
extern void mosbench_pool_close(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots, atomic_t *central);
extern int mosbench_pool_count(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots, atomic_t *central);
extern int mosbench_pool_reserve(struct mosbench_slot_pool *pool);
extern void mosbench_pool_release(struct mosbench_slot_pool *pool, int number);
extern void mosbench_pool_detach(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots, atomic_t *central);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Sloppy counters: what is not on the fast path. See include/linux/mosbench_sloppy.h. */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mosbench_sloppy.h>
#include <linux/slab.h>
#include <asm/system.h>

/* Put where the slot is frozen or full, or was when it was looked at. */
int mosbench_slots_put_slowly(struct mosbench_slot __percpu *slots, atomic_t *central, int n, int threshold)
{
	int have = mosbench_slot_spares(slots), seen, left;

	while (have > 0) {
		left = have + n;
		if (left > threshold + 1)
			left = min(have, threshold / 2 + 1);
		seen = mosbench_slot_cmpxchg(slots, have, left);
		if (seen == have) {
			if (left > have)
				return 1;
			/* The caller's own n are still in the central value: this cannot make it 0. */
			if (left < have)
				atomic_sub(have - left, central);
			return 0;
		}
		have = seen;
	}
	return 0;
}
EXPORT_SYMBOL(mosbench_slots_put_slowly);

/*
 * Give every spare back to the central value and keep cores from making new ones. Returns whether the slots were thawed. The
 * central value is the number of references in use when this returns, except that a core just giving back half of a full slot
 * may still count as using that half: as long as it does, its own reference is in use too.
 */
int mosbench_slots_freeze(struct mosbench_slot __percpu *slots, atomic_t *central)
{
	int cpu, had, thawed = 0, spares = 0;

	if (!slots)
		return 0;
	for_each_possible_cpu(cpu) {
		had = atomic_xchg(&per_cpu_ptr(slots, cpu)->spares, 0);
		if (had) {
			thawed = 1;
			spares += had - 1;
		}
	}
	if (spares)
		atomic_sub(spares, central);
	return thawed;
}
EXPORT_SYMBOL(mosbench_slots_freeze);

/* Let cores keep spares. Slots that are thawed already keep theirs. */
void mosbench_slots_thaw(struct mosbench_slot __percpu *slots)
{
	int cpu;

	if (!slots)
		return;
	for_each_possible_cpu(cpu)
		atomic_cmpxchg(&per_cpu_ptr(slots, cpu)->spares, 0, 1);
}
EXPORT_SYMBOL(mosbench_slots_thaw);

/* The number of references in use, exactly: freeze, read, thaw if it was thawed. */
int mosbench_slots_count(struct mosbench_slot __percpu *slots, atomic_t *central)
{
	int thawed = mosbench_slots_freeze(slots, central);
	int count = atomic_read(central);

	if (thawed)
		mosbench_slots_thaw(slots);
	return count;
}
EXPORT_SYMBOL(mosbench_slots_count);

/* Spares of all cores, for statistics: not exact while cores move. */
int mosbench_slots_spares(struct mosbench_slot __percpu *slots)
{
	int cpu, spares = 0;

	if (!slots)
		return 0;
	for_each_possible_cpu(cpu) {
		int have = atomic_read(&per_cpu_ptr(slots, cpu)->spares);

		spares += have ? have - 1 : 0;
	}
	return spares;
}
EXPORT_SYMBOL(mosbench_slots_spares);

unsigned int mosbench_slots_uses(struct mosbench_slot __percpu *slots)
{
	unsigned int uses = 0;
	int cpu;

	if (!slots)
		return 0;
	for_each_possible_cpu(cpu)
		uses += per_cpu_ptr(slots, cpu)->uses;
	return uses;
}
EXPORT_SYMBOL(mosbench_slots_uses);

/* Room for size - 1 objects. Without memory the pool stays empty and every counter an ordinary one; returns 0 or -ENOMEM. */
int mosbench_pool_init(struct mosbench_slot_pool *pool, int size)
{
	spin_lock_init(&pool->lock);
	pool->given = kzalloc(BITS_TO_LONGS(size) * sizeof(long), GFP_KERNEL);
	pool->base = __alloc_percpu(size * sizeof(struct mosbench_slot), SMP_CACHE_BYTES);
	if (!pool->given || !pool->base)
		return -ENOMEM;
	__set_bit(0, pool->given);
	pool->next = 1;
	pool->size = size;
	return 0;
}
EXPORT_SYMBOL(mosbench_pool_init);

/* Slots, frozen, for the caller alone: their number, or 0 if the pool has none left. Any context. */
int mosbench_pool_reserve(struct mosbench_slot_pool *pool)
{
	unsigned long flags;
	int number;

	/* A full pool must not become a lock that every use of an object takes. */
	if (ACCESS_ONCE(pool->next) >= pool->size)
		return 0;
	spin_lock_irqsave(&pool->lock, flags);
	number = find_next_zero_bit(pool->given, pool->size, pool->next);
	pool->next = number;
	if (number < pool->size) {
		__set_bit(number, pool->given);
		pool->next = number + 1;
	} else {
		number = 0;
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	return number;
}
EXPORT_SYMBOL(mosbench_pool_reserve);

/* Slots that were reserved, and are frozen, go back to the pool. Nobody may take or put any more. */
void mosbench_pool_release(struct mosbench_slot_pool *pool, int number)
{
	unsigned long flags;
	int cpu;

	spin_lock_irqsave(&pool->lock, flags);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(pool->base + number, cpu)->uses = 0;
	__clear_bit(number, pool->given);
	if (number < pool->next)
		pool->next = number;
	spin_unlock_irqrestore(&pool->lock, flags);
}
EXPORT_SYMBOL(mosbench_pool_release);

/* Give the object slots, thawed, if the pool has any left and the object was not closed. Any context. */
void mosbench_pool_attach(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots)
{
	struct mosbench_slot __percpu *own;
	unsigned long flags;
	int i;

	/* A full pool must not become a lock that every use of an object takes. */
	if (ACCESS_ONCE(pool->next) >= pool->size)
		return;
	spin_lock_irqsave(&pool->lock, flags);
	i = find_next_zero_bit(pool->given, pool->size, pool->next);
	pool->next = i;
	if (i < pool->size && !ACCESS_ONCE(*slots)) {
		own = pool->base + i;
		/* thawed before any core can find them */
		mosbench_slots_thaw(own);
		if (!cmpxchg(slots, NULL, own)) {
			__set_bit(i, pool->given);
			pool->next = i + 1;
		} else {
			for_each_possible_cpu(i)
				atomic_set(&per_cpu_ptr(own, i)->spares, 0);
		}
	}
	spin_unlock_irqrestore(&pool->lock, flags);
}
EXPORT_SYMBOL(mosbench_pool_attach);

/* Freeze for good: from now on the central value is the number of references in use, and no slots can be attached. */
void mosbench_pool_close(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots, atomic_t *central)
{
	unsigned long flags;

	if (!cmpxchg(slots, NULL, pool->base) || *slots == pool->base)
		return;
	spin_lock_irqsave(&pool->lock, flags);
	mosbench_slots_freeze(*slots, central);
	spin_unlock_irqrestore(&pool->lock, flags);
}
EXPORT_SYMBOL(mosbench_pool_close);

/* The number of references in use, exactly. For an object without slots that is the central value. */
int mosbench_pool_count(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots, atomic_t *central)
{
	struct mosbench_slot __percpu *own = ACCESS_ONCE(*slots);
	unsigned long flags;
	int count;

	if (!own || own == pool->base)
		return atomic_read(central);
	spin_lock_irqsave(&pool->lock, flags);
	count = mosbench_slots_count(own, central);
	spin_unlock_irqrestore(&pool->lock, flags);
	return count;
}
EXPORT_SYMBOL(mosbench_pool_count);

/* The object is going: its slots go back to the pool. Nobody may take or put any more. */
void mosbench_pool_detach(struct mosbench_slot_pool *pool, struct mosbench_slot __percpu **slots, atomic_t *central)
{
	struct mosbench_slot __percpu *own = *slots;
	unsigned long flags;
	int cpu, i;

	*slots = NULL;
	if (!own || own == pool->base)
		return;
	spin_lock_irqsave(&pool->lock, flags);
	mosbench_slots_freeze(own, central);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(own, cpu)->uses = 0;
	i = own - pool->base;
	__clear_bit(i, pool->given);
	if (i < pool->next)
		pool->next = i;
	spin_unlock_irqrestore(&pool->lock, flags);
}
EXPORT_SYMBOL(mosbench_pool_detach);

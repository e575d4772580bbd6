// SPDX-License-Identifier: GPL-2.0-or-later
/* Spare references of objects, kept by cores. See mosbench_spares.h. */
#include <linux/cpumask.h>
#include <linux/mosbench_spares.h>

bool mosbench_spare_claim(struct mosbench_spares __percpu *spares, const void *object, void **evicted, unsigned int *number)
{
	unsigned long *slot = mosbench_slot(spares, object);
	unsigned long old = READ_ONCE(*slot), two = ((unsigned long)object & MOSBENCH_SPARE_ADDRESS) | 2 * MOSBENCH_SPARE_ONE;

	*number = 0;
	if ((mosbench_slot_has(old, object) && mosbench_spares_of(old)) || cmpxchg(slot, old, two) != old)
		return false;
	*number = mosbench_spares_of(old);
	*evicted = mosbench_slot_object(old);
	return true;
}

unsigned int mosbench_spare_drain(struct mosbench_spares __percpu *spares, const void *object)
{
	unsigned int index = hash_ptr(object, ilog2(MOSBENCH_SPARE_SLOTS)), number = 0;
	int cpu;

	/* What made the object unfit to be kept comes before the look at the slots; see the re-check of those who keep. */
	smp_mb();
	for_each_possible_cpu(cpu) {
		unsigned long *slot = &per_cpu_ptr(spares, cpu)->slots[index];
		unsigned long old = READ_ONCE(*slot), seen;

		while (mosbench_slot_has(old, object) && mosbench_spares_of(old)) {
			seen = cmpxchg(slot, old, old & MOSBENCH_SPARE_ADDRESS);
			if (seen == old) {
				number += mosbench_spares_of(old);
				break;
			}
			old = seen;
		}
	}
	return number;
}

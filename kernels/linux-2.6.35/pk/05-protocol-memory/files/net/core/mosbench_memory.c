// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sloppy accounting of protocol memory.
 *
 * Pages that a core gives back it keeps as spares and takes again, without changing the protocol's shared count. Spares exist only
 * while the shared count is under the lower limit (sysctl_mem[0]), where no limit applies; the first allocation that goes over it
 * freezes the spares, and from then on the shared count is exact until it has fallen to half that limit. So every decision about a
 * limit is made with the exact number. All spares together are at most an eighth of the lower limit.
 *
 * Protocols that share a count (TCP over IPv4 and IPv6) share the spares.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mosbench_sloppy.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/mosbench_memory.h>
#include <net/sock.h>

/* Most pages that a core keeps. */
#define THRESHOLD_MAX 32

struct mosbench_memory {
	struct mosbench_slot __percpu *slots;
	int exact;		/* spares are frozen */
	spinlock_t lock;	/* around freeze and thaw, with exact */
	atomic_t *central;
	int users;
	struct list_head node;
};

static LIST_HEAD(counts);
static DEFINE_MUTEX(counts_mutex);

/* Without memory for slots the count is an ordinary one. */
void mosbench_memory_register(struct proto *prot)
{
	struct mosbench_memory *memory;

	prot->mosbench_memory = NULL;
	if (!prot->memory_allocated || !prot->sysctl_mem)
		return;
	mutex_lock(&counts_mutex);
	list_for_each_entry(memory, &counts, node)
		if (memory->central == prot->memory_allocated)
			goto found;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		goto out;
	memory->slots = alloc_percpu(struct mosbench_slot);
	memory->central = prot->memory_allocated;
	spin_lock_init(&memory->lock);
	mosbench_slots_thaw(memory->slots);
	list_add(&memory->node, &counts);
found:
	memory->users++;
	prot->mosbench_memory = memory;
out:
	mutex_unlock(&counts_mutex);
}

/* The protocol has no sockets any more. */
void mosbench_memory_unregister(struct proto *prot)
{
	struct mosbench_memory *memory = prot->mosbench_memory;

	if (!memory)
		return;
	mutex_lock(&counts_mutex);
	prot->mosbench_memory = NULL;
	if (!--memory->users) {
		mosbench_slots_freeze(memory->slots, memory->central);
		list_del(&memory->node);
		free_percpu(memory->slots);
		kfree(memory);
	}
	mutex_unlock(&counts_mutex);
}

static void set_exact(struct mosbench_memory *memory, int exact)
{
	unsigned long flags;

	spin_lock_irqsave(&memory->lock, flags);
	if (memory->exact != exact) {
		memory->exact = exact;
		if (exact)
			mosbench_slots_freeze(memory->slots, memory->central);
		else
			mosbench_slots_thaw(memory->slots);
	}
	spin_unlock_irqrestore(&memory->lock, flags);
}

int mosbench_memory_take(struct proto *prot, int pages)
{
	struct mosbench_memory *memory = prot->mosbench_memory;
	int allocated;

	if (!memory)
		return atomic_add_return(pages, prot->memory_allocated);
	if (mosbench_slots_take(memory->slots, pages))
		allocated = atomic_read(prot->memory_allocated);
	else
		allocated = atomic_add_return(pages, prot->memory_allocated);
	if (unlikely(allocated > prot->sysctl_mem[0]) && !memory->exact) {
		set_exact(memory, 1);
		allocated = atomic_read(prot->memory_allocated);
	}
	return allocated;
}

void mosbench_memory_give(struct proto *prot, int pages)
{
	struct mosbench_memory *memory = prot->mosbench_memory;
	int threshold;

	if (memory) {
		threshold = min(THRESHOLD_MAX, prot->sysctl_mem[0] >> (3 + ilog2(roundup_pow_of_two(NR_CPUS))));
		if (mosbench_slots_put(memory->slots, prot->memory_allocated, pages, threshold))
			return;
	}
	atomic_sub(pages, prot->memory_allocated);
	if (memory && unlikely(memory->exact) && atomic_read(prot->memory_allocated) < prot->sysctl_mem[0] / 2)
		set_exact(memory, 0);
}

/* While other cores take and give it may be off by what they do meanwhile, also below 0. */
int mosbench_memory_used(struct proto *prot)
{
	struct mosbench_memory *memory = prot->mosbench_memory;

	return atomic_read(prot->memory_allocated) - (memory ? mosbench_slots_spares(memory->slots) : 0);
}
EXPORT_SYMBOL(mosbench_memory_used);

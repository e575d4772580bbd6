// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sloppy reference counts of dentries.
 *
 * A dentry that cores take in turns is heated: it gets slots from a pool, and they are thawed. While they are, they hold one
 * reference of their own, so d_count does not become 0 behind the dcache's back. Who unhashes a dentry, decides something because
 * nobody else uses it, or looks for dentries to free, cools it: the slots are frozen, spares and the slots' own reference go back,
 * and d_count is what it would be without slots. A dentry keeps its slots, frozen or not, until it is freed, after a grace period:
 * a look-up without locks cannot find them in another dentry's use.
 *
 * Heating and cooling happen under d_lock, except that umount cools dentries that nobody else can reach, under dcache_lock. d_lock
 * also keeps a dentry from being hashed or unhashed meanwhile, so that one that is not hashed, and whose last dput() must free it,
 * never has thawed slots.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mosbench_sloppy.h>
#include <linux/spinlock.h>

/* Spares that a core keeps of one dentry. */
#define THRESHOLD 16
/* Dentries with slots at a time: 16 KiB on each core. */
#define SLOTS 2048
/* Dentries that a call of the shrinker cools. */
#define RETIRE_AT_ONCE 16

static struct mosbench_slot_pool pool;
/* What every look-up reads, away from the pool's lock. */
static struct mosbench_slot __percpu *first_slots __read_mostly;
/* Who has which slots: changes under d_lock, read under pool.lock, which who frees the dentry has to take. */
static struct dentry *owners[SLOTS];

void __init mosbench_dentry_init(void)
{
	BUILD_BUG_ON(NR_CPUS > 256 || SLOTS > 65536 || MOSBENCH_HOT > 255);
	if (mosbench_pool_init(&pool, SLOTS))
		printk(KERN_WARNING "mosbench: no memory for slots of dentries\n");
	first_slots = pool.base;
}

static inline struct mosbench_slot __percpu *slots_of(const struct dentry *dentry)
{
	unsigned int number = ACCESS_ONCE(dentry->d_mosbench.slots);

	return number ? first_slots + number : NULL;
}

/*
 * Whether the file system wants to know when nobody uses the dentry any more. Those that live in memory only (tmpfs) want that for
 * names that do not exist; they keep a reference of every other dentry.
 */
static int wants_last_put(const struct dentry *dentry)
{
	if (!dentry->d_op || !dentry->d_op->d_delete)
		return 0;
	return !dentry->d_inode || dentry->d_op->d_iput || dentry->d_sb->s_type->kill_sb != kill_litter_super;
}

/* Whether it may have spares. A file system's root is not hashed, but is there as long as the file system. */
static int suitable(struct dentry *dentry)
{
	return dentry->d_sb && (!d_unhashed(dentry) || dentry->d_sb->s_root == dentry) && !wants_last_put(dentry);
}

/* The caller holds d_lock and a reference. */
static noinline void heat(struct dentry *dentry)
{
	struct mosbench_slot __percpu *slots;
	int number;

	dentry->d_mosbench.turns = 0;
	if (!suitable(dentry))
		return;
	if (!dentry->d_mosbench.slots) {
		number = mosbench_pool_reserve(&pool);
		if (!number)
			return;
		owners[number] = dentry;
		ACCESS_ONCE(dentry->d_mosbench.slots) = number;
	}
	slots = slots_of(dentry);
	if (mosbench_slots_frozen(slots)) {
		atomic_inc(&dentry->d_count);
		mosbench_slots_thaw(slots);
	}
}

/* A reference was taken from d_count. Returns whether cores have taken turns at it often enough. */
static inline int took_turns(struct dentry *dentry)
{
	u8 core = raw_smp_processor_id();

	if (dentry->d_mosbench.core != core) {
		dentry->d_mosbench.core = core;
		dentry->d_mosbench.turns++;
	}
	return dentry->d_mosbench.turns >= MOSBENCH_HOT;
}

void mosbench_dentry_get_shared(struct dentry *dentry)
{
	if (mosbench_slots_take(slots_of(dentry), 1))
		return;
	BUG_ON(!atomic_read(&dentry->d_count));
	atomic_inc(&dentry->d_count);
	/* The caller may hold the lock: another time, then. */
	if (unlikely(took_turns(dentry)) && spin_trylock(&dentry->d_lock)) {
		heat(dentry);
		spin_unlock(&dentry->d_lock);
	}
}
EXPORT_SYMBOL(mosbench_dentry_get_shared);

void mosbench_dentry_get_shared_locked(struct dentry *dentry)
{
	if (mosbench_slots_take(slots_of(dentry), 1))
		return;
	atomic_inc(&dentry->d_count);
	if (unlikely(took_turns(dentry)))
		heat(dentry);
}

int mosbench_dentry_get_shared_not_zero(struct dentry *dentry)
{
	if (mosbench_slots_take(slots_of(dentry), 1))
		return 1;
	if (!atomic_inc_not_zero(&dentry->d_count))
		return 0;
	if (unlikely(took_turns(dentry)) && spin_trylock(&dentry->d_lock)) {
		heat(dentry);
		spin_unlock(&dentry->d_lock);
	}
	return 1;
}

static __always_inline int put_shared(struct dentry *dentry)
{
	return mosbench_slots_put(slots_of(dentry), &dentry->d_count, 1, THRESHOLD);
}

int mosbench_dentry_put_shared(struct dentry *dentry)
{
	return put_shared(dentry);
}

/*
 * A reference that is not the last one goes without a stack frame and without a call: what atomic_dec_and_lock() tries first is
 * tried here.
 */
void dput(struct dentry *dentry)
{
	if (!dentry)
		return;
	if (likely(!dentry->d_mosbench.slots)) {
		if (likely(atomic_add_unless(&dentry->d_count, -1, 1)))
			return;
	} else if (likely(put_shared(dentry))) {
		return;
	}
	mosbench_dentry_put_rest(dentry);
}

void mosbench_dentry_cool_slots(struct dentry *dentry)
{
	if (mosbench_slots_freeze(slots_of(dentry), &dentry->d_count)) {
		dentry->d_mosbench.turns = 0;
		atomic_dec(&dentry->d_count);
	}
}
EXPORT_SYMBOL(mosbench_dentry_cool_slots);

void mosbench_dentry_give_back(struct dentry *dentry)
{
	int number = dentry->d_mosbench.slots;
	unsigned long flags;

	spin_lock_irqsave(&pool.lock, flags);
	owners[number] = NULL;
	spin_unlock_irqrestore(&pool.lock, flags);
	WARN_ON(!mosbench_slots_frozen(first_slots + number));
	mosbench_pool_release(&pool, number);
}

/*
 * An owner is there while pool.lock is held, but it may have been killed and wait for its grace period. Thawed slots say that it
 * was not: killing it, under dcache_lock, needs a d_count of 0, and they hold a reference.
 */
void mosbench_dentry_retire(void (*add_unused)(struct dentry *))
{
	static int number; /* under dcache_lock */
	struct dentry *dentry;
	int i;

	spin_lock(&dcache_lock);
	spin_lock_irq(&pool.lock);
	for (i = 0; i < RETIRE_AT_ONCE; i++) {
		number = number % (SLOTS - 1) + 1;
		dentry = owners[number];
		/* Elsewhere d_lock is taken before pool.lock. */
		if (!dentry || !spin_trylock(&dentry->d_lock))
			continue;
		if (!mosbench_slots_frozen(first_slots + number)) {
			mosbench_dentry_cool_slots(dentry);
			if (!atomic_read(&dentry->d_count) && list_empty(&dentry->d_lru)) {
				dentry->d_flags |= DCACHE_REFERENCED;
				add_unused(dentry);
			}
		}
		spin_unlock(&dentry->d_lock);
	}
	spin_unlock_irq(&pool.lock);
	spin_unlock(&dcache_lock);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sloppy-counter library needs of a kernel, in user space, for a machine of two cores whose every atomic operation is a
 * place where another thread may go on (see interleave.c). Every <linux/...> and <asm/...> header of the library is this one.
 */
#ifndef SHIM_H
#define SHIM_H

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { CORES = 2, CORE_STRIDE = 4096 };

/* A place where any thread may go on. */
void step(void);
/* The thread waits until it is woken: `lock` was released. */
void wait_for(const int *lock);
int current_core(void);
/* Everything allocated in one execution goes away with it. */
void *execution_alloc(size_t bytes);

#define likely(x) (x)
#define unlikely(x) (x)
#define __percpu
#define ACCESS_ONCE(x) (*(volatile typeof(x) *)&(x))
#define EXPORT_SYMBOL(name) extern int shim_exports_##name
#define min(a, b) ((a) < (b) ? (a) : (b))
#define smp_wmb() __asm__ volatile("" ::: "memory")

/* Each core's copy lies CORE_STRIDE bytes behind the copy of the core before it. */
#define per_cpu_ptr(pointer, cpu) ((typeof(pointer))((char *)(pointer) + (size_t)(cpu) * CORE_STRIDE))
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < CORES; (cpu)++)
#define raw_smp_processor_id() current_core()
#define SMP_CACHE_BYTES 64
#define __alloc_percpu(bytes, align) execution_alloc((size_t)CORES *CORE_STRIDE)

typedef struct {
    int value;
} atomic_t;

static inline int atomic_read(const atomic_t *a)
{
    step();
    return a->value;
}

static inline int atomic_cmpxchg(atomic_t *a, int old, int new)
{
    int seen;

    step();
    seen = a->value;
    if (seen == old)
        a->value = new;
    return seen;
}

static inline int atomic_xchg(atomic_t *a, int new)
{
    int seen;

    step();
    seen = a->value;
    a->value = new;
    return seen;
}

static inline void atomic_set(atomic_t *a, int value)
{
    step();
    a->value = value;
}

static inline int atomic_add_return(int n, atomic_t *a)
{
    step();
    return a->value += n;
}

#define atomic_sub_return(n, a) atomic_add_return(-(n), a)
#define atomic_add(n, a) ((void)atomic_add_return(n, a))
#define atomic_sub(n, a) ((void)atomic_add_return(-(n), a))

#define cmpxchg(pointer, old, new)                                                                                               \
    ({                                                                                                                           \
        typeof(*(pointer)) seen_;                                                                                                \
        step();                                                                                                                  \
        seen_ = *(pointer);                                                                                                      \
        if (seen_ == (old))                                                                                                      \
            *(pointer) = (new);                                                                                                  \
        seen_;                                                                                                                   \
    })

typedef struct {
    int held;
} spinlock_t;

static inline void spin_lock(spinlock_t *lock)
{
    step();
    while (lock->held)
        wait_for(&lock->held);
    lock->held = 1;
}

static inline void spin_unlock(spinlock_t *lock)
{
    lock->held = 0;
}

#define spin_lock_init(lock) ((lock)->held = 0)
#define spin_lock_irqsave(lock, flags) ((flags) = 0, spin_lock(lock))
#define spin_unlock_irqrestore(lock, flags) ((void)(flags), spin_unlock(lock))

#define BITS_PER_LONG ((int)(CHAR_BIT * sizeof(long)))
#define BITS_TO_LONGS(bits) ((size_t)(((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG))
#define GFP_KERNEL 0
#define kzalloc(bytes, flags) execution_alloc(bytes)

static inline void __set_bit(int bit, unsigned long *map)
{
    map[bit / BITS_PER_LONG] |= 1UL << (bit % BITS_PER_LONG);
}

static inline void __clear_bit(int bit, unsigned long *map)
{
    map[bit / BITS_PER_LONG] &= ~(1UL << (bit % BITS_PER_LONG));
}

static inline int find_next_zero_bit(const unsigned long *map, int size, int from)
{
    while (from < size && (map[from / BITS_PER_LONG] >> (from % BITS_PER_LONG) & 1))
        from++;
    return from;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the library of spare references and its user for routes need of a kernel, in user space, for a machine of two cores whose
 * every atomic operation and marked read is a place where another thread may go on (see interleave.c). Every header of the kernel
 * that these sources include is this one.
 */
#ifndef SHIM_H
#define SHIM_H

#include <stdbool.h>
#include <stddef.h>

enum { CORES = 2 };

/* A place where any thread may go on. */
void step(void);
int current_core(void);
void fail(const char *what);

#define CONFIG_MOSBENCH_DST_COUNT 1
#define ____cacheline_aligned_in_smp __attribute__((aligned(64)))
#define __percpu
#define unlikely(x) (x)
#define likely(x) (x)
#define ilog2(x) (__builtin_ctz(x))
#define hash_ptr(pointer, bits) ((void)(pointer), (unsigned int)0)
#define EXPORT_PER_CPU_SYMBOL(name) extern int shim_exports_##name
#define WARN_ON(condition) ((condition) ? fail("the kernel would warn: " #condition) : (void)0)
#define smp_mb() step()
#define smp_rmb() __asm__ volatile("" ::: "memory")
#define AF_INET 2

/* Every per-CPU variable is an array with a place for each core. */
#define DECLARE_PER_CPU_ALIGNED(type, name) extern type name##_of[CORES]
#define DEFINE_PER_CPU_ALIGNED(type, name) type name##_of[CORES]
#define mosbench_dst_spares (mosbench_dst_spares_of[0])
#define raw_cpu_ptr(pointer) ((pointer) + current_core())
#define per_cpu_ptr(pointer, cpu) ((pointer) + (cpu))
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < CORES; (cpu)++)

#define READ_ONCE(x) (step(), *(const volatile __typeof__(x) *)&(x))
#define cmpxchg(pointer, old, new)                                                                                               \
    ({                                                                                                                           \
        __typeof__(*(pointer)) seen_;                                                                                            \
        step();                                                                                                                  \
        seen_ = *(pointer);                                                                                                      \
        if (seen_ == (old))                                                                                                      \
            *(pointer) = (new);                                                                                                  \
        seen_;                                                                                                                   \
    })

typedef struct {
    int value;
} atomic_t;
#define ATOMIC_INIT(x) {x}

static inline int atomic_read(const atomic_t *a)
{
    step();
    return a->value;
}

static inline int atomic_add_return(int n, atomic_t *a)
{
    step();
    return a->value += n;
}

#define atomic_inc(a) ((void)atomic_add_return(1, a))
#define atomic_sub(n, a) ((void)atomic_add_return(-(n), a))
#define atomic_sub_return(n, a) atomic_add_return(-(n), a)

struct dst_ops {
    int family;
};
struct dst_entry {
    const struct dst_ops *ops; /* NULL once the memory is freed */
    int obsolete;
    int flags;
    atomic_t __refcnt;
};
#define DST_METADATA 0x80
#define DST_FAKE_RTABLE 0x10

void dst_release(struct dst_entry *dst);

#endif

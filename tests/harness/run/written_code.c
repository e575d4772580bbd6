/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads write functions that other threads call at the same time. Who calls one after it was written, and after CPUID, must run
 * the new one. Ends with 1 if one did not.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define PAIRS 2
#define PAGE 4096
#define ROUNDS 10000u
/* Its place in the page: what is written of it lies in four aligned bytes, so that nobody sees a part of it. */
#define FUNCTION 3
#define MOST_WAITS 300

struct pair {
    _Alignas(PAGE) uint8_t code[PAGE];
    _Alignas(PAGE) atomic_uint written, called; /* steps of the two threads */
    unsigned random[2];
    unsigned stale; /* calls of what was not there any more */
};

static volatile uint32_t *number_of(struct pair *pair)
{
    return (volatile uint32_t *)(pair->code + FUNCTION + 1);
}

static uint32_t call(struct pair *pair)
{
    uint32_t (*function)(void) = (uint32_t (*)(void))(uintptr_t)(pair->code + FUNCTION);

    return function();
}

static void reach(atomic_uint *steps, unsigned step)
{
    while (atomic_load(steps) < step)
        __builtin_ia32_pause();
}

static void wait_a_little(unsigned *random)
{
    *random = *random * 1103515245u + 12345u;
    for (unsigned i = (*random >> 16) % MOST_WAITS; i > 0; i--)
        __asm__ volatile("");
}

static void serialize(void)
{
    uint32_t a = 0, b, c = 0, d;

    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d) : : "memory");
}

static void *write_code(void *argument)
{
    struct pair *pair = argument;

    pair->code[FUNCTION] = 0xb8; /* mov $number, %eax */
    pair->code[FUNCTION + 5] = 0xc3;
    for (unsigned i = 0; i < 2 * ROUNDS; i += 2) {
        *number_of(pair) = i;
        atomic_store(&pair->written, i + 1);
        reach(&pair->called, i + 1);
        wait_a_little(&pair->random[0]);
        *number_of(pair) = i + 1;
        atomic_store(&pair->written, i + 2);
        reach(&pair->called, i + 2);
    }
    return NULL;
}

static void *call_code(void *argument)
{
    struct pair *pair = argument;

    for (unsigned i = 0; i < 2 * ROUNDS; i += 2) {
        reach(&pair->written, i + 1);
        (void)*number_of(pair); /* the line is here then, and the writer has to wait for it */
        atomic_store(&pair->called, i + 1);
        wait_a_little(&pair->random[1]);
        call(pair);
        reach(&pair->written, i + 2);
        serialize();
        pair->stale += call(pair) != i + 1;
        atomic_store(&pair->called, i + 2);
    }
    return NULL;
}

int main(void)
{
    struct pair *pairs =
        mmap(NULL, PAIRS * sizeof(*pairs), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t writers[PAIRS], callers[PAIRS];
    int wrong = 0;

    if (pairs == MAP_FAILED)
        return 2;
    for (unsigned i = 0; i < PAIRS; i++) {
        pairs[i].random[0] = 2 * i;
        pairs[i].random[1] = 2 * i + 1;
        if (pthread_create(&writers[i], NULL, write_code, &pairs[i]) || pthread_create(&callers[i], NULL, call_code, &pairs[i]))
            return 2;
    }
    for (unsigned i = 0; i < PAIRS; i++) {
        pthread_join(writers[i], NULL);
        pthread_join(callers[i], NULL);
        if (pairs[i].stale) {
            printf("pair %u: %u of %u calls ran what was there before\n", i, pairs[i].stale, ROUNDS);
            wrong = 1;
        }
    }
    return wrong;
}

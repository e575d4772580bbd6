// SPDX-License-Identifier: BSD-3-Clause
// How many cycles a PAUSE takes: fails unless it is LEAST to MOST. Interrupts only make it longer, so the shortest time counts.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIES 5
#define TURNS 100
#define PAUSES 10 // in each, so that the loop itself takes little

static uint64_t now(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

int main(int count, char **arguments)
{
    uint64_t shortest = UINT64_MAX;

    if (count != 3)
        return 2;
    for (int try = 0; try < TRIES; try++) {
        const uint64_t before = now();

        for (int turn = 0; turn < TURNS; turn++)
            __asm__ volatile(".rept %c0\n\tpause\n\t.endr" ::"i"(PAUSES));
        const uint64_t took = now() - before;
        if (took < shortest)
            shortest = took;
    }
    const double cycles = (double)shortest / (TURNS * PAUSES);
    printf("a PAUSE takes %.2f cycles\n", cycles);
    return cycles < atof(arguments[1]) || cycles > atof(arguments[2]);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words that lie across two pages are added to while other threads write to the second page's line beside them: each addition
 * must count once. Ends with 1 if one did not.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PAIRS 2
#define PAGE 4096
#define ADDITIONS 20000u
#define ADDEND 0x01020305u /* of which every byte matters */

static _Alignas(PAGE) char memory[PAIRS][2 * PAGE];
static volatile int stop;

static void *add(void *pair)
{
    char *word = (char *)pair + PAGE - 3;

    for (unsigned i = 0; i < ADDITIONS; i++)
        __asm__ volatile("addl %1, %0" : "+m"(*(uint32_t *)word) : "r"(ADDEND));
    return NULL;
}

static void *disturb(void *pair)
{
    volatile uint64_t *beside = (volatile uint64_t *)((char *)pair + PAGE + 8);

    while (!stop)
        ++*beside;
    return NULL;
}

int main(void)
{
    pthread_t adders[PAIRS], others[PAIRS];
    int wrong = 0;

    for (int i = 0; i < PAIRS; i++)
        if (pthread_create(&adders[i], NULL, add, memory[i]) || pthread_create(&others[i], NULL, disturb, memory[i]))
            return 2;
    for (int i = 0; i < PAIRS; i++)
        pthread_join(adders[i], NULL);
    stop = 1;
    for (int i = 0; i < PAIRS; i++) {
        uint32_t found = 0;

        pthread_join(others[i], NULL);
        for (int byte = 0; byte < 4; byte++)
            found |= (uint32_t)(unsigned char)memory[i][PAGE - 3 + byte] << 8 * byte;
        if (found != ADDITIONS * ADDEND) {
            printf("pair %d: %08x instead of %08x\n", i, found, ADDITIONS * ADDEND);
            wrong = 1;
        }
    }
    return wrong;
}

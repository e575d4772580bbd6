// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zeroing past the caches.
 *
 * MOVNTI collects the eight words of a line in a write-combining buffer that goes to memory as one burst: nothing is read first,
 * and no line of a cache has to make room. It stores from a general register, so no state of the FPU is to be saved.
 */
#include <linux/mm.h>
#include <linux/mosbench_superpage_zeroing.h>

/* Eight lines in a row, so that counting them costs nothing to speak of. */
#define WORDS 64

void mosbench_clear_page_uncached(void *page)
{
	unsigned long rounds = PAGE_SIZE / (WORDS * sizeof(long));

	asm volatile("1:\n\t"
		     ".set mosbench_word, 0\n\t"
		     ".rept %c3\n\t"
		     "movnti %2, mosbench_word(%0)\n\t"
		     ".set mosbench_word, mosbench_word + 8\n\t"
		     ".endr\n\t"
		     "add %4, %0\n\t"
		     "dec %1\n\t"
		     "jnz 1b\n\t"
		     /* Such stores are ordered with no others: the page table entry must not be seen before the zeros. */
		     "sfence"
		     : "+r"(page), "+r"(rounds)
		     : "r"(0UL), "i"(WORDS), "i"(WORDS * sizeof(long))
		     : "memory", "cc");
}

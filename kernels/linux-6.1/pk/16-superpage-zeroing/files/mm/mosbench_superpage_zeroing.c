// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zeroing past the caches.
 *
 * MOVNTI collects the eight words of a line in a write-combining buffer that goes to memory as one burst: nothing is read first,
 * and no line of a cache has to make room. It stores from a general register, so no state of the FPU is to be saved.
 */
#include <linux/highmem.h>
#include <linux/kmsan-checks.h>
#include <linux/mm.h>
#include <linux/mosbench_superpage_zeroing.h>

void mosbench_clear_part(struct page *page)
{
	void *at = kmap_local_page(page), *to = at;
	unsigned long lines = PAGE_SIZE / 64;

	kmsan_unpoison_memory(at, PAGE_SIZE);
	asm volatile("1:\n\t"
		     "movnti %2, (%0)\n\t"
		     "movnti %2, 8(%0)\n\t"
		     "movnti %2, 16(%0)\n\t"
		     "movnti %2, 24(%0)\n\t"
		     "movnti %2, 32(%0)\n\t"
		     "movnti %2, 40(%0)\n\t"
		     "movnti %2, 48(%0)\n\t"
		     "movnti %2, 56(%0)\n\t"
		     "add $64, %0\n\t"
		     "dec %1\n\t"
		     "jnz 1b\n\t"
		     /* Such stores are ordered with no others: the page table entry must not be seen before the zeros. */
		     "sfence"
		     : "+r"(to), "+r"(lines)
		     : "r"(0UL)
		     : "memory", "cc");
	kunmap_local(at);
}

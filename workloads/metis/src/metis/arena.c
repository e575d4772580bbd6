/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of one thread: a mapping of its own that is larger than what it will need, whose pages come with the first touch.
 */
#define _GNU_SOURCE
#include "metis.h"
#include "workers.h"

#define LARGE_PAGE ((size_t)2 << 20)

void arena_map(struct arena *arena, size_t bytes, bool large_pages)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (large_pages ? MAP_HUGETLB : 0);

    bytes = (bytes + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    *arena = (struct arena){0};
    arena->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (arena->base == MAP_FAILED)
        die("cannot map %zu bytes%s", bytes, large_pages ? " in large pages" : "");
    arena->next = arena->base;
    arena->end = arena->base + bytes;
}

void *arena_take(struct arena *arena, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    if (bytes > (size_t)(arena->end - arena->next)) {
        errno = 0;
        die("the tables need more than the %zu bytes of a thread's memory", (size_t)(arena->end - arena->base));
    }
    void *taken = arena->next;

    arena->next += bytes;
    return taken;
}

void *arena_take_array(struct arena *arena, unsigned size)
{
    void **first = arena->arrays[size];

    if (!first)
        return arena_take(arena, sizeof(void *) << size);
    arena->arrays[size] = *first;
    return first;
}

void arena_give_array(struct arena *arena, unsigned size, void *array)
{
    *(void **)array = arena->arrays[size];
    arena->arrays[size] = array;
}

void arena_unmap(struct arena *arena)
{
    if (munmap(arena->base, (size_t)(arena->end - arena->base)))
        die("cannot unmap memory");
}

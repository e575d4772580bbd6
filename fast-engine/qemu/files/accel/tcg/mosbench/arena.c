/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See arena.h.
 */
#include "qemu/osdep.h"
#include "arena.h"
#include <sys/mman.h>
#include "cpu.h"
#include "hw/boards.h"
#include "hw/i386/x86.h"
#include "qemu/units.h"

#define FOUR_GIB (4 * GiB)

uintptr_t mosbench_arena;
static uint64_t used;

uint64_t mosbench_arena_used(void)
{
    return used;
}

static void arena_reserve(void)
{
    /* Address space only: the kernel backs what the guest touches. Twice the size always holds one aligned arena. */
    uint8_t *base = mmap(NULL, 2 * MOSBENCH_ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        fprintf(stderr, "mosbench: cannot reserve address space for guest memory: %s\n", strerror(errno));
        exit(1);
    }
    mosbench_arena = ROUND_UP((uintptr_t)base, MOSBENCH_ARENA_BYTES);
}

/* Memory for one RAM block. Nodes come in order and lie without gaps; blocks too small to be a node (ROMs, video) stay outside. */
void *mosbench_ram_alloc(size_t size)
{
    void *place;

    if (size < 64 * MiB) {
        place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return place == MAP_FAILED ? NULL : place;
    }
    if (!mosbench_arena) {
        arena_reserve();
    }
    if (used + size > MOSBENCH_ARENA_BYTES) {
        return NULL;
    }
    place = mmap((void *)(mosbench_arena + used), size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (place == MAP_FAILED) {
        return NULL;
    }
    used += size;
    return place;
}

/* Up to the hole below 4 GiB, the rest above it. */
size_t mosbench_memory_pieces(struct model_memory *pieces, size_t room)
{
    X86MachineState *machine = X86_MACHINE(qdev_get_machine());
    uint64_t low = MIN(used, machine->below_4g_mem_size);

    g_assert(room >= 2);
    pieces[0] = (struct model_memory) { .offset = 0, .physical = 0, .bytes = low };
    pieces[1] = (struct model_memory) { .offset = low, .physical = FOUR_GIB, .bytes = used - low };
    return used > low ? 2 : 1;
}

const uint8_t *mosbench_place_of(uint64_t physical)
{
    static struct model_memory pieces[2];
    static size_t count;

    if (!count) {
        count = mosbench_memory_pieces(pieces, ARRAY_SIZE(pieces));
    }
    for (size_t i = 0; i < count; i++) {
        if (physical - pieces[i].physical < pieces[i].bytes) {
            return (const uint8_t *)mosbench_arena + pieces[i].offset + (physical - pieces[i].physical);
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Every core executes on a host stack of its own, so a core can stop anywhere, at the end of a slice or before an access, and go on
 * later where it stood: a switch costs a few nanoseconds, and no instruction is executed twice. For x86-64 hosts, as the filter.
 */
#include "qemu/osdep.h"
#include "stacks.h"
#include <sys/mman.h>
#include "qemu/rcu.h"
#include "qemu/units.h"

#define STACK_BYTES (2 * MiB)
#define GUARD_BYTES (64 * KiB)

void *mosbench_loop_stack;
Core *mosbench_on_stack;

static void core_main(void)
{
    for (;;) {
        Core *core = mosbench_on_stack;
        core->result = cpu_exec(core->cpu);
        mosbench_stop(core);
    }
}

/* As if core_main had been called (by nobody) and were to go on at its beginning. Each core begins a line further down, or the
 * same frames of all would be in one set of the host's L1 cache. */
void mosbench_make_stack(Core *core)
{
    uint8_t *base = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void **top = (void **)(base + STACK_BYTES - (core - mosbench_cores) * LINE_BYTES);

    if (base == MAP_FAILED || mprotect(base, GUARD_BYTES, PROT_NONE)) {
        fprintf(stderr, "mosbench: cannot have a stack for a core: %s\n", strerror(errno));
        exit(1);
    }
    *--top = NULL;
    *--top = core_main;
    core->stack = top;
}

static unsigned locks_of_cores;

void mosbench_rcu_enter(void)
{
    rcu_read_lock();
    get_ptr_rcu_reader()->depth += locks_of_cores;
}

void mosbench_rcu_leave(void)
{
    locks_of_cores = get_ptr_rcu_reader()->depth - 1;
    get_ptr_rcu_reader()->depth = 1;
    rcu_read_unlock();
}

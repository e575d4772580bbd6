/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Every core executes on a host stack of its own, so a core can stop anywhere, at the end of a slice or before an access, and go on
 * later where it stood: a switch costs a few nanoseconds, and no instruction is executed twice. For x86-64 hosts, as the filter.
 */
#include "engine.h"
#include "qemu/units.h"
#include "qemu/rcu.h"
#include <sys/mman.h>

#define STACK_BYTES (2 * MiB)
#define GUARD_BYTES (64 * KiB)

/* Saves what the calling convention asks for on the stack, which is left with its pointer in *from. */
void mosbench_switch_stack(void **from, void *to);
asm(".text\n"
    ".p2align 4\n"
    ".type mosbench_switch_stack, @function\n"
    "mosbench_switch_stack:\n"
    "    push %rbp\n"
    "    push %rbx\n"
    "    push %r12\n"
    "    push %r13\n"
    "    push %r14\n"
    "    push %r15\n"
    "    mov %rsp, (%rdi)\n"
    "    mov %rsi, %rsp\n"
    "    pop %r15\n"
    "    pop %r14\n"
    "    pop %r13\n"
    "    pop %r12\n"
    "    pop %rbx\n"
    "    pop %rbp\n"
    "    ret\n"
    ".size mosbench_switch_stack, . - mosbench_switch_stack\n");

static void *loop_stack;     /* of the scheduler's loop, while a core runs */
static Core *on_stack;       /* the core that runs; NULL: the loop */

static void core_main(void)
{
    for (;;) {
        Core *core = on_stack;
        core->result = cpu_exec(core->cpu);
        mosbench_stop(core);
    }
}

static void make_stack(Core *core)
{
    uint8_t *base = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void **top = (void **)(base + STACK_BYTES);

    if (base == MAP_FAILED || mprotect(base, GUARD_BYTES, PROT_NONE)) {
        fprintf(stderr, "mosbench: cannot have a stack for a core: %s\n", strerror(errno));
        exit(1);
    }
    /* As if core_main had been called (by nobody) and had called the switch. */
    *--top = NULL;
    *--top = core_main;
    for (int saved = 0; saved < 6; saved++) {
        *--top = NULL;
    }
    core->stack = top;
}

/* Let the core run until it stops. */
void mosbench_resume(Core *core)
{
    if (unlikely(!core->stack)) {
        make_stack(core);
    }
    current_cpu = core->cpu;
    core->result = EXCP_INTERRUPT;
    on_stack = core;
    mosbench_switch_stack(&loop_stack, core->stack);
    on_stack = NULL;
}

/* Back to the loop; returns when the core is resumed. */
void mosbench_stop(Core *core)
{
    mosbench_switch_stack(&core->stack, loop_stack);
}

/* Whether the core runs on its own stack and so can stop. */
bool mosbench_can_stop(const Core *core)
{
    return on_stack == core;
}

/* A core stands inside cpu_exec, which holds an RCU read lock, also while the loop is left. It keeps no pointer that RCU
 * protects, so the thread may have its quiescent states then. */
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

/* All generated code is about to go: who stands in it leaves it and starts anew. */
void mosbench_before_flush(void)
{
    CPUState *before = current_cpu;

    for (int i = 0; i < mosbench_core_count; i++) {
        Core *core = &mosbench_cores[i];
        if (core->waiting || core->answered || core->at_head) {
            core->start_anew = true;
            mosbench_resume(core);
        }
    }
    current_cpu = before;
}

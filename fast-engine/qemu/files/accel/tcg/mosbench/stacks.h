/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Switches between the stacks of the scheduler's loop and of the cores: see stacks.c.
 */
#ifndef MOSBENCH_STACKS_H
#define MOSBENCH_STACKS_H

#include "exec/exec-all.h"
#include "core.h"

extern void *mosbench_loop_stack;     /* of the scheduler's loop, while a core runs */
extern Core *mosbench_on_stack;       /* the core that runs; NULL: the loop */
void mosbench_make_stack(Core *core);

/* A core stands inside cpu_exec, which holds an RCU read lock, also while the loop is left. It keeps no pointer that RCU
 * protects, so the thread may have its quiescent states then. */
void mosbench_rcu_enter(void);
void mosbench_rcu_leave(void);

/* Goes on where `to` stands; where this stands is left in *from. A jump and no call, so that the host's prediction of returns stays
 * right: the cores stand in the same functions, each call of one core is returned from by another. Below the stack pointer the
 * compiler may have 128 bytes in use. */
static inline __attribute__((always_inline)) void mosbench_switch_stack(void **from, void *to)
{
    asm volatile("lea -128(%%rsp), %%rsp\n"
                 "push %%rbp\n"
                 "lea 1f(%%rip), %%rax\n"
                 "push %%rax\n"
                 "mov %%rsp, (%0)\n"
                 "mov %1, %%rsp\n"
                 "pop %%rax\n"
                 "jmp *%%rax\n"
                 "1:\n"
                 "pop %%rbp\n"
                 "lea 128(%%rsp), %%rsp\n"
                 : "+D"(from), "+S"(to)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",
                   "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                   "xmm15");
}

/* Let the core run until it stops. */
static inline void mosbench_resume(Core *core)
{
    if (unlikely(!core->stack)) {
        mosbench_make_stack(core);
    }
    current_cpu = core->cpu;
    core->result = EXCP_INTERRUPT;
    mosbench_on_stack = core;
    mosbench_switch_stack(&mosbench_loop_stack, core->stack);
    mosbench_on_stack = NULL;
}

/* Back to the loop; returns when the core is resumed. */
static inline void mosbench_stop(Core *core)
{
    mosbench_switch_stack(&core->stack, mosbench_loop_stack);
}

/* Whether the core runs on its own stack and so can stop. */
static inline bool mosbench_can_stop(const Core *core)
{
    return mosbench_on_stack == core;
}

#endif

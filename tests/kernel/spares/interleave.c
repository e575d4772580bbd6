/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every interleaving of a few threads on two cores, over the sources of the spare references and of their user for routes as the
 * kernel compiles them: users that take and drop references, and one that ends the route.
 *
 * Threads are coroutines on one real thread. Before each atomic operation the running one stops and any other may go on; one
 * execution is one sequence of such choices. The next execution repeats it up to the last choice that has an alternative not
 * tried yet, until there is none.
 *
 * Checked in every execution: the count is the references in use and the spares; the route is freed when nobody has a reference,
 * and once; nobody looks at it then; a dead route has no spares.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#include "mosbench_dst.c"
#include "mosbench_spares.c"

enum { THREADS_MAX = 3, STEPS_MAX = 300, STACK = 1 << 15 };

typedef void (*body_fn)(void);

struct thread {
    void *stack; /* where it goes on */
    body_fn body;
    int core;
    int done;
    int holds; /* references that it surely has */
};

static struct thread threads[THREADS_MAX];
static int thread_count;
static int running = -1; /* index of the thread that runs, -1 outside */
static void *scheduler;
static char stacks[THREADS_MAX][STACK] __attribute__((aligned(16)));
static struct {
    int taken, of;
} choices[STEPS_MAX];
static int step_count;
static char order[STEPS_MAX + 1];
static const char *scenario_name;

static const struct dst_ops operations = {AF_INET};
static struct dst_entry route, other;
static int freed, table_holds;

/* Go on where the stack `to` was left, leaving *from. */
void switch_stack(void **from, void *to);
__asm__("switch_stack:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n"
        "ret\n");

void fail(const char *what)
{
    printf("%s: %s\n  threads in the order in which they took steps: %.*s\n", scenario_name, what, step_count, order);
    exit(1);
}

int current_core(void)
{
    return running < 0 ? 0 : threads[running].core;
}

void step(void)
{
    if (running >= 0)
        switch_stack(&threads[running].stack, scheduler);
}

static void start_thread(void)
{
    struct thread *me = &threads[running];

    me->body();
    me->done = 1;
    switch_stack(&me->stack, scheduler);
}

/* ---- what the kernel does with routes ---- */

static void free_route(struct dst_entry *dst)
{
    int i;

    if (dst == &other)
        fail("the other route is freed, which is always in use");
    for (i = 0; i < thread_count; i++)
        if (threads[i].holds)
            fail("the route is freed while a thread has a reference");
    if (table_holds)
        fail("the route is freed while the table has a reference");
    if (freed)
        fail("the route is freed twice");
    freed = 1;
    dst->ops = NULL;
}

void dst_release(struct dst_entry *dst)
{
    dst = mosbench_dst_keep(dst);
    if (dst && atomic_sub_return(1, &dst->__refcnt) == 0)
        free_route(dst);
}

static int hold_safe(void)
{
    int old;

    if (!mosbench_dst_take(&route))
        do {
            old = atomic_read(&route.__refcnt);
            if (!old)
                return 0;
        } while (cmpxchg(&route.__refcnt.value, old, old + 1) != old);
    if (freed)
        fail("a freed route is used");
    threads[running].holds++;
    return 1;
}

static void drop(void)
{
    if (freed)
        fail("a freed route is used");
    threads[running].holds--;
    dst_release(&route);
}

static void use(void)
{
    if (hold_safe())
        drop();
}

/* ---- what threads do ---- */

static void drop_held(void)
{
    drop();
}

static void drop_two_held(void)
{
    drop();
    drop();
}

static void use_one_held(void)
{
    use();
    drop();
}

static void move_and_drop(void)
{
    threads[running].core = 1 - threads[running].core;
    drop();
}

/* Another route whose spares want the same place. */
static void use_other(void)
{
    other.__refcnt.value++;
    dst_release(&other);
}

/* As the table gives a route up: nobody finds it any more, dead, spares back, and the last reference frees it at once. */
static void die(void)
{
    route.obsolete = 2;
    mosbench_dst_drain(&route);
    table_holds = 0;
    if (atomic_sub_return(1, &route.__refcnt) == 0)
        free_route(&route);
}

struct scenario {
    const char *name;
    body_fn bodies[THREADS_MAX]; /* threads 0 and 1 start on cores 0 and 1, thread 2 on core 0 */
    int holds[THREADS_MAX];
    int spares[CORES]; /* to start with */
    int dies;
};

static const struct scenario scenarios[] = {
    {"two cores use one route", {use, drop_held}, {0, 1}, {0}, 0},
    {"two cores with spares", {use, use_one_held}, {0, 1}, {1, 2}, 0},
    {"one core is interrupted", {drop_two_held, drop_held}, {2, 1}, {0}, 0},
    {"dropped on another core", {move_and_drop, use_one_held}, {1, 1}, {0, 1}, 0},
    {"two routes want one place", {drop_held, use_other}, {1, 0}, {2, 1}, 0},
    {"dies while a reference is dropped", {drop_held, die}, {1}, {0}, 1},
    {"dies while a reference is added to spares", {drop_held, die}, {1}, {1, 2}, 1},
    {"dies while a core with spares drops two", {drop_two_held, die}, {2}, {1, 1}, 1},
    {"dies while another route takes its place", {use_other, die}, {0}, {1, 1}, 1},
};

static int spares_of(const struct dst_entry *dst)
{
    int core, sum = 0;

    for (core = 0; core < CORES; core++)
        if (mosbench_slot_has(mosbench_dst_spares_of[core].slots[0], dst))
            sum += (int)mosbench_spares_of(mosbench_dst_spares_of[core].slots[0]);
    return sum;
}

static void start_execution(const struct scenario *scenario)
{
    int i;

    memset(threads, 0, sizeof(threads));
    memset(mosbench_dst_spares_of, 0, sizeof(mosbench_dst_spares_of));
    running = -1;
    freed = 0;
    table_holds = 1;
    route = other = (struct dst_entry){.ops = &operations, .obsolete = -1, .__refcnt = {1}};
    other.__refcnt.value = 2;
    for (i = 0; i < CORES; i++) {
        if (scenario->spares[i])
            mosbench_dst_spares_of[i].slots[0] =
                ((unsigned long)&route & MOSBENCH_SPARE_ADDRESS) | (unsigned long)scenario->spares[i] * MOSBENCH_SPARE_ONE;
        route.__refcnt.value += scenario->spares[i];
    }
    thread_count = 0;
    for (i = 0; i < THREADS_MAX && scenario->bodies[i]; i++) {
        struct thread *thread = &threads[thread_count++];

        thread->body = scenario->bodies[i];
        thread->core = i % CORES;
        thread->holds = scenario->holds[i];
        route.__refcnt.value += scenario->holds[i];
        /* registers to pop, then start_thread() with the stack aligned as after a call */
        thread->stack = stacks[i] + STACK - 8 - 8 - 6 * 8;
        memset(thread->stack, 0, 6 * 8 + 8 + 8);
        *(body_fn *)((char *)thread->stack + 6 * 8) = start_thread;
    }
}

/* One execution: the choices up to `given`, then always the first thread that can go on. */
static void execute(const struct scenario *scenario, int given)
{
    int able[THREADS_MAX], i, count, held;

    start_execution(scenario);
    for (step_count = 0;; step_count++) {
        count = 0;
        for (i = 0; i < thread_count; i++)
            if (!threads[i].done)
                able[count++] = i;
        if (!count)
            break;
        if (step_count == STEPS_MAX)
            fail("too many steps");
        if (step_count >= given)
            choices[step_count].taken = 0;
        choices[step_count].of = count;
        running = able[choices[step_count].taken];
        order[step_count] = (char)('0' + running);
        switch_stack(&scheduler, threads[running].stack);
        running = -1;
    }
    held = table_holds;
    for (i = 0; i < thread_count; i++)
        held += threads[i].holds;
    if (route.__refcnt.value != held + spares_of(&route))
        fail("the count is not the references in use and the spares");
    if (other.__refcnt.value != 2 + spares_of(&other))
        fail("the other route's count is not the references in use and the spares");
    if (scenario->dies && spares_of(&route))
        fail("a dead route has spares");
    if (freed != (held == 0))
        fail(freed ? "the route is freed in use" : "the route is never freed");
}

int main(void)
{
    size_t i;
    long total = 0;

    for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        long executions = 0;
        int given = 0;

        scenario_name = scenarios[i].name;
        do {
            execute(&scenarios[i], given);
            executions++;
            for (given = step_count; given > 0; given--)
                if (choices[given - 1].taken + 1 < choices[given - 1].of)
                    break;
            if (given)
                choices[given - 1].taken++;
        } while (given);
        printf("%8ld executions: %s\n", executions, scenario_name);
        total += executions;
    }
    printf("%ld executions of %zu scenarios\n", total, i);
    return 0;
}

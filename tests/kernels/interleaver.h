/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries every interleaving of a few threads on two cores.
 *
 * Threads are coroutines on one real thread. Before each atomic operation the running one stops (`step`) and any other may go on;
 * one execution is one sequence of such choices. The next execution repeats it up to the last choice that has an alternative not
 * tried yet, until there is none. What holds in all of them holds on two real cores whose atomic operations are sequentially
 * consistent, as x86's locked ones are.
 *
 * Include it once, after the shim of the kernel's headers, which has CORES and declares what of this the code under test calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 3, STEPS_MAX = 300, STACK = 1 << 15 };

typedef void (*body_fn)(void);

struct thread {
    void *stack; /* where it goes on */
    body_fn body;
    int core;
    int done;
    const int *waits; /* until this is 0 */
    int holds;        /* references that it surely holds */
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

/*
 * Go on where the stack `to` was left, leaving *from. The C library's swapcontext() makes two system calls each time, which would
 * be nearly all of the run time.
 */
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

/* Before the threads of an execution are added. */
static void no_threads(void)
{
    memset(threads, 0, sizeof(threads));
    thread_count = 0;
    running = -1;
}

/* Threads take the cores in turns. */
static void add_thread(body_fn body, int holds)
{
    struct thread *thread = &threads[thread_count];

    thread->body = body;
    thread->core = thread_count % CORES;
    thread->holds = holds;
    /* registers to pop, then start_thread() with the stack aligned as after a call */
    thread->stack = stacks[thread_count++] + STACK - 8 - 8 - 6 * 8;
    memset(thread->stack, 0, 6 * 8 + 8 + 8);
    *(body_fn *)((char *)thread->stack + 6 * 8) = start_thread;
}

/* Run the threads to their ends: the choices up to `given`, then always the first thread that can go on. */
static void run_threads(int given)
{
    int able[THREADS_MAX], i, count;

    for (step_count = 0;; step_count++) {
        count = 0;
        for (i = 0; i < thread_count; i++)
            if (!threads[i].done && !(threads[i].waits && *threads[i].waits))
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
        threads[running].waits = NULL;
        switch_stack(&scheduler, threads[running].stack);
        running = -1;
    }
    for (i = 0; i < thread_count; i++)
        if (!threads[i].done)
            fail("threads wait for each other");
}

/* Call execute(scenario, choices that are given) for every interleaving, which calls run_threads and checks; returns how many. */
static long explore(const char *name, void (*execute)(const void *scenario, int given), const void *scenario)
{
    long executions = 0;
    int given = 0;

    scenario_name = name;
    do {
        execute(scenario, given);
        executions++;
        for (given = step_count; given > 0; given--)
            if (choices[given - 1].taken + 1 < choices[given - 1].of)
                break;
        if (given)
            choices[given - 1].taken++;
    } while (given);
    printf("%8ld executions: %s\n", executions, name);
    return executions;
}

/* main() of a test: every interleaving of each of an array of scenarios, which have a name. */
#define EXPLORE_ALL(scenarios, execute)                                                                                          \
    int main(void)                                                                                                               \
    {                                                                                                                            \
        const size_t count = sizeof(scenarios) / sizeof((scenarios)[0]);                                                         \
        long total = 0;                                                                                                          \
        for (size_t i = 0; i < count; i++)                                                                                       \
            total += explore((scenarios)[i].name, execute, &(scenarios)[i]);                                                     \
        printf("%ld executions of %zu scenarios\n", total, count);                                                               \
        return 0;                                                                                                                \
    }

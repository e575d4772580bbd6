/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every interleaving of a few threads on two cores (see interleaver.h), over the sources of the spare references and of their
 * user for routes as the kernel compiles them: users that take and drop references, and one that ends the route.
 *
 * Checked in every execution: the count is the references in use and the spares; the route is freed when nobody has a reference,
 * and once; nobody looks at it then; a dead route has no spares.
 */
#include "shim.h"

#include "../interleaver.h"
#include "mosbench_dst.c"
#include "mosbench_spares.c"

static const struct dst_ops operations = {AF_INET};
static struct dst_entry route, other;
static int freed, table_holds;

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
    if (dst)
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

    no_threads();
    memset(mosbench_dst_spares_of, 0, sizeof(mosbench_dst_spares_of));
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
    for (i = 0; i < THREADS_MAX && scenario->bodies[i]; i++) {
        add_thread(scenario->bodies[i], scenario->holds[i]);
        route.__refcnt.value += scenario->holds[i];
    }
}

static void execute(const void *which, int given)
{
    const struct scenario *scenario = which;
    int i, held;

    start_execution(scenario);
    run_threads(given);
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

EXPLORE_ALL(scenarios, execute)

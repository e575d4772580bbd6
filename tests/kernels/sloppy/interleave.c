/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every interleaving of a few threads on two cores (see interleaver.h), over the source of the sloppy-counter library as the
 * kernel compiles it.
 *
 * A scenario is an object with a counter as a mount or a route has one. Checked in every execution:
 *  - invariant: at the end, central value = references in use + spares;
 *  - not freed in use: the object is freed only when nobody holds a reference;
 *  - freed: it is freed once the last reference is dropped, and once only;
 *  - exact: who counts n references and finds nobody else's is right.
 */
#include "shim.h"

#include "../interleaver.h"
#include "mosbench_sloppy.c"

enum { HEAP = 1 << 16 };

static char heap[HEAP] __attribute__((aligned(4096)));
static size_t heap_used;

/* The object. */
static atomic_t central;
static struct mosbench_slot *slots;
static struct mosbench_slot_pool pool;
static spinlock_t table;
static int listed; /* found by look-ups, under `table` */
static int freed;
static int closed;
static int threshold;
static int always;     /* references that are in use at any time */
static int number;     /* of the object's slots, where it has reserved some */
static int hashed;     /* where look-ups find the object without a lock */
static spinlock_t own; /* the object's, under which it is heated and cooled */

void *execution_alloc(size_t bytes)
{
    void *start = heap + heap_used;

    heap_used += (bytes + 63) / 64 * 64;
    if (heap_used > HEAP)
        fail("the test's own memory is used up");
    return start;
}

void wait_for(const int *lock)
{
    if (running < 0)
        fail("a lock was left held");
    threads[running].waits = lock;
    step();
}

/* ---- what a user of the library does with it ---- */

static void check_alive(void)
{
    if (freed)
        fail("a reference is used after the object was freed");
}

static void get(int n)
{
    check_alive();
    if (!mosbench_slots_take(slots, n))
        atomic_add(n, &central);
    check_alive();
    threads[running].holds += n;
}

static void free_object(void)
{
    int i;

    for (i = 0; i < thread_count; i++)
        if (threads[i].holds)
            fail("the object is freed while a thread holds a reference");
    if (freed)
        fail("the object is freed twice");
    freed = 1;
}

/* An object that is hashed stays when nobody uses it. */
static void put_central(int n)
{
    int left = atomic_sub_return(n, &central);

    if (left < 0)
        fail("the central value is below 0");
    if (!left && !hashed)
        free_object();
}

static void put(int n)
{
    check_alive();
    threads[running].holds -= n;
    if (!mosbench_slots_put(slots, &central, n, threshold))
        put_central(n);
}

static void move_to(int core)
{
    threads[running].core = core;
}

/* As a path look-up finds a mount. */
static int look_up(void)
{
    int found;

    spin_lock(&table);
    found = listed;
    if (found)
        get(1);
    spin_unlock(&table);
    return found;
}

/* As umount does: busy, or out of the table and without the table's reference. */
static void unmount(void)
{
    int i, others = 0;

    if (!look_up())
        return;
    spin_lock(&table);
    if (mosbench_slots_count(slots, &central) == 2) {
        for (i = 0; i < thread_count; i++)
            others += i != running && threads[i].holds;
        if (others)
            fail("the count says that nobody else holds a reference, but a thread does");
        listed = 0;
        mosbench_slots_freeze(slots, &central);
    }
    spin_unlock(&table);
    if (!listed) {
        threads[running].holds += 1; /* the table's reference is this thread's to drop */
        put(1);
    }
    put(1);
}

/* As MNT_DETACH does: out of the table whoever uses it. */
static void detach(void)
{
    spin_lock(&table);
    listed = 0;
    mosbench_slots_freeze(slots, &central);
    spin_unlock(&table);
    threads[running].holds += 1;
    put(1);
}

/* ---- scenarios ---- */

static void use_twice(void)
{
    get(1);
    put(1);
    get(1);
    put(1);
}

/* As an interrupt's work on the core that it interrupted. */
static void use_twice_on_core_0(void)
{
    move_to(0);
    use_twice();
}

static void use_once(void)
{
    get(1);
    put(1);
}

static void use_moving(void)
{
    get(1);
    move_to(1 - current_core());
    put(1);
}

static void use_two_at_once(void)
{
    get(1);
    get(1);
    put(1);
    put(1);
}

static void use_amounts(void)
{
    get(3);
    put(2);
    put(1);
}

static void look_up_and_use(void)
{
    if (look_up())
        put(1);
}

static void look_up_and_move(void)
{
    if (look_up()) {
        move_to(1 - current_core());
        put(1);
    }
}

/* Holds one from the start. */
static void drop_held(void)
{
    put(1);
}

static void drop_three_held(void)
{
    put(1);
    put(1);
    put(1);
}

/* Scenarios in which others never hold fewer than `always` references, the table's among them. */
static void count_all(void)
{
    int count;

    spin_lock(&table);
    count = mosbench_slots_count(slots, &central);
    spin_unlock(&table);
    if (count < always)
        fail("the count misses a reference");
}

/* As a mount that is moved in its name space. */
static void thaw_again(void)
{
    mosbench_slots_thaw(slots);
}

static void attach(void)
{
    mosbench_pool_attach(&pool, &slots);
}

/* As a route is given up: afterwards the central value alone must say whether it is in use. */
static void close_and_wait(void)
{
    int i;

    listed = 0;
    mosbench_pool_close(&pool, &slots, &central);
    closed = 1;
    if (atomic_read(&central) == 0) {
        for (i = 0; i < thread_count; i++)
            if (threads[i].holds)
                fail("a closed counter is 0 while a thread holds a reference");
    }
}

static void attach_and_use(void)
{
    get(1);
    mosbench_pool_attach(&pool, &slots);
    put(1);
}

/* ---- an object with reserved slots, as a dentry: heated and cooled under its own lock ---- */

/* The slots hold a reference of their own while they are thawed, so that the central value does not become 0. */
static void heat(void)
{
    spin_lock(&own);
    if (hashed) {
        if (!number) {
            number = mosbench_pool_reserve(&pool);
            if (!number)
                fail("the pool has no slots left");
            slots = pool.base + number;
        }
        if (mosbench_slots_frozen(slots)) {
            atomic_add(1, &central);
            mosbench_slots_thaw(slots);
        }
    }
    spin_unlock(&own);
}

static void cool(void)
{
    if (mosbench_slots_freeze(slots, &central))
        put_central(1);
}

/* As a look-up without locks, which takes nothing if the central value is 0. */
static int find(void)
{
    int seen;

    if (!hashed)
        return 0;
    if (!mosbench_slots_take(slots, 1)) {
        do {
            seen = atomic_read(&central);
            if (!seen)
                return 0;
        } while (atomic_cmpxchg(&central, seen, seen + 1) != seen);
    }
    check_alive();
    step();
    threads[running].holds++;
    if (hashed)
        return 1;
    /* who unhashed the object may have counted before, without this reference */
    put(1);
    return 0;
}

static void find_and_use(void)
{
    if (find())
        put(1);
}

static void find_and_heat(void)
{
    if (find()) {
        heat();
        put(1);
    }
}

static void find_and_move(void)
{
    if (find()) {
        move_to(1 - current_core());
        put(1);
    }
}

/* As who drops a dentry from the hash table, holding a reference: afterwards the last put must free it. */
static void drop_from_hash(void)
{
    int i;

    spin_lock(&own);
    hashed = 0;
    cool();
    if (atomic_read(&central) == 1) {
        for (i = 0; i < thread_count; i++)
            if (i != running && threads[i].holds)
                fail("the count says that nobody else holds a reference, but a thread does");
    }
    spin_unlock(&own);
    put(1);
}

/* As the shrinker looks for objects that nobody uses: it has no reference. */
static void cool_unused(void)
{
    spin_lock(&own);
    cool();
    spin_unlock(&own);
}

struct scenario {
    const char *name;
    body_fn bodies[THREADS_MAX]; /* threads 0 and 1 start on cores 0 and 1, thread 2 on core 0 */
    int holds[THREADS_MAX];
    int base; /* references of the table */
    int threshold;
    int thawed;
    int pooled;
    int dies;   /* whether the object must be freed at the end */
    int hashed; /* 1: found without a lock; 2: and its slots are thawed from the start */
};

static const struct scenario scenarios[] = {
    {"two cores take and put", {use_twice, use_twice}, {0}, 1, 8, 1, 0, 0, 0},
    {"one core is interrupted", {use_twice, use_twice_on_core_0}, {0}, 1, 8, 1, 0, 0, 0},
    {"thawed again in use", {use_twice, thaw_again}, {0}, 1, 8, 1, 0, 0, 0},
    {"two references at once", {use_two_at_once, use_once}, {0}, 1, 1, 1, 0, 0, 0},
    {"taken on one core, put on the other", {use_moving, use_moving}, {0}, 1, 1, 1, 0, 0, 0},
    {"amounts", {use_amounts, use_amounts}, {0}, 1, 3, 1, 0, 0, 0},
    {"counted while a reference moves", {use_moving, count_all}, {1}, 1, 8, 1, 0, 0, 0},
    {"two look up, one moves", {look_up_and_move, look_up_and_use}, {0}, 1, 1, 1, 0, 0, 0},
    {"unmount while the other core looks up", {look_up_and_use, unmount}, {0}, 1, 8, 1, 0, 0, 0},
    {"unmount while a reference moves", {look_up_and_move, unmount}, {0}, 1, 8, 1, 0, 0, 0},
    {"unmount while a held reference is dropped", {drop_held, unmount}, {1}, 1, 8, 1, 0, 0, 0},
    {"detach while both cores hold references", {drop_held, drop_held, detach}, {1, 1}, 1, 8, 1, 0, 1, 0},
    {"detach while a full slot is given back", {drop_three_held, detach}, {3}, 1, 2, 1, 0, 1, 0},
    {"detach while slots keep nothing", {drop_held, drop_held, detach}, {1, 1}, 1, 0, 1, 0, 1, 0},
    {"two unmounts", {unmount, unmount}, {0}, 1, 8, 1, 0, 0, 0},
    {"never thawed", {drop_held, drop_held, drop_held}, {1, 1, 1}, 0, 8, 0, 0, 1, 0},
    {"slots attached in use", {attach_and_use, use_once, attach}, {0}, 1, 8, 0, 1, 0, 0},
    {"closed while slots are attached", {attach_and_use, close_and_wait}, {0}, 1, 8, 0, 1, 0, 0},
    {"closed in use", {drop_held, close_and_wait, attach}, {1}, 0, 8, 0, 1, 1, 0},
    {"heated while it is found", {find_and_use, find_and_heat}, {1}, 0, 8, 0, 1, 0, 1},
    {"heated by two", {find_and_heat, find_and_heat}, {1}, 0, 8, 0, 1, 0, 1},
    {"unhashed while it is found", {find_and_use, drop_from_hash}, {0, 1}, 0, 8, 0, 1, 1, 2},
    {"unhashed while a reference moves", {find_and_move, drop_from_hash}, {0, 1}, 0, 1, 0, 1, 1, 2},
    {"unhashed while it is heated", {find_and_heat, drop_from_hash}, {0, 1}, 0, 8, 0, 1, 1, 1},
    {"unhashed while a held reference is dropped", {drop_held, drop_from_hash}, {1, 1}, 0, 8, 0, 1, 1, 2},
    {"unhashed while it is cooled", {cool_unused, drop_from_hash}, {0, 1}, 0, 8, 0, 1, 1, 2},
    {"cooled while it is found", {find_and_use, cool_unused}, {0}, 0, 8, 0, 1, 0, 2},
    {"cooled while it is heated", {find_and_heat, cool_unused}, {1}, 0, 8, 0, 1, 0, 2},
};

static void start_execution(const struct scenario *scenario)
{
    int i, core;

    memset(heap, 0, heap_used);
    heap_used = 0;
    no_threads();
    freed = 0;
    closed = 0;
    listed = 1;
    number = 0;
    hashed = 0; /* set below: the object is not found before it is there */
    table.held = 0;
    own.held = 0;
    threshold = scenario->threshold;
    always = scenario->base;
    slots = NULL;
    if (scenario->pooled) {
        if (mosbench_pool_init(&pool, 4))
            fail("the pool has no memory");
    } else {
        slots = __alloc_percpu(sizeof(*slots), SMP_CACHE_BYTES);
        for (core = 0; core < CORES && scenario->thawed; core++)
            per_cpu_ptr(slots, core)->spares.value = 1;
    }
    central.value = scenario->base;
    for (i = 0; i < THREADS_MAX && scenario->bodies[i]; i++) {
        add_thread(scenario->bodies[i], scenario->holds[i]);
        always += scenario->holds[i];
        central.value += scenario->holds[i];
    }
    hashed = scenario->hashed > 0;
    if (scenario->hashed > 1)
        heat();
}

/* The object's slots are its own until they are released, and another's then. */
static void check_pool(void)
{
    int other = mosbench_pool_reserve(&pool);

    if (other == number)
        fail("slots are given out twice");
    mosbench_slots_freeze(slots, &central);
    mosbench_pool_release(&pool, number);
    if (mosbench_pool_reserve(&pool) != number)
        fail("slots that were released are not given out again");
    if (!mosbench_slots_frozen(slots))
        fail("reserved slots are not frozen");
}

static void execute(const void *which, int given)
{
    const struct scenario *scenario = which;
    int i, spares = 0, own_reference = 0, held;

    start_execution(scenario);
    run_threads(given);
    held = listed ? scenario->base : 0;
    for (i = 0; i < thread_count; i++)
        held += threads[i].holds;
    if (scenario->pooled && scenario->base)
        held = scenario->base;
    for (i = 0; i < CORES && slots; i++) {
        int have = per_cpu_ptr(slots, i)->spares.value;

        if (have < 0)
            fail("a slot has less than no spares");
        spares += have ? have - 1 : 0;
        own_reference |= number && have;
    }
    if (closed && spares)
        fail("a closed counter has spares");
    if (central.value != held + spares + own_reference)
        fail("the central value is not the references in use and the spares");
    if (freed != (held == 0) && (!scenario->pooled || (scenario->hashed && !hashed)))
        fail(freed ? "the object is freed in use" : "the object is never freed");
    if (freed && own_reference)
        fail("the object is freed with thawed slots");
    if (number)
        check_pool();
    if (scenario->dies && held)
        fail("the scenario leaves references");
}

EXPLORE_ALL(scenarios, execute)

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs of the guest that put one worker on each core: parameters, pinning, shared memory, processes, and meetings.
 */
#ifndef MOSBENCH_WORKERS_H
#define MOSBENCH_WORKERS_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first header"
#endif

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS 256

/* Ends the program (status 1) with a sentence on standard error; the meaning of errno is appended when it is not 0. */
static inline __attribute__((format(printf, 1, 2), noreturn)) void die(const char *format, ...)
{
    int error = errno;
    char text[512], reason[128] = "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (error)
        snprintf(reason, sizeof(reason), ": %s", strerror(error));
    fflush(NULL);
    dprintf(STDERR_FILENO, "%s: %s%s\n", program_invocation_short_name, text, reason); /* one write: other workers may fail too */
    _exit(1);
}

/* A variable that init sets, for example MOSBENCH_VARIANT or, of the job's parameter `batch`, P_BATCH. */
static inline const char *text_setting(const char *name)
{
    const char *text = getenv(name);

    errno = 0;
    if (!text)
        die("the environment has no %s", name);
    return text;
}

static inline int64_t signed_setting(const char *name)
{
    const char *text = text_setting(name);
    char *end;
    long long value = strtoll(text, &end, 10);

    if (end == text || *end)
        die("%s is not a number: %s", name, text);
    return value;
}

static inline uint64_t number_setting(const char *name)
{
    int64_t value = signed_setting(name);

    if (value < 0)
        die("%s is negative", name);
    return (uint64_t)value;
}

/* CPU numbers of MOSBENCH_CORES, at most MAX_WORKERS; returns how many. */
static inline unsigned read_cores(int *cores)
{
    const char *text = text_setting("MOSBENCH_CORES");
    unsigned count = 0;
    char *end;

    for (;;) {
        long cpu = strtol(text, &end, 10);

        if (end == text)
            break;
        if (count == MAX_WORKERS)
            die("MOSBENCH_CORES has more than %d cores", MAX_WORKERS);
        cores[count++] = (int)cpu;
        text = end;
    }
    if (count == 0 || *end)
        die("MOSBENCH_CORES is not a list of CPU numbers");
    return count;
}

static inline void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set))
        die("cannot run on CPU %d", cpu);
}

/* Zeroed memory that processes forked later share; touched, so no fault is left for this process. */
static inline void *shared_memory(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED)
        die("no memory for %zu bytes", bytes);
    return memset(base, 0, bytes);
}

/* Run worker(index, argument) in `count` processes. None starts before all are there: those that are would spin for the others,
 * on a simulator for most of its instructions. */
static inline void start_processes(pid_t *children, unsigned count, void (*worker)(unsigned index, void *argument),
                                   void *argument)
{
    int gate[2];
    char nothing;

    fflush(NULL);
    if (pipe(gate))
        die("no pipe for the workers");
    for (unsigned i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] < 0)
            die("cannot create process %u", i);
        if (children[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(gate[1]);
            (void)!read(gate[0], &nothing, 1); /* returns when every copy of the other end is closed */
            close(gate[0]);
            worker(i, argument);
            _exit(0);
        }
    }
    close(gate[0]);
    close(gate[1]);
}

/* A worker ended as it should not, and has said why. The others may be waiting for it for ever. */
static inline __attribute__((noreturn)) void end_processes(const pid_t *children, unsigned count, int status)
{
    for (unsigned i = 0; i < count; i++)
        kill(children[i], SIGKILL);
    errno = 0;
    die("a worker ended with wait status 0x%x", (unsigned)status);
}

/* Run worker(index, argument) in `count` processes; returns when all have ended well. If one ends otherwise, the others are
 * killed, and this program ends. */
static inline void run_processes(unsigned count, void (*worker)(unsigned index, void *argument), void *argument)
{
    pid_t children[MAX_WORKERS];
    int status;

    start_processes(children, count, worker, argument);
    for (unsigned left = count; left > 0; left--) {
        if (wait(&status) < 0)
            die("cannot wait for the workers");
        if (status != 0)
            end_processes(children, count, status);
    }
}

/* A worker's side of meetings, in memory that all share; each word on lines of its own, written by one side only. */
struct meeting_place {
    alignas(128) volatile uint64_t arrived; /* by the worker: the meeting it has reached */
    alignas(128) volatile uint64_t go;      /* by worker 0: the meeting that is over */
};

/* Wait until all workers are here; then worker 0 calls `mark`, and lets the others go. Meetings are numbered from 1.
 * Waiting is spinning, with PAUSE, on a line of one's own: one transfer per worker to arrive, one to go, and no system call. */
static inline void meet(struct meeting_place *places, unsigned workers, unsigned index, uint64_t meeting, void (*mark)(void))
{
    if (index == 0) {
        for (unsigned i = 1; i < workers; i++)
            while (places[i].arrived < meeting)
                __asm__ volatile("pause" ::: "memory");
        mark();
        for (unsigned i = 1; i < workers; i++)
            places[i].go = meeting;
    } else {
        places[index].arrived = meeting;
        while (places[index].go < meeting)
            __asm__ volatile("pause" ::: "memory");
    }
}

/* A meeting of workers who sleep until it is over, in memory that all share: where spinning would take the core from a server
 * that the others still need, or at the end of the work, since a core without work is idle and not in a loop of the program. */
struct sleeping_place {
    alignas(128) volatile uint32_t arrived; /* workers, of all meetings */
    alignas(128) volatile uint32_t over;    /* the last meeting that is over */
};

/* Wait until all workers are here; the last one calls `mark`, if there is one, and wakes the others. Meetings are numbered from
 * 1. */
static inline void meet_asleep(struct sleeping_place *place, unsigned workers, uint32_t meeting, void (*mark)(void))
{
    if (__atomic_add_fetch(&place->arrived, 1, __ATOMIC_SEQ_CST) == workers * meeting) {
        if (mark)
            mark();
        __atomic_store_n(&place->over, meeting, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &place->over, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        return;
    }
    for (uint32_t over; (over = place->over) < meeting;)
        syscall(SYS_futex, &place->over, FUTEX_WAIT, over, NULL, NULL, 0);
    errno = 0;
}

/* Where workers sleep that have done their work. None of them ends: 48 that do contend for the kernel's locks, and what a
 * simulator executes then is more than many a region. For a program that ends by roi_done(). */
struct parking_place {
    alignas(128) uint32_t parked;
    uint32_t workers;
    pid_t keeper; /* whose wait_for_parked() returns when all are here */
};

#define ALL_PARKED SIGUSR2

/* The end of a worker, process or thread. */
static inline __attribute__((noreturn)) void park(struct parking_place *place)
{
    if (__atomic_add_fetch(&place->parked, 1, __ATOMIC_SEQ_CST) == place->workers)
        kill(place->keeper, ALL_PARKED);
    for (;;)
        pause();
}

static inline sigset_t parking_signals(void)
{
    sigset_t awaited;

    sigemptyset(&awaited);
    sigaddset(&awaited, ALL_PARKED);
    sigaddset(&awaited, SIGCHLD);
    return awaited;
}

/* Before the workers are made: the signals that their keeper waits for are kept till it does. `place` is zeroed. */
static inline void open_parking(struct parking_place *place, unsigned workers)
{
    sigset_t awaited = parking_signals();

    place->workers = workers;
    place->keeper = getpid();
    if (sigprocmask(SIG_BLOCK, &awaited, NULL))
        die("cannot block signals");
}

/* Returns when all workers are parked. `children`: they are processes, none of which may end; NULL: threads. */
static inline void wait_for_parked(const struct parking_place *place, const pid_t *children)
{
    sigset_t awaited = parking_signals();
    int got, status;

    while ((got = sigwaitinfo(&awaited, NULL)) != ALL_PARKED)
        if (got == SIGCHLD && children && waitpid(-1, &status, WNOHANG) > 0)
            end_processes(children, place->workers, status);
    errno = 0;
}

#define AFTER_TICK_NS 100000

/* Return a tenth of a millisecond after the kernel's clock has ticked. What a tick does weighs much in a region of a few
 * milliseconds whose caches hold none of it, and whether there is one in it would be chance. By then cores that the tick woke
 * sleep again: gem5, which has no shadow of STI, can lose what wakes a core between its STI and HLT. */
static inline void wait_for_tick(void)
{
    struct timespec before, now, start;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &before);
    do {
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    } while (now.tv_nsec == before.tv_nsec && now.tv_sec == before.tv_sec);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < AFTER_TICK_NS);
}

/* The first of the meetings at `places`, asleep until all are here: workers that are ready long before others are made would spin
 * for them, on a simulator for most of its instructions. The mark comes when all are awake, soon after a tick. */
static inline void meet_first(struct sleeping_place *place, struct meeting_place *places, unsigned workers, unsigned index,
                              void (*mark)(void))
{
    meet_asleep(place, workers, 1, wait_for_tick);
    meet(places, workers, index, 1, mark);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * micro: runs the microbenchmark MOSBENCH_VARIANT on the cores MOSBENCH_CORES with the parameters P_*.
 */
#include "micro.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roi.h"

struct run run;

enum meeting { MEET_READY = 1, MEET_WARM, MEET_END };
enum fault { FAULT_NONE, FAULT_WRONG_RESULT, FAULT_FAIL, FAULT_HANG, FAULT_PANIC };

static enum fault fault;

/* Wait until all workers are here. Worker 0 then calls `mark` while the others still wait, and lets them go. */
static void meet(struct worker *worker, enum meeting meeting, void (*mark)(void))
{
    if (worker->index == 0) {
        for (unsigned i = 1; i < run.workers; i++)
            while (run.slots[i].arrived < meeting)
                relax();
        mark();
        for (unsigned i = 1; i < run.workers; i++)
            run.slots[i].go = meeting;
    } else {
        worker->slot->arrived = meeting;
        while (worker->slot->go < meeting)
            relax();
    }
}

static void mark_warm(void)
{
    roi_warm();
}

static void mark_end(void)
{
    roi_end();
}

/* The faults that tests provoke inside the region, where an engine has most to clean up. */
static void mark_begin(void)
{
    roi_begin();
    if (fault == FAULT_HANG)
        for (;;)
            relax();
    if (fault == FAULT_PANIC) {
        int trigger = open("/proc/sysrq-trigger", O_WRONLY);
        if (trigger < 0 || write(trigger, "c", 1) != 1)
            die("cannot make the kernel panic: /proc/sysrq-trigger");
    }
}

static void worker_main(struct worker *worker)
{
    const struct benchmark *benchmark = run.benchmark;
    uint64_t begin, end;

    pin(worker->cpu);
    worker->slot->units = worker->slot->cycles = 0; /* fault the slot in now */
    if (benchmark->prepare)
        benchmark->prepare(worker);
    meet(worker, MEET_READY, mark_warm);
    benchmark->work(worker, run.warmup);
    worker->units = 0;
    meet(worker, MEET_WARM, mark_begin);
    begin = cycles_now();
    benchmark->work(worker, run.iterations);
    end = cycles_now();
    meet(worker, MEET_END, mark_end);

    worker->slot->units = worker->units;
    worker->slot->cycles = end - begin;
    worker->slot->errors += worker->errors;
    memcpy(worker->slot->sums, worker->sums, sizeof(worker->sums));
}

static struct worker make_worker(unsigned index)
{
    return (struct worker){
        .index = index,
        .core_index = run.core_of[index],
        .cpu = run.cores[run.core_of[index]],
        .slot = &run.slots[index],
    };
}

static void *thread_main(void *argument)
{
    struct worker worker = make_worker((unsigned)(uintptr_t)argument);

    worker_main(&worker);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[MAX_WORKERS];
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    for (unsigned i = 0; i < run.workers; i++) {
        errno = pthread_create(&threads[i], &attributes, thread_main, (void *)(uintptr_t)i);
        if (errno)
            die("cannot create thread %u", i);
    }
    for (unsigned i = 0; i < run.workers; i++)
        pthread_join(threads[i], NULL);
}

static void run_processes(void)
{
    pid_t children[MAX_WORKERS];
    int status;

    for (unsigned i = 0; i < run.workers; i++) {
        children[i] = fork();
        if (children[i] < 0)
            die("cannot create process %u", i);
        if (children[i] == 0) {
            struct worker worker = make_worker(i);

            prctl(PR_SET_PDEATHSIG, SIGKILL);
            worker_main(&worker);
            _exit(0);
        }
    }
    for (unsigned left = run.workers; left > 0; left--) {
        if (wait(&status) < 0)
            die("cannot wait for the workers");
        if (status != 0) { /* it has said why; the others would wait for it for ever */
            for (unsigned i = 0; i < run.workers; i++)
                kill(children[i], SIGKILL);
            errno = 0;
            die("a worker ended with wait status 0x%x", (unsigned)status);
        }
    }
}

static void read_cores(void)
{
    const char *text = getenv("MOSBENCH_CORES");
    char *end;

    if (!text)
        die("the environment has no MOSBENCH_CORES");
    for (;;) {
        long cpu = strtol(text, &end, 10);
        if (end == text)
            break;
        if (run.core_count == MAX_WORKERS)
            die("more than %d cores in MOSBENCH_CORES", MAX_WORKERS);
        run.cores[run.core_count++] = (int)cpu;
        text = end;
    }
    if (run.core_count == 0 || *end)
        die("MOSBENCH_CORES is not a list of CPU numbers");
}

static const struct benchmark *find(const char *name)
{
    static const struct benchmark *const families[] = {line_benchmarks, memory_benchmarks, vfs_benchmarks,
                                                       net_benchmarks,  vm_benchmarks,     process_benchmarks};

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (const struct benchmark *b = families[i]; b->name; b++)
            if (strcmp(b->name, name) == 0)
                return b;
    die("no microbenchmark is called %s", name);
}

static enum fault read_fault(void)
{
    static const char *const names[] = {"none", "wrong-result", "fail", "hang", "panic"};
    const char *text = text_parameter("FAULT");

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0)
            return (enum fault)i;
    die("no fault is called %s", text);
}

int main(void)
{
    const char *variant = getenv("MOSBENCH_VARIANT");

    if (!variant)
        die("the environment has no MOSBENCH_VARIANT");
    run.benchmark = find(variant);
    read_cores();
    run.iterations = parameter("ITERATIONS");
    run.warmup = parameter("WARMUP");
    fault = read_fault();
    run.workers = run.core_count;
    for (unsigned i = 0; i < run.core_count; i++)
        run.core_of[i] = i;

    pin(run.cores[0]); /* so that what is made here is local to the first core, on every run */
    if (run.core_count < run.benchmark->minimum)
        die("%s needs %u cores", variant, run.benchmark->minimum);
    run.slots = memory(MAX_WORKERS * sizeof(struct slot), -1, PAGES_SMALL, true, NULL);
    if (run.benchmark->setup)
        run.benchmark->setup();
    if (fault == FAULT_FAIL) {
        fprintf(stderr, "micro: fails because it was asked to\n");
        return 3;
    }
    fflush(NULL);
    if (run.benchmark->processes)
        run_processes();
    else
        run_threads();
    if (run.benchmark->finish)
        run.benchmark->finish();
    if (fault == FAULT_WRONG_RESULT)
        check("a value that was asked to be wrong", 1, 0);
    report();
    return 0;
}

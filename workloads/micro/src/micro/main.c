/* SPDX-License-Identifier: BSD-3-Clause
 *
 * micro: runs the microbenchmark MOSBENCH_VARIANT on the cores MOSBENCH_CORES with the parameters P_*.
 */
#define _GNU_SOURCE
#include "micro.h"

#include <fcntl.h>
#include <pthread.h>
#include <termios.h>

#include "roi.h"

struct run run;

enum meeting { MEET_WARM = 2, MEET_END };
enum fault { FAULT_NONE, FAULT_WRONG_RESULT, FAULT_FAIL, FAULT_HANG, FAULT_PANIC };

static enum fault fault;

/* Say on the console that a mark is near, for those who watch from outside: an engine without our markers has no other way to
 * tell when the region is. The last character has left before this returns, so that nothing of it is done in the region. gem5 has
 * the marks, and would spend most of its time on the cores that spin meanwhile. */
static void announce(const char *mark)
{
    char text[64];

    if (roi_in_gem5())
        return;
    snprintf(text, sizeof(text), "{\"event\":\"roi\",\"mark\":\"%s\"}", mark);
    if (!roi_report(text))
        die("cannot write to the console");
    tcdrain(STDOUT_FILENO); /* fails where that is not a terminal, and then there is nothing to wait for */
    errno = 0;
}

static void mark_warm(void)
{
    announce("warm");
    roi_warm();
}

static void mark_end(void)
{
    roi_end();
    announce("end");
}

/* The faults that tests provoke inside the region, where an engine has most to clean up. */
static void mark_begin(void)
{
    announce("begin");
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
    worker->slot->units = worker->slot->cycles = 0; /* have its page faults now */
    if (benchmark->prepare)
        benchmark->prepare(worker);
    meet_first(run.ready, run.places, run.workers, worker->index, mark_warm);
    benchmark->work(worker, run.warmup);
    worker->units = 0;
    meet(run.places, run.workers, worker->index, MEET_WARM, mark_begin);
    begin = cycles_now();
    benchmark->work(worker, run.iterations);
    end = cycles_now();
    meet(run.places, run.workers, worker->index, MEET_END, mark_end);

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
    park(run.parking);
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
    wait_for_parked(run.parking, NULL);
}

static void process_main(unsigned index, void *argument)
{
    struct worker worker = make_worker(index);

    (void)argument;
    worker_main(&worker);
    park(run.parking);
}

static void run_in_processes(void)
{
    pid_t children[MAX_WORKERS];

    start_processes(children, run.workers, process_main, NULL);
    wait_for_parked(run.parking, children);
}

static const struct benchmark *find(const char *name)
{
    static const struct benchmark *const families[] = {
        line_benchmarks,        memory_benchmarks,    vfs_benchmarks, net_benchmarks,     card_benchmarks,
        card_stream_benchmarks, card_chat_benchmarks, vm_benchmarks,  process_benchmarks,
    };

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (const struct benchmark *b = families[i]; b->name; b++)
            if (strcmp(b->name, name) == 0)
                return b;
    die("no microbenchmark is called %s", name);
}

static enum fault read_fault(void)
{
    static const char *const names[] = {"none", "wrong-result", "fail", "hang", "panic"};
    const char *text = text_setting("P_FAULT");

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0)
            return (enum fault)i;
    die("no fault is called %s", text);
}

int main(void)
{
    const char *variant = text_setting("MOSBENCH_VARIANT");

    run.benchmark = find(variant);
    run.core_count = read_cores(run.cores);
    run.iterations = number_setting("P_ITERATIONS");
    run.warmup = number_setting("P_WARMUP");
    fault = read_fault();
    run.workers = run.core_count;
    for (unsigned i = 0; i < run.core_count; i++)
        run.core_of[i] = i;

    pin(run.cores[0]); /* so that what is made here is local to the first core, on every run */
    if (run.core_count < run.benchmark->minimum)
        die("%s needs %u cores", variant, run.benchmark->minimum);
    run.places = shared_memory(run.core_count * sizeof(*run.places));
    run.ready = shared_memory(sizeof(*run.ready));
    run.slots = shared_memory(run.core_count * sizeof(*run.slots));
    run.parking = shared_memory(sizeof(*run.parking));
    if (run.benchmark->setup)
        run.benchmark->setup();
    if (fault == FAULT_FAIL) {
        fprintf(stderr, "micro: fails because it was asked to\n");
        return 3;
    }
    open_parking(run.parking, run.workers);
    if (run.benchmark->processes)
        run_in_processes();
    else
        run_threads();
    if (run.benchmark->finish)
        run.benchmark->finish();
    if (fault == FAULT_WRONG_RESULT)
        check("a value that was asked to be wrong", 1, 0);
    report();
    roi_done();
}

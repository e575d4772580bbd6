/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors, memory placement and the result line.
 */
#define _GNU_SOURCE
#include "micro.h"

#include <sys/syscall.h>

#include "roi.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define MPOL_BIND_MODE 2 /* MPOL_BIND of <numaif.h>, which would be one more package */

void worker_error(struct worker *worker, const char *what, long got)
{
    if (worker->errors++ == 0)
        snprintf(worker->slot->error, sizeof(worker->slot->error), "%s (%ld, errno %d) on worker %u", what, got, errno,
                 worker->index);
}

unsigned node_of(int cpu)
{
    unsigned seen_cpu, node;
    cpu_set_t before;

    if (sched_getaffinity(0, sizeof(before), &before))
        die("sched_getaffinity");
    pin(cpu);
    if (syscall(SYS_getcpu, &seen_cpu, &node, NULL) || seen_cpu != (unsigned)cpu)
        die("getcpu on CPU %d", cpu);
    if (sched_setaffinity(0, sizeof(before), &before))
        die("sched_setaffinity");
    return node;
}

void *memory(size_t bytes, int node, enum pages pages, bool *huge)
{
    int flags = MAP_ANONYMOUS | MAP_PRIVATE;
    size_t rounded = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    void *base = MAP_FAILED;

    if (huge)
        *huge = false;
    if (pages != PAGES_SMALL) {
        base = mmap(NULL, rounded, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB, -1, 0);
        if (base == MAP_FAILED && pages == PAGES_HUGE)
            die("no huge pages for %zu bytes", bytes);
        if (base != MAP_FAILED) {
            bytes = rounded;
            if (huge)
                *huge = true;
        }
    }
    if (base == MAP_FAILED) {
        base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (base == MAP_FAILED)
            die("no memory for %zu bytes", bytes);
        madvise(base, bytes, MADV_NOHUGEPAGE); /* a kernel without transparent huge pages refuses: just as well */
        errno = 0;
    }
    if (node >= 0) {
        unsigned long mask[4] = {0};

        if (node >= 256)
            die("no NUMA node %d", node);
        mask[node / 64] = 1UL << (node % 64);
        if (syscall(SYS_mbind, base, bytes, MPOL_BIND_MODE, mask, 257, 0))
            die("cannot place memory on NUMA node %d", node);
    }
    for (size_t offset = 0; offset < bytes; offset += 4096)
        ((volatile char *)base)[offset] = 0;
    return base;
}

void *lines(size_t count)
{
    return memory(count * LINE_STRIDE, (int)signed_setting("P_NODE"), PAGES_SMALL, NULL);
}

/* ---- the result line ---- */

#define TEXT_BYTES (64 << 10)
static char lines_text[TEXT_BYTES], expected_text[TEXT_BYTES], extra_text[TEXT_BYTES], wrong_text[200];

static void append_list(char *text, size_t room, const char *format, va_list arguments)
{
    size_t used = strlen(text);
    int added = vsnprintf(text + used, room - used, format, arguments);

    errno = 0;
    if (added < 0 || used + (size_t)added >= room)
        die("the result line is too long");
}

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(char *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append_list(text, TEXT_BYTES, format, arguments);
    va_end(arguments);
}

void result_line(const char *name, const void *address)
{
    append(lines_text, "%s\"%s\":\"0x%lx\"", *lines_text ? "," : "", name, (unsigned long)address);
}

void result_expected(const char *counter, uint64_t count)
{
    append(expected_text, "%s\"%s\":%lu", *expected_text ? "," : "", counter, count);
}

void result_extra(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    append_list(extra_text, sizeof(extra_text), format, arguments);
    va_end(arguments);
}

uint64_t sum_of(unsigned index)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < run.workers; i++)
        sum += run.slots[i].sums[index];
    return sum;
}

uint64_t total_iterations(void)
{
    return run.workers * (run.warmup + run.iterations);
}

void check(const char *what, uint64_t got, uint64_t want)
{
    if (got != want && !*wrong_text)
        snprintf(wrong_text, sizeof(wrong_text), "%s: %lu instead of %lu", what, got, want);
}

void report(void)
{
    static char text[4 * TEXT_BYTES];
    uint64_t units = 0;

    for (unsigned i = 0; i < run.workers; i++) {
        units += run.slots[i].units;
        if (run.slots[i].errors && !*wrong_text)
            snprintf(wrong_text, sizeof(wrong_text), "%lu errors, first: %s", run.slots[i].errors, run.slots[i].error);
    }
    append(text, "{\"event\":\"result\",\"units\":%lu,\"unit\":\"%s\",\"per_core\":[", units, run.benchmark->unit);
    for (unsigned i = 0; i < run.workers; i++)
        append(text, "%s%lu", i ? "," : "", run.slots[i].units);
    append(text, "],\"cycles_per_core\":[");
    for (unsigned i = 0; i < run.workers; i++)
        append(text, "%s%lu", i ? "," : "", run.slots[i].cycles);
    append(text, "],\"cores\":[");
    for (unsigned i = 0; i < run.workers; i++)
        append(text, "%s%d", i ? "," : "", run.cores[run.core_of[i]]);
    append(text, "],\"checked\":%s,\"detail\":\"%s\",\"lines\":{%s},\"expected\":{%s}%s}", *wrong_text ? "false" : "true",
           *wrong_text ? wrong_text : "all checks passed", lines_text, expected_text, extra_text);
    errno = 0;
    if (!roi_report(text))
        die("cannot write the result");
}

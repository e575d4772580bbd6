/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Region of interest and reports, for programs that run in the guest.
 *
 *     roi_warm();            caches and application are being warmed
 *     roi_begin();           measuring starts; from here on only the work itself runs
 *     roi_end();             measuring stops
 *     roi_result(&result);   once: what was done, on each core, and whether it was right
 *     roi_done();            in place of the end of the job: all is done, let the machine stop at once
 *
 * On the fast engine a mark is a NOP with an operand that no compiler emits: harmless on hardware, seen by the engine when it
 * translates the instruction. In gem5 it is one of that simulator's operations, which anywhere else would be an invalid
 * instruction; init sets MOSBENCH_ENGINE=gem5 there.
 */
#ifndef MOSBENCH_ROI_H
#define MOSBENCH_ROI_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* nopl 0x5eed....(%rax): 0F 1F 80, identifier (16 bits, little endian), ED 5E. */
#define ROI_MARK(identifier) __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.word " #identifier "\n\t.word 0x5eed" ::: "memory")

/* gem5's operations: 0F 04 and the number of the operation, arguments and result as in a call. */
enum roi_gem5_operation {
    ROI_GEM5_EXIT = 0x21,
    ROI_GEM5_CHECKPOINT = 0x43,
    ROI_GEM5_READ_FILE = 0x50,
    ROI_GEM5_WORK_BEGIN = 0x5a,
    ROI_GEM5_WORK_END = 0x5b,
};

#define ROI_GEM5(number, first, second, third)                                                                                   \
    ({                                                                                                                           \
        uint64_t roi_result_;                                                                                                    \
        __asm__ volatile(".byte 0x0f, 0x04\n\t.word %c1"                                                                         \
                         : "=a"(roi_result_)                                                                                     \
                         : "i"(number), "D"(first), "S"(second), "d"(third)                                                      \
                         : "memory", "cc");                                                                                      \
        roi_result_;                                                                                                             \
    })

static inline bool roi_in_gem5(void)
{
    const char *engine = getenv("MOSBENCH_ENGINE");

    return engine && !strcmp(engine, "gem5");
}

/* For init: the job starts. gem5 takes its checkpoint there and needs no mark. */
static inline void roi_job(void)
{
    if (!roi_in_gem5())
        ROI_MARK(4);
}

static inline void roi_warm(void)
{
    if (roi_in_gem5())
        ROI_GEM5(ROI_GEM5_WORK_BEGIN, 1ul, 0ul, 0ul);
    else
        ROI_MARK(1);
}

static inline void roi_begin(void)
{
    if (roi_in_gem5())
        ROI_GEM5(ROI_GEM5_WORK_BEGIN, 2ul, 0ul, 0ul);
    else
        ROI_MARK(2);
}

static inline void roi_end(void)
{
    if (roi_in_gem5())
        ROI_GEM5(ROI_GEM5_WORK_END, 2ul, 0ul, 0ul);
    else
        ROI_MARK(3);
}

#define ROI_DONE_SIGNAL SIGUSR1

/* The job has ended well, and init need not wait till its processes and threads have: where one on each core ends, that is more
 * work than many a region, and a simulator does it instruction by instruction. Not from a program that is not the job's last. */
static inline __attribute__((noreturn)) void roi_done(void)
{
    fflush(NULL);
    if (!getenv("MOSBENCH_INIT")) /* not in the guest */
        exit(0);
    kill(1, ROI_DONE_SIGNAL);
    for (;;)
        pause();
}

/* Time stamp counter, in cycles of the guest. */
static inline uint64_t roi_cycles(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* CRC-32 with zlib's polynomial (reflected 0xEDB88320), as Python's zlib.crc32. */
static inline uint32_t roi_crc32(const char *text, size_t length)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Write one event, a JSON object in one line, to file descriptor `fd` (the console): prefix, text, CRC. In one write, so that
 * lines of several processes do not mix, and on a new line even if a program left one unfinished. Returns false if it could not
 * be written. */
static inline bool roi_report_to(int fd, const char *json)
{
    size_t length = strlen(json), room = length + sizeof("\n@mosbench  00000000\n");
    char *line = (char *)malloc(room);

    if (!line)
        return false;
    int size = snprintf(line, room, "\n@mosbench %s %08x\n", json, (unsigned)roi_crc32(json, length));
    bool written = size > 0 && write(fd, line, (size_t)size) == size;

    free(line);
    return written;
}

static inline bool roi_report(const char *json)
{
    /* What stdio still holds belongs before the event. */
    fflush(stdout);
    return roi_report_to(STDOUT_FILENO, json);
}

/* What a workload reports once, after the region. `cores` entries in `per_core` (units of work) and `cycles_per_core`. */
struct roi_result {
    uint64_t units;
    const char *unit; /* plural noun, e.g. "operations" */
    unsigned cores;
    const uint64_t *per_core;
    const uint64_t *cycles_per_core; /* NULL: not known */
    const int *cpus;                 /* number of each core, in the order of per_core; NULL: 0, 1, 2, ... */
    const char *members;             /* more members of the object, such as "\"drops\":3"; NULL: none */
    bool checked;                    /* the work was verified and is right */
    const char *detail;              /* a sentence; NULL: none. Quotes, backslashes and control characters become spaces. */
};

static inline void roi_print_list(FILE *out, const char *key, const uint64_t *values, unsigned count)
{
    fprintf(out, ",\"%s\":[", key);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)values[i]);
    fputc(']', out);
}

static inline bool roi_result(const struct roi_result *result)
{
    char *json = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&json, &size);

    if (!out)
        return false;
    fprintf(out, "{\"event\":\"result\",\"units\":%llu,\"unit\":\"%s\"", (unsigned long long)result->units, result->unit);
    roi_print_list(out, "per_core", result->per_core, result->cores);
    if (result->cycles_per_core)
        roi_print_list(out, "cycles_per_core", result->cycles_per_core, result->cores);
    if (result->cpus) {
        fputs(",\"cores\":[", out);
        for (unsigned i = 0; i < result->cores; i++)
            fprintf(out, "%s%d", i ? "," : "", result->cpus[i]);
        fputc(']', out);
    }
    if (result->members)
        fprintf(out, ",%s", result->members);
    fprintf(out, ",\"checked\":%s,\"detail\":\"", result->checked ? "true" : "false");
    for (const char *c = result->detail ? result->detail : ""; *c; c++)
        fputc(*c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? ' ' : *c, out);
    fputs("\"}", out);
    bool whole = fclose(out) == 0;
    bool reported = whole && roi_report(json);

    free(json);
    return reported;
}

#endif

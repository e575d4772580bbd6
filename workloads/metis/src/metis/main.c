/* SPDX-License-Identifier: BSD-3-Clause
 *
 * metis: makes the inverted index of a text in memory with one thread on each core, as the region of interest, and compares it
 * with what the generator of the text knows of its words.
 */
#define _GNU_SOURCE
#include "metis.h"

#include <ctype.h>

#include "roi.h"
#include "threads.h"
#include "workers.h"

#define WARM_SHARE 16               /* one in so many map tasks makes the warm-up, or is left for it */
#define MOST_PASSES 4               /* times that the region makes the index */
#define MOST_TEXT ((size_t)2 << 30) /* bytes: the paper's */

/* Of one worker: buckets, and entries of all words with their first places. */
#define ENTRIES_BYTES ((size_t)2 << 20)

struct worker {
    _Alignas(128) struct arena arenas[MOST_PASSES]; /* this worker's alone, on lines of its own */
    uint64_t words;                                 /* found in the region */
    uint64_t map_cycles, cycles;                    /* of the map phases, and of the region until its own work is done */
    struct word_sums written;
};

/* A queue of tasks: the number of the next. */
struct queue {
    _Alignas(128) uint32_t next;
};

static int cores[MAX_WORKERS];
static unsigned core_count, tasks, passes;
static char *text;
static size_t text_bytes;
static bool large_pages;
static bool reduce_alone; /* is the region, of the one pass */
static struct meeting_place *places;
static struct sleeping_place start_line, finish_line;
static struct worker workers[MAX_WORKERS];
static struct table tables[MAX_WORKERS];
static struct part parts[MOST_PASSES][MOST_BUCKETS];
static struct queue warm_maps, warm_reduces, maps[MOST_PASSES], reduces[MOST_PASSES];

/* The next task, or `end` when all below that are taken. */
static uint32_t take_task(struct queue *queue, uint32_t end)
{
    uint32_t task = __atomic_load_n(&queue->next, __ATOMIC_RELAXED);

    while (task < end && !__atomic_compare_exchange_n(&queue->next, &task, task + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return task;
}

/* Where task `task` begins: not within a word. */
static size_t task_begin(uint32_t task)
{
    size_t at = text_bytes * task / tasks;

    while (at > 0 && at < text_bytes && isalpha((unsigned char)text[at - 1]))
        at++;
    return at;
}

/* Take map tasks below `end`. */
static void map(struct worker *worker, struct table *table, struct queue *queue, uint32_t end)
{
    for (uint32_t task; (task = take_task(queue, end)) < end;)
        worker->words += job.map(table, text, task_begin(task), task_begin(task + 1));
}

static void reduce(struct arena *arena, struct queue *queue, struct part *made)
{
    for (uint32_t bucket; (bucket = take_task(queue, bucket_count)) < bucket_count;)
        reduce_bucket(tables, core_count, bucket, arena, &made[bucket]);
}

/* One letter in the middle of the text becomes another. */
static void flip_byte(void)
{
    size_t at = text_bytes / 2;

    while (!isalpha((unsigned char)text[at]))
        at++;
    text[at] = text[at] == 'X' ? 'Y' : 'X';
}

/* The text is written and its words are known. Where reduce alone is the region, the warm-up comes later. */
static void text_is_there(void)
{
    if (strcmp(text_setting("P_FAULT"), "flip-byte") == 0)
        flip_byte();
    if (!reduce_alone)
        roi_warm();
}

static void no_mark(void)
{
}

/* Enough for one thread if it did everything: arrays of places, used or given back, and lists take ten times the text at most. */
static size_t arena_bytes(void)
{
    return 12 * text_bytes + ENTRIES_BYTES;
}

static void *worker_main(void *argument)
{
    unsigned index = (unsigned)(uintptr_t)argument;
    struct worker *worker = &workers[index];

    pin(cores[index]);
    for (uint32_t d = index; d < text_bytes / DOCUMENT_BYTES; d += core_count)
        text_write(text, d, &worker->written);

    unsigned meeting = 2;

    arena_map(&worker->arenas[0], arena_bytes(), large_pages);
    uint32_t share = (tasks + WARM_SHARE - 1) / WARM_SHARE;
    struct table *table = &tables[index];

    meet_first(&start_line, places, core_count, index, text_is_there);
    table_make(table, &worker->arenas[0]);
    map(worker, table, &warm_maps, share);
    meet(places, core_count, index, meeting++, no_mark);
    reduce(&worker->arenas[0], &warm_reduces, parts[0]);
    meet(places, core_count, index, meeting++, no_mark); /* nobody reads it any more */
    arena_unmap(&worker->arenas[0]);
    for (unsigned pass = 0; pass < passes; pass++)
        arena_map(&worker->arenas[pass], arena_bytes(), large_pages);
    worker->words = 0;
    if (reduce_alone) {
        table_make(table, &worker->arenas[0]);
        map(worker, table, &maps[0], tasks - share);
        meet(places, core_count, index, meeting++, roi_warm);
        map(worker, table, &maps[0], tasks);
    }
    meet(places, core_count, index, meeting++, roi_begin);
    uint64_t begin = roi_cycles();

    for (unsigned pass = 0; pass < passes; pass++) {
        uint64_t map_begin = roi_cycles();

        if (!reduce_alone) {
            if (pass > 0)
                meet(places, core_count, index, meeting++, no_mark); /* nobody reads the tables any more */
            table_make(table, &worker->arenas[pass]);
            map(worker, table, &maps[pass], tasks);
            worker->map_cycles += roi_cycles() - map_begin;
            meet(places, core_count, index, meeting++, no_mark);
        }
        reduce(&worker->arenas[pass], &reduces[pass], parts[pass]);
    }
    worker->cycles = roi_cycles() - begin;
    meet_asleep(&finish_line, core_count, 1, roi_end);
    return NULL;
}

static void report(void)
{
    static uint64_t units[MAX_WORKERS], cycles[MAX_WORKERS];
    uint64_t words = 0, map_cycles = 0, all_cycles = 0;
    char detail[300], members[120];
    struct word_sums written = {0};
    struct index_sums found = {.ordered = true};

    for (unsigned pass = 0; pass < passes; pass++) {
        struct index_sums made = index_sums(parts[pass], text);

        found.different += made.different;
        found.all.words += made.all.words;
        found.all.sum += made.all.sum;
        found.ordered = found.ordered && made.ordered;
    }
    for (unsigned i = 0; i < core_count; i++) {
        units[i] = workers[i].words;
        cycles[i] = workers[i].cycles;
        map_cycles = map_cycles > workers[i].map_cycles ? map_cycles : workers[i].map_cycles;
        all_cycles = all_cycles > cycles[i] ? all_cycles : cycles[i];
        words += workers[i].words;
        written.words += passes * workers[i].written.words;
        written.sum += passes * workers[i].written.sum;
    }
    bool right = found.ordered && found.all.sum == written.sum && found.all.words == written.words && words == written.words;

    snprintf(detail, sizeof(detail),
             "the index has %lu words at %lu places, %s, sum %016lx; the text was written with %lu, sum %016lx", found.different,
             found.all.words, found.ordered ? "each once" : "not each once", found.all.sum, written.words, written.sum);
    snprintf(members, sizeof(members), "\"map_cycles\":%lu,\"reduce_cycles\":%lu", map_cycles, all_cycles - map_cycles);
    struct roi_result result = {
        .units = words,
        .unit = "words",
        .cores = core_count,
        .per_core = units,
        .cycles_per_core = cycles,
        .cpus = cores,
        .members = members,
        .checked = right,
        .detail = detail,
    };
    if (!roi_result(&result))
        die("cannot write the result");
}

int main(void)
{
    large_pages = strcmp(text_setting("MOSBENCH_VARIANT"), "2m") == 0;
    core_count = read_cores(cores);
    tasks = core_count * (unsigned)number_setting("P_TASKS");
    passes = (unsigned)number_setting("P_PASSES");
    if (passes == 0 || passes > MOST_PASSES)
        die("P_PASSES is not 1 to %d", MOST_PASSES);
    reduce_alone = strcmp(text_setting("P_REGION"), "reduce") == 0;
    if (reduce_alone && passes != 1)
        die("P_REGION=reduce is of one pass, and P_PASSES is %u", passes);
    text_bytes = number_setting("P_TEXT_KIB") << 10;
    if (text_bytes % DOCUMENT_BYTES || text_bytes == 0 || text_bytes > MOST_TEXT)
        die("P_TEXT_KIB is not a multiple of %u up to %zu", DOCUMENT_BYTES >> 10, MOST_TEXT >> 10);
    bucket_count = DIFFERENT_WORDS / WORDS_OF_A_BUCKET;
    if (bucket_count < tasks)
        bucket_count = tasks;
    if (bucket_count > MOST_BUCKETS)
        die("%u map tasks are more than %d", tasks, MOST_BUCKETS);
    places = shared_memory(core_count * sizeof(*places));
    /* Not touched here: a page lies on the node of the core that writes its document. */
    text = mmap(NULL, text_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        die("no memory for a text of %zu bytes", text_bytes);
    run_threads(core_count, worker_main);
    report();
    return 0;
}

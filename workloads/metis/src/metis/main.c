/* SPDX-License-Identifier: BSD-3-Clause
 *
 * metis: makes the inverted index of a text in memory with one thread on each core, as the region of interest, and compares it
 * with what the generator of the text knows of its words.
 */
#define _GNU_SOURCE
#include "metis.h"

#include "corpus.h"
#include "roi.h"
#include "threads.h"
#include "workers.h"

#define DOCUMENT_BYTES (32u << 10) /* of the text; documents lie one after the other */
#define WARM_SHARE 16              /* one in so many map tasks makes the warm-up */
#define MOST_PASSES 4              /* times that the region makes the index */
#define FEWEST_BUCKET_BITS 14
#define TEXT_OF_A_BUCKET (8u << 10) /* bytes; a text of up to 128 MiB has the fewest buckets */

struct worker {
    _Alignas(128) struct arena arenas[MOST_PASSES]; /* this worker's alone, on lines of its own */
    uint64_t words;                                 /* found in the region */
    uint64_t map_cycles, cycles;                    /* of the map phases, and of the region until its own work is done */
    uint64_t reference_words, reference_sum;
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
static struct corpus corpus;
static struct meeting_place *places;
static struct sleeping_place start_line, finish_line;
static struct worker workers[MAX_WORKERS];
static struct table tables[MAX_WORKERS];
static struct part parts[MOST_PASSES][MOST_BUCKETS];
static struct queue warm_maps, warm_reduces, maps[MOST_PASSES], reduces[MOST_PASSES];

static uint32_t take_task(struct queue *queue)
{
    return __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED);
}

/* Write one document, blanks at its end; adds its words to the worker's reference. */
static void write_document(struct worker *worker, uint32_t number)
{
    struct corpus_document document = corpus_open(&corpus, number);
    size_t at = (size_t)number * DOCUMENT_BYTES, end = at + DOCUMENT_BYTES;

    memset(text + at, ' ', DOCUMENT_BYTES);
    while (at + CORPUS_WORD_ROOM <= end) {
        unsigned length = corpus_next(&document, text + at);

        worker->reference_sum += corpus_occurrence(text + at, length, 0, (uint32_t)at);
        worker->reference_words++;
        at += length + 1;
    }
}

/* Where task `task` begins: not within a word. */
static size_t task_begin(uint32_t task)
{
    size_t at = text_bytes * task / tasks;

    while (at > 0 && at < text_bytes && text[at - 1] >= 'a' && text[at - 1] <= 'z')
        at++;
    return at;
}

static void map(struct worker *worker, struct table *table, struct arena *arena, struct queue *queue, uint32_t count)
{
    table_make(table, arena);
    for (uint32_t task; (task = take_task(queue)) < count;)
        worker->words += table_map(table, text, task_begin(task), task_begin(task + 1));
}

static void reduce(struct arena *arena, struct queue *queue, struct part *made)
{
    for (uint32_t task; (task = take_task(queue)) < tasks;)
        for (unsigned b = (unsigned)((uint64_t)bucket_count() * task / tasks),
                      end = (unsigned)((uint64_t)bucket_count() * (task + 1) / tasks);
             b < end; b++)
            reduce_bucket(tables, core_count, b, arena, &made[b]);
}

/* One letter in the middle of the text becomes another. */
static void flip_byte(void)
{
    size_t at = text_bytes / 2;

    while (text[at] < 'a' || text[at] > 'z')
        at++;
    text[at] = text[at] == 'x' ? 'y' : 'x';
}

/* The text is written and its words are known. */
static void mark_warm(void)
{
    if (strcmp(text_setting("P_FAULT"), "flip-byte") == 0)
        flip_byte();
    roi_warm();
}

static void no_mark(void)
{
}

/* Enough for one thread if it did everything: tables and index take less than four times the text. */
static size_t arena_bytes(void)
{
    return 8 * text_bytes + (8 << 20);
}

static void *worker_main(void *argument)
{
    unsigned index = (unsigned)(uintptr_t)argument;
    struct worker *worker = &workers[index];

    pin(cores[index]);
    for (uint32_t d = index; d < text_bytes / DOCUMENT_BYTES; d += core_count)
        write_document(worker, d);

    unsigned meeting = 2;

    arena_map(&worker->arenas[0], arena_bytes(), large_pages);
    meet_first(&start_line, places, core_count, index, mark_warm);
    map(worker, &tables[index], &worker->arenas[0], &warm_maps, (tasks + WARM_SHARE - 1) / WARM_SHARE);
    meet(places, core_count, index, meeting++, no_mark);
    reduce(&worker->arenas[0], &warm_reduces, parts[0]);
    meet(places, core_count, index, meeting++, no_mark); /* nobody reads it any more */
    arena_unmap(&worker->arenas[0]);
    for (unsigned pass = 0; pass < passes; pass++)
        arena_map(&worker->arenas[pass], arena_bytes(), large_pages);
    worker->words = 0;

    meet(places, core_count, index, meeting++, reduce_alone ? no_mark : roi_begin);
    uint64_t begin = roi_cycles();

    for (unsigned pass = 0; pass < passes; pass++) {
        uint64_t map_begin = roi_cycles();

        if (pass > 0)
            meet(places, core_count, index, meeting++, no_mark); /* nobody reads the tables any more */
        map(worker, &tables[index], &worker->arenas[pass], &maps[pass], tasks);
        worker->map_cycles += roi_cycles() - map_begin;
        meet(places, core_count, index, meeting++, reduce_alone ? roi_begin : no_mark);
        if (reduce_alone)
            begin = roi_cycles();
        reduce(&worker->arenas[pass], &reduces[pass], parts[pass]);
    }
    worker->cycles = roi_cycles() - begin;
    meet_asleep(&finish_line, core_count, 1, roi_end);
    return NULL;
}

static void report(void)
{
    static uint64_t units[MAX_WORKERS], cycles[MAX_WORKERS];
    uint64_t words = 0, reference_words = 0, reference_sum = 0, map_cycles = 0, all_cycles = 0;
    char detail[300], members[120];
    struct index_sums found = {.ordered = true};

    for (unsigned pass = 0; pass < passes; pass++) {
        struct index_sums made = index_sums(parts[pass]);

        found.words += made.words;
        found.occurrences += made.occurrences;
        found.sum += made.sum;
        found.ordered = found.ordered && made.ordered;
    }
    for (unsigned i = 0; i < core_count; i++) {
        units[i] = workers[i].words;
        cycles[i] = workers[i].cycles;
        map_cycles = map_cycles > workers[i].map_cycles ? map_cycles : workers[i].map_cycles;
        all_cycles = all_cycles > cycles[i] ? all_cycles : cycles[i];
        words += workers[i].words;
        reference_words += passes * workers[i].reference_words;
        reference_sum += passes * workers[i].reference_sum;
    }
    bool right = found.ordered && found.sum == reference_sum && found.occurrences == reference_words && words == reference_words;

    snprintf(detail, sizeof(detail),
             "the index has %lu words at %lu places, %s, sum %016lx; the text was written with %lu places, sum %016lx",
             found.words, found.occurrences, found.ordered ? "in order" : "not in order", found.sum, reference_words,
             reference_sum);
    snprintf(members, sizeof(members), "\"map_cycles\":%lu,\"reduce_cycles\":%lu", map_cycles,
             reduce_alone ? all_cycles : all_cycles - map_cycles);
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
    if (text_bytes % DOCUMENT_BYTES || text_bytes == 0 || text_bytes / DOCUMENT_BYTES > CORPUS_DOCUMENTS)
        die("P_TEXT_KIB is not a multiple of %u up to %u", DOCUMENT_BYTES >> 10, CORPUS_DOCUMENTS * (DOCUMENT_BYTES >> 10));
    corpus_make(&corpus);
    bucket_bits = FEWEST_BUCKET_BITS;
    while (bucket_count() < MOST_BUCKETS && text_bytes / bucket_count() > TEXT_OF_A_BUCKET)
        bucket_bits++;
    places = shared_memory(core_count * sizeof(*places));
    /* Not touched here: a page lies on the node of the core that writes its document. */
    text = mmap(NULL, text_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        die("no memory for a text of %zu bytes", text_bytes);
    run_threads(core_count, worker_main);
    report();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pedsort: makes indexes of files with one worker, a process or a thread, on each core, as the region of interest, and compares
 * them with what the generator of the files knows of their words.
 */
#define _GNU_SOURCE
#include "pedsort.h"

#include <sys/stat.h>

#include "corpus.h"
#include "roi.h"
#include "threads.h"
#include "workers.h"

#define FILES_IN_FOLDER 16
#define MOST_PIECES 21 /* in a file */
#define MOST_PASSES 4  /* times that the region indexes all files */

/* Of one worker, in memory that all share. */
struct result {
    _Alignas(128) uint64_t words, phase1_cycles, cycles;
    struct merged merged[MOST_PASSES];
    uint64_t reference_words, reference_sum;
};

/* The queue of files of one pass: index of the next in `queue`. */
struct next_file {
    _Alignas(128) uint32_t next;
};

struct settings settings;

static int cores[MAX_WORKERS];
static unsigned core_count, passes;
static uint32_t files;
static uint32_t piece_words; /* of the smallest file; others have a multiple of as many, 5.1 times as many in the mean */
static uint32_t queue[CORPUS_DOCUMENTS]; /* numbers of the files, the largest first */
static struct corpus corpus;
static struct meeting_place *places;
static struct result *results;
static struct next_file *next_files; /* of each pass */
static struct sleeping_place *start_line, *finish_line;

/* As in a source tree, most files are small, and a few have much of the text. */
static uint32_t pieces_of(uint32_t document)
{
    static const uint8_t more[8] = {0, 0, 1, 1, 2, 3, 6, MOST_PIECES - 1};

    return 1 + more[corpus_mix(~(uint64_t)document) % 8];
}

static void fill_queue(void)
{
    uint32_t count = 0;

    for (uint32_t pieces = MOST_PIECES; pieces > 0; pieces--)
        for (uint32_t d = 0; d < files; d++)
            if (pieces_of(d) == pieces)
                queue[count++] = d;
}

static void path_of(uint32_t document, char *path, size_t room)
{
    snprintf(path, room, "in/%u/%u", document / FILES_IN_FOLDER, document);
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0755) && errno != EEXIST)
        die("cannot make the folder %s", path);
}

/* Write a file, and add its words to `result` if it is part of the measured work. */
static void write_file(const char *path, uint32_t number, struct result *result)
{
    struct corpus_document document = corpus_open(&corpus, number);
    char word[CORPUS_WORD_ROOM];
    uint32_t offset = 0;
    FILE *file = fopen(path, "w");

    if (!file)
        die("cannot write %s", path);
    for (uint32_t words = piece_words * pieces_of(number); words > 0; words--) {
        unsigned length = corpus_next(&document, word);

        fwrite(word, 1, length + 1, file);
        putc(' ', file); /* then a word takes nearly as many bytes as in Linux's source */
        if (result) {
            result->reference_sum += corpus_occurrence(word, length, number, offset);
            result->reference_words++;
        }
        offset += length + 2;
    }
    if (ferror(file) | fclose(file))
        die("cannot write %s", path);
}

static void write_files(unsigned index)
{
    char path[64];

    for (uint32_t d = index; d < files; d += core_count) {
        path_of(d, path, sizeof(path));
        write_file(path, d, &results[index]);
    }
}

/* A job of one file outside the measured ones: code, allocator and Berkeley DB have been used before the region. */
static void warm_up(unsigned index, struct table *table)
{
    char folder[64], path[80];

    snprintf(folder, sizeof(folder), "warm-%u", index);
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/text", folder);
    write_file(path, CORPUS_OWN_NAMES - 1 - index, NULL); /* also a file of a large tree, which is as good */
    meet_first(start_line, places, core_count, index, roi_warm);
    table_begin(table, folder);
    table_read(table, path, 0);
    merge_runs(folder, table_end(table), false);
}

/* The index of a worker in a pass. */
static void name_index(char *folder, size_t room, unsigned index, unsigned pass)
{
    snprintf(folder, room, "out-%u/%u", index, pass);
}

static void work(unsigned index, unsigned pass, struct table *table, struct result *result)
{
    char folder[64], path[64];
    uint64_t begin = roi_cycles();

    name_index(folder, sizeof(folder), index, pass);
    table_begin(table, folder);
    for (uint32_t at; (at = __atomic_fetch_add(&next_files[pass].next, 1, __ATOMIC_RELAXED)) < files;) {
        path_of(queue[at], path, sizeof(path));
        result->words += table_read(table, path, queue[at]);
    }
    unsigned runs = table_end(table);

    result->phase1_cycles += roi_cycles() - begin;
    result->merged[pass] = merge_runs(folder, runs, settings.lose_word);
    result->cycles += roi_cycles() - begin;
}

static void worker_main(unsigned index, void *argument)
{
    (void)argument;
    pin(cores[index]);
    write_files(index);
    struct table *table = table_make();

    warm_up(index, table);
    meet(places, core_count, index, 2, roi_begin);
    for (unsigned pass = 0; pass < passes; pass++)
        work(index, pass, table, &results[index]);
    meet_asleep(finish_line, core_count, 1, roi_end);
}

static void *thread_main(void *argument)
{
    worker_main((unsigned)(uintptr_t)argument, NULL);
    return NULL;
}

static void report(void)
{
    static uint64_t units[MAX_WORKERS], cycles[MAX_WORKERS];
    uint64_t words = 0, databases = 0, reference_words = 0, reference_sum = 0, phase1_cycles = 0;
    struct found found = {0};
    char folder[64], detail[400], members[120];

    for (unsigned i = 0; i < core_count; i++) {
        const struct result *result = &results[i];

        units[i] = result->words;
        cycles[i] = result->cycles;
        words += result->words;
        phase1_cycles = phase1_cycles > result->phase1_cycles ? phase1_cycles : result->phase1_cycles;
        reference_words += passes * result->reference_words;
        reference_sum += passes * result->reference_sum;
        for (unsigned pass = 0; pass < passes; pass++) {
            name_index(folder, sizeof(folder), i, pass);
            check_index(folder, result->merged[pass].databases, &found);
            databases += result->merged[pass].databases;
        }
    }
    snprintf(detail, sizeof(detail),
             "the indexes have %lu places of %lu words in %lu databases, %lu wrong entries, sum %016lx; "
             "the files were written with %lu places, sum %016lx",
             found.occurrences, found.words, databases, found.wrong, found.sum, reference_words, reference_sum);
    snprintf(members, sizeof(members), "\"phase1_cycles\":%lu,\"databases\":%lu,\"index_words\":%lu", phase1_cycles, databases,
             found.words);
    struct roi_result result = {
        .units = words,
        .unit = "words",
        .cores = core_count,
        .per_core = units,
        .cycles_per_core = cycles,
        .cpus = cores,
        .members = members,
        .checked = found.wrong == 0 && found.occurrences == reference_words && found.sum == reference_sum,
        .detail = detail,
    };
    if (!roi_result(&result))
        die("cannot write the result");
}

int main(void)
{
    char folder[64];

    core_count = read_cores(cores);
    files = (uint32_t)number_setting("P_FILES");
    piece_words = (uint32_t)number_setting("P_PIECE_WORDS");
    passes = (unsigned)number_setting("P_PASSES");
    if (passes == 0 || passes > MOST_PASSES)
        die("P_PASSES is not 1 to %d", MOST_PASSES);
    settings.table_bytes = number_setting("P_TABLE_KIB") << 10;
    settings.db_entries = (uint32_t)number_setting("P_DB_ENTRIES");
    settings.lose_word = strcmp(text_setting("P_FAULT"), "lost-word") == 0;
    if (files == 0 || files + core_count > CORPUS_DOCUMENTS || piece_words == 0 || settings.table_bytes == 0 ||
        settings.db_entries == 0)
        die("P_FILES=%u, P_PIECE_WORDS, P_TABLE_KIB and P_DB_ENTRIES must be positive, and files and cores together at most %d",
            files, CORPUS_DOCUMENTS);
    corpus_make(&corpus);
    fill_queue();
    make_folder("in");
    for (uint32_t d = 0; d < files; d += FILES_IN_FOLDER) {
        snprintf(folder, sizeof(folder), "in/%u", d / FILES_IN_FOLDER);
        make_folder(folder);
    }
    for (unsigned i = 0; i < core_count; i++) {
        snprintf(folder, sizeof(folder), "out-%u", i); /* there already where it is a file system of its own */
        make_folder(folder);
        for (unsigned pass = 0; pass < passes; pass++) {
            name_index(folder, sizeof(folder), i, pass);
            make_folder(folder);
        }
    }
    places = shared_memory(core_count * sizeof(*places));
    results = shared_memory(core_count * sizeof(*results));
    next_files = shared_memory(passes * sizeof(*next_files));
    start_line = shared_memory(sizeof(*start_line));
    finish_line = shared_memory(sizeof(*finish_line));
    if (strcmp(text_setting("MOSBENCH_VARIANT"), "threads") == 0)
        run_threads(core_count, thread_main);
    else
        run_processes(core_count, worker_main, NULL);
    report();
    return 0;
}

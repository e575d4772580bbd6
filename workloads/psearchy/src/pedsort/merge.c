/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Phase 2: the sorted runs of one worker into one file of positions and Berkeley DBs that say where in it a word is.
 */
#define _GNU_SOURCE
#include "pedsort.h"
#include "workers.h"

#include <db.h>

#define CACHE_BYTES (1 << 20) /* of a DB: all of it fits */

/* A run that is being read; `word` is that of its first record not yet merged. */
struct run {
    FILE *file;
    char word[WORD_ROOM + 1];
    uint32_t count;
};

struct output {
    const char *folder;
    FILE *positions;
    uint64_t offset; /* where the next record in it begins */
    DB *db;
    uint32_t entries; /* of db */
    struct merged done;
};

static __attribute__((noreturn)) void bad_run(void)
{
    errno = 0;
    die("a sorted run has a word without an end, with none or with more than %d letters, or ends within a record", WORD_ROOM);
}

/* Read the head of the next record; false at the end of the run. */
static bool next_record(struct run *run)
{
    unsigned length = 0;
    int c;

    while ((c = getc(run->file)) != EOF && c != '\0') {
        if (length == WORD_ROOM)
            bad_run();
        run->word[length++] = (char)c;
    }
    if (c == EOF && length == 0)
        return false;
    if (c == EOF || length == 0 || fread(&run->count, sizeof(run->count), 1, run->file) != 1)
        bad_run();
    run->word[length] = '\0';
    return true;
}

static void db_must(int error, const char *what)
{
    if (error) {
        errno = 0;
        die("Berkeley DB cannot %s: %s", what, db_strerror(error));
    }
}

static void open_db(struct output *output)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/words-%lu.db", output->folder, output->done.databases++);
    db_must(db_create(&output->db, NULL, 0), "make a handle");
    db_must(output->db->set_cachesize(output->db, 0, CACHE_BYTES, 1), "set its cache");
    db_must(output->db->open(output->db, NULL, path, NULL, DB_BTREE, DB_CREATE | DB_EXCL, 0644), "make a file");
    output->entries = 0;
}

static void close_db(struct output *output)
{
    if (output->db)
        db_must(output->db->close(output->db, 0), "close a file");
    output->db = NULL;
}

static void put_word(struct output *output, const char *word, size_t length)
{
    DBT key = {.data = (void *)word, .size = (uint32_t)length}, value = {.data = &output->offset, .size = sizeof(output->offset)};

    if (output->db && output->entries == settings.db_entries)
        close_db(output);
    if (!output->db)
        open_db(output);
    db_must(output->db->put(output->db, NULL, &key, &value, DB_NOOVERWRITE), "add a word");
    output->entries++;
}

/* Merge the smallest word of all runs; the runs that had it go on to their next record. */
static void merge_word(struct output *output, struct run *runs, unsigned *count, bool lose)
{
    char word[WORD_ROOM + 1];
    unsigned smallest = 0;
    uint32_t total = 0;

    for (unsigned i = 1; i < *count; i++)
        if (strcmp(runs[i].word, runs[smallest].word) < 0)
            smallest = i;
    size_t length = strlen(runs[smallest].word);

    memcpy(word, runs[smallest].word, length + 1);
    for (unsigned i = 0; i < *count; i++)
        if (strcmp(runs[i].word, word) == 0)
            total += runs[i].count;
    if (!lose)
        put_word(output, word, length);
    fputs(word, output->positions);
    putc('\0', output->positions);
    put_bytes(&total, sizeof(total), output->positions);
    for (unsigned i = 0; i < *count;) { /* runs are in the order in which they were written, so positions stay in that order */
        if (strcmp(runs[i].word, word) == 0) {
            if (!copy_bytes(runs[i].file, runs[i].count * sizeof(struct position), output->positions))
                bad_run();
            if (!next_record(&runs[i])) {
                fclose(runs[i].file);
                memmove(&runs[i], &runs[i + 1], (--*count - i) * sizeof(runs[0]));
                continue;
            }
        }
        i++;
    }
    output->offset += length + 1 + sizeof(total) + (uint64_t)total * sizeof(struct position);
    output->done.words++;
}

struct merged merge_runs(const char *folder, unsigned count, bool lose_word)
{
    char path[300];
    struct run *runs = calloc(count ? count : 1, sizeof(*runs));
    struct output output = {.folder = folder};
    unsigned open = 0;

    if (!runs)
        die("no memory for %u runs", count);
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/run-%u", folder, i);
        runs[open].file = fopen(path, "r");
        if (!runs[open].file)
            die("cannot read %s", path);
        if (unlink(path)) /* its space is free when it has been read */
            die("cannot remove %s", path);
        if (next_record(&runs[open]))
            open++;
    }
    snprintf(path, sizeof(path), "%s/positions", folder);
    output.positions = fopen(path, "w");
    if (!output.positions)
        die("cannot write %s", path);
    while (open > 0)
        merge_word(&output, runs, &open, lose_word && output.done.words == 0);
    close_db(&output);
    if (ferror(output.positions) | fclose(output.positions))
        die("cannot write %s", path);
    free(runs);
    return output.done;
}

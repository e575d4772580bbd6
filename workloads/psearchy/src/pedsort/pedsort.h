/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pedsort: the indexer of psearchy. Each worker makes an index of its own of the files that it takes from a common queue.
 */
#ifndef PEDSORT_H
#define PEDSORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WORD_ROOM 32 /* bytes; longer words are cut */

/* Where a word is. Written to files as it is; as large as psearchy's. */
struct position {
    uint64_t document;
    uint32_t offset, unused;
};

/* What is fixed for a run of the program. */
struct settings {
    size_t table_bytes;  /* of a worker's hash table */
    uint32_t db_entries; /* words in one Berkeley DB */
    bool lose_word;      /* a fault for tests: the first word of each worker does not get into its DB */
};
extern struct settings settings;

/* ---- files: through stdio a byte at a time, each of which takes the stream's lock where there are threads ---- */

static inline void put_bytes(const void *bytes, size_t count, FILE *to)
{
    for (size_t i = 0; i < count; i++)
        putc(((const unsigned char *)bytes)[i], to);
}

/* Returns whether there were as many. */
static inline bool copy_bytes(FILE *from, size_t count, FILE *to)
{
    for (int c; count > 0 && (c = getc(from)) != EOF; count--)
        putc(c, to);
    return count == 0;
}

/* ---- phase 1 (table.c) ---- */

struct table;

/* A table whose memory is touched. Its sorted runs are files FOLDER/run-0, run-1, ... */
struct table *table_make(void);
/* Forget all words and begin runs in another folder, which exists and outlives its use. */
void table_begin(struct table *, const char *folder);
/* Add all words of a file; returns how many. Writes a run whenever the table is full. */
uint64_t table_read(struct table *, const char *path, uint32_t document);
/* Write what is left as the last run; returns how many there are. */
unsigned table_end(struct table *);

/* ---- phase 2 (merge.c) ---- */

struct merged {
    uint64_t words, databases;
};

/* Merge FOLDER/run-0 ... into FOLDER/positions, and where each word is in that into Berkeley DBs FOLDER/words-0.db ... The runs
 * are removed. */
struct merged merge_runs(const char *folder, unsigned runs, bool lose_word);

/* ---- check (check.c) ---- */

struct found {
    uint64_t occurrences, words; /* words of different workers count apart */
    uint64_t sum;                /* of corpus_occurrence over all words and positions */
    uint64_t wrong;              /* entries of a DB that lead to another word, and DBs with too many */
};

/* Read the index in `folder` from its DBs, and add it to `found`. */
void check_index(const char *folder, uint64_t databases, struct found *found);

#endif

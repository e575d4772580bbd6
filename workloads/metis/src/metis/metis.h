/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MapReduce on the cores of one machine, for one job: the inverted index of a text in memory.
 */
#ifndef METIS_H
#define METIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the text: words of three random capital letters, as the paper's, a blank after each ---- */

#define WORD_LETTERS 3
#define WORD_BYTES (WORD_LETTERS + 1)
#define DOCUMENT_BYTES (32u << 10) /* of the text; documents lie one after the other */

/* Number and sum of the words of a piece of text or of an index. */
struct word_sums {
    uint64_t words, sum; /* the second of corpus_occurrence over all words and their offsets */
};

/* Write one document to its place in the text, and add its words to the sums. The same number has the same words. */
void text_write(char *text, uint32_t document, struct word_sums *sums);

/* ---- memory: of one thread, never given back before the whole arena is ---- */

struct arena {
    char *base, *next, *end;
};

/* Map room for `bytes`; no page is touched. */
void arena_map(struct arena *, size_t bytes, bool large_pages);
/* `bytes` of zeroed memory, aligned to 8. */
void *arena_take(struct arena *, size_t bytes);
void arena_unmap(struct arena *);

/* ---- map: what one worker has found ---- */

#define BUCKETS 2048 /* of a table: as in Metis one for about ten different words, of which there are 26^WORD_LETTERS */

/* Where one word is in the text, in the order in which the worker came by, in blocks of growing size. */
struct block {
    struct block *next;
    uint32_t count, room;
    const char *places[];
};

struct entry {
    const char *word; /* a copy */
    struct block *first, *last;
    uint32_t count;
};

/* The words of one hash, in order of their letters. */
struct bucket {
    struct entry *entries;
    uint32_t count, room;
};

struct table {
    struct bucket *buckets; /* BUCKETS of them */
    struct arena *arena;
};

void table_make(struct table *, struct arena *);
/* Add all words of text[begin, end) with their places; returns how many. */
uint64_t table_map(struct table *, const char *text, size_t begin, size_t end);

/* ---- reduce: the index, in as many parts as there are buckets ---- */

/* All places of one word: those that one worker has found after those of another. */
struct posting_list {
    struct posting_list *next;
    const char *word;
    uint32_t count;
    const char *places[];
};

struct part {
    struct posting_list *lists; /* each word once, in order of their letters */
};

/* Bring together what all workers have found for one bucket, with memory from `arena`. */
void reduce_bucket(const struct table *tables, unsigned workers, unsigned bucket, struct arena *arena, struct part *part);

/* ---- check ---- */

struct index_sums {
    uint64_t different; /* words */
    struct word_sums all;
    bool ordered; /* each word once */
};

/* Of the parts of a whole index, of BUCKETS. */
struct index_sums index_sums(const struct part *parts, const char *text);

#endif

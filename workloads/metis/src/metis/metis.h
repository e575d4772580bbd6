/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MapReduce on the cores of one machine, for one job: the inverted index of a text in memory.
 */
#ifndef METIS_H
#define METIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#define MOST_BUCKETS (1u << 18)

/* Of a table: a power of two, about one for 8 KiB of the text, so that a bucket has as many words in a large text as in a small
 * one. */
extern unsigned bucket_bits;

static inline uint32_t bucket_count(void)
{
    return 1u << bucket_bits;
}

/* Positions of one word, in the order of the text, in blocks of growing size. */
struct block {
    struct block *next;
    uint32_t count, room;
    uint32_t positions[];
};

struct entry {
    struct entry *next; /* in the bucket */
    const char *word;   /* in the text */
    uint32_t hash, length, count;
    struct block *first, *last;
};

struct table {
    struct entry **buckets; /* bucket_count() of them */
    struct arena *arena;
};

void table_make(struct table *, struct arena *);
/* Add all words of text[begin, end) at their offsets in the text; returns how many. */
uint64_t table_map(struct table *, const char *text, size_t begin, size_t end);

/* ---- reduce: the index, in as many parts as there are buckets ---- */

struct posting_list {
    const char *word;
    uint32_t length, count;
    const uint32_t *positions; /* ascending */
};

struct part {
    struct posting_list *lists; /* in the order of hash, length and letters: each word once */
    uint32_t count;
};

/* Merge what all workers have found for one bucket, with memory from `arena`. */
void reduce_bucket(const struct table *tables, unsigned workers, unsigned bucket, struct arena *arena, struct part *part);

/* ---- check ---- */

struct index_sums {
    uint64_t words, occurrences, sum; /* different words, all of them, and the sum of corpus_occurrence */
    bool ordered;                     /* each word once, its positions ascending */
};

struct index_sums index_sums(const struct part *parts);

#endif

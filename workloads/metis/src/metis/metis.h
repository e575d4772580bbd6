/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MapReduce on the cores of one machine, for one job: the inverted index of a text in memory.
 */
#ifndef METIS_H
#define METIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the text: words of three capital letters and a blank ---- */

#define WORD_LETTERS 3
#define WORD_BYTES (WORD_LETTERS + 1)
#define DIFFERENT_WORDS (26 * 13 * 13)
#define DOCUMENT_BYTES (32u << 10) /* of the text; documents lie one after the other */

/* Number and sum of the words of a piece of text or of an index. */
struct word_sums {
    uint64_t words, sum; /* the second of corpus_occurrence over all words and their offsets */
};

/* Write one document to its place in the text, and add its words to the sums. The same number has the same words. */
void text_write(char *text, uint32_t document, struct word_sums *sums);

/* ---- memory: of one thread, never given back before the whole arena is ---- */

#define ARRAY_SIZES 32

struct arena {
    char *base, *next, *end;
    void *arrays[ARRAY_SIZES]; /* that were given back, of each size a list */
};

/* Map room for `bytes`; no page is touched. */
void arena_map(struct arena *, size_t bytes, bool large_pages);
/* `bytes` of memory, aligned to 8, never used before and so zero. */
void *arena_take(struct arena *, size_t bytes);
/* An array of 2^size pointers, with anything in them: one that was given back, if there is one. */
void *arena_take_array(struct arena *, unsigned size);
void arena_give_array(struct arena *, unsigned size, void *array);
void arena_unmap(struct arena *);

/* ---- the job: what it tells the library, as an application tells Metis ---- */

struct table;

struct job {
    /* Emit all words of text[begin, end) with their places; returns how many. */
    uint64_t (*map)(struct table *, const char *text, size_t begin, size_t end);
    uint32_t (*hash)(const char *word, size_t length);
    int (*compare)(const char *word, const char *other);
};

extern const struct job job;

/* ---- map: what one worker has found ---- */

/* Of a table: as in Metis one for ten different words, and at least as many as there are tasks. */
extern uint32_t bucket_count;

#define WORDS_OF_A_BUCKET 10
#define MOST_BUCKETS 16384

/* A word, and where it is in the text, in the order in which the worker came by. */
struct entry {
    const char *word; /* a copy */
    const char **places;
    uint32_t count;
    uint32_t size; /* there is room for 2^size places */
};

#define MOST_KEYS 7 /* of a node; Metis has a tree of order 3 too */

/* A B+ tree by word. */
struct node {
    uint32_t count;    /* entries, or of an inner node children */
    struct node *next; /* of a leaf: the one with the words that follow */
    union {
        struct entry entries[MOST_KEYS + 1];
        struct child {
            const char *first; /* no word of it is before that, but of the first child */
            struct node *node;
        } children[MOST_KEYS + 1];
    };
};

/* The words of one hash. */
struct bucket {
    struct node *root, *first_leaf; /* NULL: no words */
    uint32_t levels;
};

struct table {
    struct bucket *buckets; /* bucket_count of them */
    struct arena *arena;
};

void table_make(struct table *, struct arena *);
void table_emit(struct table *, const char *word, size_t length, const char *place);
/* The entry of a word in a bucket, a new one without places if need be. */
struct entry *bucket_entry(struct bucket *, const char *word, size_t length, struct arena *);

/* ---- reduce: the index, in as many parts as there are buckets ---- */

/* All places of one word: those that one worker has found after those of another. */
struct posting_list {
    struct posting_list *next;
    const char *word;
    uint32_t count;
    const char *places[];
};

struct part {
    struct posting_list *lists; /* each word once, in order */
};

/* Bring together what all workers have found for one bucket, with memory from `arena`. */
void reduce_bucket(const struct table *tables, unsigned workers, unsigned bucket, struct arena *arena, struct part *part);

/* ---- check ---- */

struct index_sums {
    uint64_t different; /* words */
    struct word_sums all;
    bool ordered; /* each word once */
};

/* Of the parts of a whole index, of bucket_count. */
struct index_sums index_sums(const struct part *parts, const char *text);

#endif
